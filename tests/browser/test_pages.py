"""The review pages in a real browser: what people see and do, by mouse and keyboard; what no document can do."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

import nearsame as ns
from tests.patience import PATIENCE
from tests.service.fakes import Shelf
from tests.service.running import running

READ = "r" * 32
FERRY = (
    "The ferry leaves the old harbour every morning at seven and returns in the evening, when the lamps along the quay"
    " are lit. Tickets are sold on board; children under six travel free of charge."
)
NOTICE = f"Timetable notice. {FERRY} Dogs must be kept on a lead, bicycles are carried."
LONG = "x" * 300
ATTACKS = [
    "<script>document.title='broken'; alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</textarea></title></style><svg onload=alert(1)>",
    "{{ 7919 * 104729 }}{% raw %}${7919*104729}<%= 7919*104729 %>#{7919*104729}",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><base href=http://evil.example/>",
    "<a href='javascript:alert(1)'>click</a><meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "&lt;b&gt;&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;",
    "<style>@import 'http://evil.example/x.css';</style><link rel=stylesheet href=http://evil.example/y.css>",
    "\u202e<mark>\u2028alert(1)//",
]


def filled():
    """Two that resemble each other, and many pairs."""
    shelf = Shelf()
    shelf.documents["harbour/ferry"] = {"id": "harbour/ferry", "text": FERRY, "url": "https://harbour.example/ferry"}
    shelf.documents["notice 17?"] = {"id": "notice 17?", "text": NOTICE}
    shelf.documents[LONG] = {"id": LONG, "text": "A document whose id is one long word."}
    for number in range(60):
        for side in ("one", "two"):
            id = f"pair-{number}-{side}"
            shelf.documents[id] = {"id": id, "text": f"{number}a {number}b {number}c {side}"}
    return shelf


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service around them."""
    path = str(tmp_path_factory.mktemp("decided") / "d.tsv")
    with running(filled().open, decisions=path, timeout=PATIENCE) as found:
        found.client.post("/side-by-side", data={"a": "harbour/ferry", "b": "notice 17?", "choice": "unsure"})
        yield found


def follow(page, locator):
    """Click on what leads to another page, and wait for it."""
    with page.expect_navigation(timeout=1000 * PATIENCE):
        locator.click()


def find(page, text):
    """Paste a text and look for it."""
    page.get_by_label("Paste a text").fill(text)
    follow(page, page.get_by_role("button", name="Find matches"))


def visible(page):
    """The text that is seen."""
    return page.inner_text("body")


def test_a_pasted_text_is_compared_with_its_match(served, page):
    """Matches with their similarity, and the shared passage marked on both sides."""
    page.goto(served.url)
    find(page, FERRY)
    assert page.get_by_role("heading", name="2 matches for your text").is_visible()
    rows = page.get_by_role("row")
    assert "harbour/ferry" in rows.nth(1).inner_text()
    assert "1.0000" in rows.nth(1).inner_text()
    marks = page.locator("details[open] mark")
    assert 2 == marks.count()
    for side in range(2):
        shown = marks.nth(side).inner_text()
        assert FERRY.rstrip(".") in shown
    assert FERRY == page.get_by_label("Paste a text").input_value()
    page.get_by_text("Side by side with notice 17?").click()
    assert page.get_by_role("heading", name="b notice 17?").is_visible()
    assert [] == page.happened


def test_an_uploaded_file_is_compared(served, page):
    """Its name stands in the place of the text."""
    page.goto(served.url)
    page.get_by_label("or choose a file").set_input_files(
        {"name": "<b>ferry</b>.txt", "mimeType": "text/plain", "buffer": NOTICE.encode()}
    )
    follow(page, page.get_by_role("button", name="Find matches"))
    assert page.get_by_role("heading", name="2 matches for <b>ferry</b>.txt").is_visible()
    page.get_by_label("or choose a file").set_input_files(
        {"name": "x.bin", "mimeType": "application/octet-stream", "buffer": b"\xff\x00\xfe"}
    )
    follow(page, page.get_by_role("button", name="Find matches"))
    assert "not a text in UTF-8" in visible(page)


def test_nothing_to_look_for_is_said(served, page):
    """An empty form is not an error."""
    page.goto(served.url)
    follow(page, page.get_by_role("button", name="Find matches"))
    assert "Paste a text" in visible(page)
    find(page, "entirely unseen words here")
    assert page.get_by_role("heading", name="No match for your text").is_visible()


