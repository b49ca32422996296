"""What a notebook shows, below the style sheet that JupyterLab has for it, which floats and fixes much."""

import pytest

import nearsame as ns

# Of JupyterLab 4.6, packages/rendermime/style/base.css: what reaches elements that cells have.
JUPYTER = """
.jp-RenderedHTMLCommon dl dt{float:left;width:20%}
.jp-RenderedHTMLCommon dl dd{float:left;width:80%;padding:0;padding-left:4px}
.jp-RenderedHTMLCommon table{table-layout:fixed;border-collapse:collapse;border:none;margin:0 auto 1em}
.jp-RenderedHTMLCommon td,.jp-RenderedHTMLCommon th{text-align:right;max-width:none;padding:.5em;white-space:normal}
.jp-RenderedHTMLCommon h4{font-weight:500;margin:var(--jp-content-heading-margin-top) 0}
.jp-RenderedHTMLCommon pre{border:0;padding:0;font-size:13px}
"""
EVIL = "</style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \x1b \u202e שלום "
TEXTS = [f"{EVIL * 3} {'x' * 5000} {' '.join(f'word{n}' for n in range(60))} {end}" for end in ("one", "two")]

LINES = """all => all.map(one => {
  const text = document.createRange();
  text.selectNodeContents(one);
  return new Set([...text.getClientRects()].map(line => line.top)).size;
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768])
def test_cells_look_the_same_in_jupyter(page, width, scheme):
    """Figures stand below their names in one line, nothing is wider than the page, and no text can do anything."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    found = ns.dedup({"id": ["i" * 300, EVIL], "text": TEXTS})
    answers = [
        found, found.show(), found.plot.similarity(), found.plot.clusters(), ns.pairs(TEXTS), ns.compare(*TEXTS),
        ns.explain(TEXTS[0]), ns.explain(*TEXTS), ns.explain("a b c", method="minhash"), ns.plan(corpus=TEXTS),
        ns.leaks(TEXTS, {EVIL: TEXTS}), ns.evaluate(TEXTS, methods=["jaccard"], apart=False),
    ]  # fmt: skip
    for answer in answers:
        cell = f'<div class="jp-RenderedHTMLCommon">{answer._repr_html_()}</div>'
        page.set_content(f"<!DOCTYPE html><title>cells</title><style>{JUPYTER}</style>{cell}")
        assert "cells" == page.title()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        names = page.locator(".nearsame dt").evaluate_all("all => all.map(one => [one.offsetHeight, one.offsetTop])")
        values = page.locator(".nearsame dt + dd").evaluate_all("all => all.map(one => one.offsetTop)")
        assert all(height < 30 for height, _ in names)
        assert all(value >= top + height for (height, top), value in zip(names, values, strict=True))
        assert {1} >= set(page.locator(".nearsame .code").evaluate_all(LINES))
    assert [] == page.happened
