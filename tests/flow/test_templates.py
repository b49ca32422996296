"""Documents that differ and go by a template are told, with what keeps them; honest copies are not."""

import pytest

import nearsame as ns
from nearsame.outputs.plans import plan_text
from tests.cli.commands import run, words, write_jsonl

THRESHOLD = ns.Jaccard(threshold=0.4)


def stubs(number: int) -> list[str]:
    """Texts of one line, of which two words differ."""
    line = "This file was moved to the new repository of all standards at {} where others may read it"
    return [line.format(f"number{at} page{at}") for at in range(number)]


def edited(number: int, times: int = 1, every: int = 60) -> list[str]:
    """Texts that have nothing in common, each with versions in which some words are others."""
    texts = []
    for at in range(number):
        text = words(60, at)
        versions = [[*text] for _ in range(times)]
        for n, version in enumerate(versions):
            version[(20 + 2 * n) % every :: every] = [f"another{n}"] * (60 // every)
        texts += [text, *versions]
    return [" ".join(text) for text in texts]


def test_a_template_is_told_with_what_keeps_its_documents() -> None:
    """Which part they share, in how many documents, and the option with its number; following it does what is said."""
    texts = stubs(120) + edited(30)
    found = ns.dedup(texts, method=THRESHOLD)
    (note,) = found.stats.notes
    assert note.startswith("At 0.4, 119 of 149 near copies below 1 are not far above the threshold, and most hang on")
    assert '"This file was moved to the new repository of all standards a..." (in 120 documents)' in note
    assert "set drop_boilerplate=100 (--drop-boilerplate 100)" in note
    assert "119 of 119 are no longer similar to their witnesses then, and 0 of 30 further above it" in note
    assert 149 == found.stats.removed
    after = ns.dedup(texts, method=ns.Jaccard(threshold=0.4, drop_boilerplate=100))
    assert (30, ()) == (after.stats.removed, after.stats.notes)


def test_the_part_that_is_shown_is_the_one_that_was_counted() -> None:
    """Not a longer one, which fewer have."""
    short, long = "was moved to the new repository", "please tell all who have links to it that they are to change them"
    texts = [f"page{at} {short} number{at} at {f'{long} by {at}' if at < 60 else f'once{at}'}" for at in range(180)]
    (note,) = ns.dedup(texts, method=ns.Jaccard(threshold=0.2)).stats.notes
    assert '"was moved to the new repository" (in 180 documents)' in note


def test_what_stands_beside_the_part_is_shown_if_as_many_have_it() -> None:
    """Two templates side by side are not one."""
    rare, usual = (" ".join(f"{word}{at}" for at in range(34)) for word in ("left", "right"))
    ends = [" ".join(words(11, at)) for at in range(400)]
    texts = [f"{rare} {usual} {end}" if at < 80 else f"{end} {usual}" for at, end in enumerate(ends)]
    (note,) = ns.dedup(texts, method=ns.Jaccard(threshold=0.5)).stats.notes
    assert 'above all "right0 right1 ' in note
    assert "(in 400 documents)" in note


def test_of_copies_that_are_counted_some_part_is_shown() -> None:
    """The second copy of a shingle has a hash that no text has."""
    line = "see the next page for what is new here and see the next page for what is new here on {}"
    texts = [line.format(f"number{at} page{at}") for at in range(120)]
    (note,) = ns.dedup(texts, method=ns.Jaccard(threshold=0.4, repeats=True)).stats.notes
    assert '"see the next page for what is new here' in note


TEMPLATES = {
    "invoice": "Invoice {}. Dear {}, thank you for your order. Please pay the amount of {} crowns within thirty days to"
    " the account below and quote the number of this invoice. All goods stay ours until they are paid in full.",
    "licence": "Copyright by {} of {}. You may use this file if you keep to the licence, which is to be had from the"
    " office of its author. It comes without warranties or conditions of any kind, express or implied. package {}",
    "changes": "{} unstable; urgency=medium * No-change rebuild against the new release of the library with the right"
    " symbols and dependencies of {}. -- Automatic Builder builder at example dot org {}",
    "manual": "{} [OPTION]... [FILE]... does {}. The option help displays this help and ends, the option version says"
    " the version and ends. Report any bugs of the translation to the team at the address in the manual. See also {}",
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_template_is_told_among_more_honest_copies(kind: str) -> None:
    """Its large cluster is, though most near copies are honest; and at a threshold that is far below, too."""
    made = [TEMPLATES[kind].format(*(words(1, 1000 + 3 * at + n)[0] for n in range(3))) for at in range(120)]
    texts = made + edited(60, 4, every=20)
    for threshold in (0.2, 0.4):
        (note,) = ns.dedup(texts, method=ns.Jaccard(threshold=threshold)).stats.notes
        assert "119 of 359 near copies below 1 are in one large cluster" in note
        assert "119 of 119 are no longer similar to their witnesses then, and 0 of 240 others" in note
        assert "--drop-boilerplate 100" in note
    assert () == ns.dedup(texts, method=ns.Jaccard(threshold=0.4, drop_boilerplate=100)).stats.notes


def test_a_sample_of_small_clusters_is_not_taken_for_a_template() -> None:
    """What two documents of a sample have, many of the corpus may have, or those two alone."""
    texts = edited(300, 19)
    assert () == ns.plan(corpus=texts, threshold=0.75, sample_size=600).notes


def test_a_second_measure_does_not_hide_a_template() -> None:
    """Who is below the first threshold without it is no longer similar, whatever the second one says."""
    confirmed = ns.Jaccard(threshold=0.4, confirm="edit", confirm_threshold=0.5)
    (note,) = ns.dedup(stubs(120), method=confirmed).stats.notes
    assert "119 of 119 are no longer similar" in note


@pytest.mark.parametrize("settings", [dict(threads=1), dict(batch_rows=7), dict(ties="content")])
def test_the_note_depends_on_nothing_else(settings: dict) -> None:
    """Not on threads, batches, nor on how ties are decided where it makes no difference."""
    texts = stubs(120) + edited(30)
    assert ns.dedup(texts, method=THRESHOLD).stats.notes == ns.dedup(texts, method=THRESHOLD, **settings).stats.notes


@pytest.mark.parametrize(
    "texts",
    [edited(60, 3), edited(3, 40), ["a rose is a rose is a rose"] * 300, stubs(45), [], ["", "x"]],
    ids=["small clusters", "large clusters", "copies", "few", "nothing", "short"],
)
def test_honest_copies_are_not_told(texts: list[str]) -> None:
    """Nor what is too little to speak of."""
    assert () == ns.dedup(texts, method=ns.Jaccard(threshold=0.5)).stats.notes


@pytest.mark.parametrize("method", [ns.MinHash(threshold=0.4), ns.Cosine(threshold=0.6), ns.Containment(threshold=0.6)])
def test_other_measures_of_sets_tell_it_too(method: ns.Jaccard) -> None:
    """By their own measure."""
    assert any("--drop-boilerplate 100" in note for note in ns.dedup(stubs(120), method=method).stats.notes)


def test_summary_plan_and_report_tell_it(tmp_path) -> None:
    """In 80 columns, from a sample scaled to the corpus, and as a remark of the page."""
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in stubs(120)])
    done = run("dedup", path, "--threshold", "0.4", "--dry-run")
    assert "--drop-boilerplate 100" in " ".join(done.stdout.split())
    assert [] == [line for line in done.stdout.splitlines() if len(line) > 80]
    planned = ns.plan(corpus=str(path), threshold=0.4)
    assert "--drop-boilerplate 100" in " ".join(plan_text(planned).split())
    assert "about" not in planned.notes[0]
    assert "--drop-boilerplate 200" in ns.plan(corpus=stubs(400), threshold=0.4, sample_size=100).notes[0]
    assert any("--drop-boilerplate 100" in one for one in ns.report(ns.dedup(path, method=THRESHOLD)).remarks)