def test_clusters_are_browsed_the_largest_first(served, page):
    """Page by page, and from a cluster to its document and on to the pair."""
    page.goto(served.url)
    follow(page, page.get_by_role("link", name="Clusters", exact=True))
    sizes = [int(cell) for cell in page.locator("tbody td:first-child").all_inner_texts()]
    assert 25 == len(sizes)
    assert sorted(sizes, reverse=True) == sizes
    first = page.locator("tbody th a").first.inner_text()
    follow(page, page.get_by_role("link", name="Smaller ones"))
    assert first not in page.locator("tbody th a").all_inner_texts()
    follow(page, page.get_by_role("link", name="Larger ones"))
    follow(page, page.locator("tbody th a").first)
    assert page.get_by_role("heading", level=1).inner_text() == first
    follow(page, page.get_by_role("link", name=re.compile("^Side by side with")).first)
    assert page.get_by_role("heading", name="Shared passages").is_visible()


def test_a_document_is_shown_with_what_it_resembles(served, page):
    """Its text, its URL as a text, its near-duplicates; its id may be anything."""
    page.goto(f"{served.url}/document?id={quote('notice 17?')}")
    assert NOTICE in visible(page)
    follow(page, page.get_by_role("link", name="harbour/ferry", exact=True))
    assert "https://harbour.example/ferry" in visible(page)
    assert 0 == page.locator("a[href*='harbour.example']").count()
    page.get_by_label("Side by side with the document of this id").fill("notice 17?")
    follow(page, page.get_by_role("button", name="Compare"))
    assert page.get_by_role("heading", name=re.compile("ear-duplicates")).is_visible()
    assert 2 == page.locator("mark").count()


def test_a_passage_leads_to_its_other_side(served, page):
    """By its number; what the eyes see as a colour is also said."""
    page.goto(f"{served.url}/side-by-side?a={quote('harbour/ferry', safe='')}&b={quote('notice 17?')}")
    page.get_by_role("link", name="Shared passage 1, go to it on the other side").first.click()
    page.wait_for_url("**#pb-1")
    assert "(end of shared passage 1)" in page.locator("mark").first.text_content()


def test_texts_that_are_not_stored_are_not_shown(page):
    """The pages say why, and what to do."""
    shelf = filled()
    shelf.store = "shingles"
    with running(shelf.open, timeout=PATIENCE) as served:
        page.goto(f"{served.url}/document?id=harbour/ferry")
        assert "--store text" in visible(page)
        assert FERRY not in visible(page)
        page.goto(f"{served.url}/side-by-side?a=harbour/ferry&b={quote('notice 17?')}")
        assert "--store text" in visible(page)
        assert "0.5000" in visible(page)
        page.goto(served.url)
        find(page, FERRY)
        assert "--store text" in visible(page)
        assert 0 == page.locator("mark").count()


@pytest.mark.parametrize("attacks", [ATTACKS[:3], pytest.param(ATTACKS, marks=pytest.mark.slow)], ids=["three", "all"])
def test_no_document_can_do_anything(page, attacks):
    """Whatever stands in text, id or URL is shown as it is: no script, no element, no request, no template."""
    shelf = Shelf()
    for number, attack in enumerate(attacks):
        for id in (attack, f"{attack} again"):
            text = f"{attack} and so on with {number} words that stand in both of these {number}a {number}b {number}c"
            shelf.documents[id] = {"id": id, "text": text, "url": f"javascript:alert(1)//{attack}"}
    with running(shelf.open, timeout=PATIENCE) as served:
        for attack in attacks:
            a, b = quote(attack, safe=""), quote(f"{attack} again", safe="")
            page.goto(f"{served.url}/document?id={a}")
            check_harmless(page)
            for place in (page.locator("h1"), page.locator(".text"), page.locator("tbody th"), page.locator("dl")):
                assert squeezed(attack) in squeezed(place.first.text_content())
            for address in (f"/side-by-side?a={a}&b={b}", f"/document?id={a}unknown", f"/clusters?start={a}"):
                page.goto(served.url + address)
                check_harmless(page)
            page.goto(served.url)
            find(page, shelf.documents[attack]["text"])
            check_harmless(page)
            assert squeezed(attack) in squeezed(page.get_by_label("Paste a text").input_value())
        page.goto(f"{served.url}/clusters")
        check_harmless(page)
        assert 2 * len(attacks) == page.locator("tbody tr").count()
    assert [] == [each for each in page.happened if "404" not in each and "422" not in each]


