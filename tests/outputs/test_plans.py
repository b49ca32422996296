"""Plans on a terminal: 80 columns, ASCII where asked, and the numbers that matter; pictures without a network."""

import builtins
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.installation import install_command
from nearsame.outputs import plots
from nearsame.outputs.plans import plan_text, simhash_text, sparkline

PLANS = [
    (plan_text, ns.plan),
    (plan_text, lambda: ns.plan(threshold=1, recall=0.9999)),
    (plan_text, lambda: ns.plan(threshold="0.05", num_perm=512)),
    (plan_text, lambda: ns.plan(corpus=str(corpus_path()), threshold=0.7, sample_size=300)),
    (simhash_text, ns.plan_simhash),
    (simhash_text, lambda: ns.plan_simhash(bits=128, k=40, threshold=0.5, also=[1, 2, 3, 6, 10], measure="cosine")),
    (plan_text, lambda: ns.plan(bands=20, rows=5, also=[(15, 5), (128, 1)])),
]


@pytest.mark.parametrize(("text", "made"), PLANS)
def test_a_plan_fits_80_columns(text, made):
    """Every line, with and without bars that a plain terminal lacks."""
    plan = made()
    assert all(len(line) <= 80 for line in text(plan).splitlines())
    assert text(plan, ascii_only=True).isascii()
    assert all(len(line) <= 40 for line in text(plan, width=40).splitlines())


def test_a_plan_says_what_is_used_and_what_it_misses():
    """The choice is marked; a loss is said as one in so many."""
    text = plan_text(ns.plan(bands=20, rows=5))
    assert re.search(r"^\* +20 x 5 +0\.9996", text, re.MULTILINE)
    assert re.search(r"^  at 0\.8 +0\.036 % +one in 2,8\d\d$", text, re.MULTILINE)


def test_a_simhash_plan_gives_k_3_its_figures():
    """.9 % at .8, and the k that would be needed."""
    text = simhash_text(ns.plan_simhash())
    assert text.splitlines()[1].startswith("k=3 finds 0.9 % of the pairs at Jaccard 0.8")
    assert re.search(r"^\* +3 .* 0\.9 % .* 9\.0 % ", text, re.MULTILINE)


def test_several_settings_are_drawn_with_their_names():
    """A line of bars for each, above one threshold; what is nearly all is not written as all."""
    text = plan_text(ns.plan(bands=20, rows=5, also=[(15, 5), (128, 1)]))
    assert ["20 x 5", "15 x 5", "128 x 1"] == re.findall(r"^  0 \|.{61}\| 1  (.*)$", text, re.MULTILINE)
    assert 1 == text.count("^ 0.8")
    nearly = replace(ns.plan_simhash(), by_k=((3, (0.99997, 1.0)),))
    assert re.search(r"^\* +3 +99\.9 % +100 %$", simhash_text(nearly), re.MULTILINE)


def test_a_sparkline_has_a_bar_for_each_value():
    """From empty to full, what is out of range cut off."""
    assert " ▄█ █" == sparkline([0, 0.5, 1, -1, 2])
    assert " =@" == sparkline([0, 0.5, 1], ascii_only=True)


@pytest.mark.parametrize("chart", [plots.plan_chart(ns.plan(also=[(15, 5)])), plots.simhash_chart(ns.plan_simhash())])
def test_a_picture_needs_nothing_from_elsewhere(chart):
    """SVG that parses, the same each time, without scripts or addresses but the names of its own format."""
    drawn = plots.svg(chart)
    assert "svg" in ET.fromstring(drawn).tag  # noqa: S314  (our own)
    assert "<script" not in drawn
    assert set() == set(re.findall(r"https?://[\w./]+", drawn)) - {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert plots.svg(chart) == drawn


def test_a_picture_is_written_as_its_name_says(tmp_path):
    """SVG and PNG."""
    for name, start in (("a.svg", b"<svg"), ("a.PNG", b"\x89PNG")):
        plots.write_chart(plots.plan_chart(ns.plan()), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_a_picture_of_another_kind_is_refused(tmp_path):
    """The name is in the message."""
    with pytest.raises(ns.ConfigError, match=r"plot='x.jpg' ends neither in .svg nor in .png"):
        plots.write_chart(None, "x.jpg")
    with pytest.raises(ns.OutputError, match="no-such-folder"):
        plots.write_chart(plots.plan_chart(ns.plan()), tmp_path / "no-such-folder" / "a.svg")


@pytest.mark.parametrize("absent", ["altair", "vl_convert"])
def test_without_the_extra_there_is_an_install_line(absent, monkeypatch):
    """What draws is optional."""
    load = builtins.__import__

    def without(name, *rest, **named):
        if name == absent:
            raise ImportError(name, name=name)
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ns.MissingExtraError, match=f"plots need a package that is not installed: {absent}") as caught:
        plots.altair()
    assert f"Run: {install_command('report')}" == caught.value.hint