@pytest.mark.slow
def test_templates_of_real_collections_are_told(data_dir) -> None:
    """One-line stubs at any threshold below, pages of aliases as usual; so does a plan, of a quarter of the pages."""
    stubs, pages = (str(next((data_dir / "docs").glob(f"{name}.docs.*"))) for name in ("eips-ercs", "tldr-pages"))
    for method in (ns.Jaccard(threshold=0.3), ns.Jaccard(threshold=0.55), ns.Containment(threshold=0.55)):
        (note,) = ns.dedup(stubs, method=method).stats.notes
        assert all(part in note for part in ('"This file was moved to', "(in 365 documents)", "--drop-boilerplate 200"))
    assert 11 == ns.dedup(stubs, method=ns.Jaccard(threshold=0.55, drop_boilerplate=200)).stats.removed
    for notes in (ns.dedup(pages).stats.notes, ns.plan(corpus=pages).notes):
        (note,) = notes
        assert "--drop-boilerplate 200" in note
        assert any(part in note for part in ("`tldr", " alias "))  # of several languages


@pytest.mark.slow
def test_real_collections_without_templates_are_not_told(data_dir) -> None:
    """Versions, a fork, pages that look alike to people."""
    for name in ("react-native-docs", "redis-valkey-docs", "webis-copycat", "thaigov-th-sample"):
        path = str(next((data_dir / "docs").glob(f"{name}.docs.*")))
        assert () == ns.dedup(path, method=ns.Jaccard(threshold=0.55)).stats.notes