def squeezed(text):
    """Without white space, which a page may write otherwise."""
    return "".join(text.split())


def check_harmless(page):
    """The page has only elements of ours, and leads only to us."""
    assert page.title().endswith("nearsame")
    assert 0 == page.locator("script, iframe, svg, base, meta[http-equiv], style, object, embed, img").count()
    assert 0 == page.evaluate(
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => /^on|^autofocus|^srcdoc/.test(a.name)).length"
    )
    assert 1 == page.locator("link[rel=stylesheet]").count()
    addresses = page.evaluate(
        "[...document.querySelectorAll('[href],[action],[src]')].map(e => e.href || e.action || e.src)"
    )
    assert [] == [each for each in addresses if not each.startswith("http://127.0.0.1")]
    assert str(7919 * 104729) not in page.content()  # a number that no request id has by chance


def test_the_policy_stops_what_would_be_injected(served, page):
    """The second wall: even markup that got in would run and load nothing."""
    page.goto(served.url)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hit=1\">"
        '<img src="http://evil.example/a.png"><iframe src="http://evil.example/"></iframe>\')'
    )
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hit=2'; document.body.append(s) }"
    )
    while not any("Content Security Policy" in each for each in page.happened):
        page.wait_for_timeout(50)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hit === undefined")


def test_everything_can_be_done_by_keyboard(served, page):
    """Skip link, form, results, side by side: Tab, Enter and typing; the focus is always seen."""
    page.goto(served.url)
    page.keyboard.press("Tab")
    assert "Skip to the content" == focused(page)
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    tab_to(page, "Paste a text")
    page.keyboard.type(FERRY)
    tab_to(page, "Find matches")
    page.keyboard.press("Enter")
    page.wait_for_selector("#matches")
    tab_to(page, "harbour/ferry")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('harbour/ferry')")
    tab_to(page, "Side by side with notice 17?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#passages")
    tab_to(page, "Shared passage 1, go to it on the other side")
    page.keyboard.press("Enter")
    page.wait_for_url("**#pb-1")


def test_what_is_decided_by_keyboard_is_a_file_that_dedup_obeys(page, tmp_path):
    """From the clusters of a real index to both sides, a name, a note and a button; then the file, and a run by it."""
    rows = [{"id": f"d{at}", "text": f"{FERRY} {at % 2}", "url": None} for at in range(3)]
    ns.Index.create(tmp_path / "i.ns", store="text", source=rows).close()
    decided = str(tmp_path / "d.tsv")
    with running(
        lambda *, read_only: ns.Index.open(tmp_path / "i.ns", read_only=read_only), decisions=decided, timeout=PATIENCE
    ) as served:
        page.goto(f"{served.url}/clusters")
        follow(page, page.get_by_role("link", name="d1 side by side with d0"))
        tab_to(page, "Note")
        page.keyboard.type("another ferry")
        tab_to(page, "Your name")
        page.keyboard.type("Anna")
        tab_to(page, "Not duplicates: keep both")
        with page.expect_navigation(timeout=1000 * PATIENCE):
            page.keyboard.press("Enter")
        assert re.search("Decided: not duplicates by Anna, 20.*another ferry", visible(page))
        page.goto(f"{served.url}/decisions")
        with page.expect_download(timeout=1000 * PATIENCE) as download:
            page.get_by_role("link", name="The file").click()
        download.value.save_as(tmp_path / "exported.tsv")
    assert ["d0"] == ns.dedup(rows).kept().column("id").to_pylist()
    obeyed = ns.dedup(rows, decisions=tmp_path / "exported.tsv")
    assert (["d0", "d1"], 1) == (obeyed.kept().column("id").to_pylist(), obeyed.stats.decisions["apart"])


def focused(page):
    """The name of what has the focus."""
    return page.evaluate(
        """() => { const e = document.activeElement, label = e.labels && e.labels[0];
        return ((label && label.textContent) || e.getAttribute('aria-label') || e.textContent).trim() }"""
    )


