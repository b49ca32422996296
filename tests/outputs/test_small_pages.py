"""Pages of plans and of mirrors: the record in tables, nothing from elsewhere, and no word of a document that acts."""

import json
import re

import pytest

import nearsame as ns
from nearsame.errors import OutputError
from nearsame.outputs.small_pages import of_mirrors, small_page

COUNTS = {"pages": 2, "groups": 1, "mapped": {"mirror": 1}}
EVIL = "</table><script>alert(1)</script>"
PAIR = {"keep": EVIL, "a": EVIL, "b": "b", "kind": "mirror", "common": 1200, "agreement": 1, "a_in_b": 0.5, "b_in_a": 1}


@pytest.mark.parametrize("plan", [ns.plan(also=[(15, 5)]), ns.plan_simhash(also=[6])], ids=["bands", "codes"])
def test_a_plan_has_its_curves_and_what_they_were_drawn_by(plan, tmp_path):
    """Every point that is shown is one of the record; the picture is in the page, and forbidden to ask for anything."""
    ns.write_report(plan, tmp_path / "plan.html")
    ns.write_report(plan, tmp_path / "plan.json")
    assert json.dumps(plan.record()) == json.dumps(json.loads((tmp_path / "plan.json").read_text()))
    page = (tmp_path / "plan.html").read_text()
    for curve in (plan.curve, plan.also[0].points):
        assert f">{curve[80].found:.4f}</td>" in page
    assert "default-src 'none'" in page
    assert "<svg" in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    with pytest.raises(OutputError):
        ns.write_report(plan, tmp_path / "plan.txt")


def test_mirrors_are_listed_and_escaped():
    """As far as there is room; the rest is counted."""
    page = small_page(of_mirrors({"stats": COUNTS, "settings": {}, "mirrors": [PAIR] * 501}))
    assert "<script>" not in page
    assert (500, True) == (page.count(">1,200</td>"), "1 more: the folder" in page)