def tab_to(page, name):
    """Press Tab until it has the focus, which is seen on the way."""
    for _ in range(60):
        page.keyboard.press("Tab")
        style = page.evaluate(
            "(() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth] })()"
        )
        assert style[0] != "none"
        assert style[1] != "0px"
        if focused(page) == name:
            return
    raise AssertionError(f"{name}: not reached")


AUDIT = Path(__file__).with_name("audit.js").read_text("utf-8").partition("\n")[2]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_can_be_used_by_everybody(served, chromium, scheme, width):
    """Names, headings, landmarks, table headers and contrast (4.5 : 1), light and dark, wide and narrow."""
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    both = f"a={quote('harbour/ferry', safe='')}&b={quote('notice 17?')}"
    for address in (
        "/",
        "/clusters",
        "/document?id=harbour/ferry",
        f"/side-by-side?{both}",
        f"/side-by-side?a={LONG}&b=harbour%2Fferry",
        f"/document?id={LONG}",
        "/about",
        "/search?q=harbour",
        "/decisions",
        "/document?id=no",
    ):
        page.goto(served.url + address)
        assert [] == page.evaluate(AUDIT), address
    page.goto(served.url)
    find(page, FERRY)
    assert [] == page.evaluate(AUDIT)
    context.close()


def test_the_audit_finds_what_is_wrong(served, page):
    """The check itself can fail."""
    page.goto(served.url)
    page.evaluate(
        """document.querySelector('main').innerHTML = '<h1 id=a>x</h1><h3 id=a>y</h3><input>'
        + '<table><tr><th>z</th></tr></table>' + '<nav></nav><a href="#none">w</a>';
        document.querySelector('h1').className = 'pale';
        document.styleSheets[0].insertRule('.pale { color: #bbb }')"""
    )
    found = " ".join(page.evaluate(AUDIT))
    for words in (
        "no name",
        "heading skipped",
        "id twice",
        "caption",
        "scope",
        "contrast",
        "unnamed NAV",
        "leads nowhere",
    ):
        assert words in found


def test_the_pages_need_no_script(served, chromium):
    """They are the same where scripts are switched off, and ours have none."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(served.url)
    find(page, FERRY)
    assert page.get_by_role("heading", name="2 matches for your text").is_visible()
    context.close()


def test_with_tokens_a_browser_signs_in(page, tmp_path):
    """Led to the form, on to the page that was wanted, and out again; a form of before brings nothing."""
    path = tmp_path / "tokens"
    path.write_text(f"read {READ}\n", "utf-8")
    with running(filled().open, token_file=path, timeout=PATIENCE) as served:
        page.goto(f"{served.url}/document?id=harbour%2Fferry")
        assert page.url.endswith("/sign-in?next=%2Fdocument%3Fid%3Dharbour%252Fferry")
        assert 0 == page.get_by_role("link", name="Clusters").count()
        page.get_by_label("Token").fill("w" * 32)
        follow(page, page.get_by_role("button", name="Sign in"))
        assert "not valid" in page.get_by_role("alert").inner_text()
        page.get_by_label("Token").fill(READ)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert "harbour/ferry" in visible(page)
        assert "" == page.evaluate("document.cookie")
        (cookie,) = page.context.cookies()
        assert (True, "Strict") == (cookie["httpOnly"], cookie["sameSite"])
        page.goto(served.url)
        page.evaluate("document.querySelector('form[enctype] [name=form_key]').value = 'x'")
        find(page, FERRY)
        assert "another site" in visible(page)
        page.goto(served.url)
        find(page, FERRY)
        assert page.get_by_role("heading", name="2 matches for your text").is_visible()
        follow(page, page.get_by_role("button", name="Sign out"))
        page.goto(f"{served.url}/clusters")
        assert "/sign-in" in page.url


def test_after_signing_in_nobody_is_led_elsewhere(served, tmp_path):
    """`next` is a path of ours or nothing."""
    path = tmp_path / "tokens"
    path.write_text(f"read {READ}\n", "utf-8")
    with running(filled().open, token_file=path) as found:
        for given in (
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "",
        ):
            answer = found.client.post("/sign-in", data={"token": READ, "next": given})
            assert (303, "/") == (answer.status_code, answer.headers["location"]), json.dumps(given)
