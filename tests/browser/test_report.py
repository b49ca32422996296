"""The page of a run in a real browser: it opens from disk, asks for nothing, and can be used by everybody."""

import json
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.files.inputs import Inputs
from nearsame.sources.judged import read_judgements
from nearsame.studies.decision_log import DecisionLog
from tests.cli.commands import run, words
from tests.patience import PATIENCE, eventually

AUDIT = Path(__file__).with_name("audit.js").read_text("utf-8").partition("\n")[2]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the bundled corpus has, as data and as a page."""
    found = ns.report(ns.dedup(str(corpus_path())))
    path = tmp_path_factory.mktemp("report") / "r.html"
    ns.write_report(found, path)
    return found, path


@pytest.fixture
def opened(report, page):
    """The page, from disk; whatever else it asks for is told."""
    page.goto(report[1].as_uri())
    assert [report[1].as_uri()] == page.happened
    page.happened.clear()
    yield page
    assert [] == page.happened


def shown(page):
    """How many pairs are listed."""
    return int(page.inner_text("#found").split()[0])


def test_the_threshold_moves_what_is_shown(report, opened):
    """Counts are those that were decided beforehand; the list follows."""
    found, _ = report
    opened.focus("#threshold")
    for _ in range(6):
        opened.keyboard.press("ArrowRight")
    at = found.thresholds[6]
    assert f"At {at.threshold}: {at.count} go, {at.kept} stay, {at.clusters} clusters" in opened.inner_text("#decided")
    assert sum(bool(pair.at >> 6 & 1) for pair in found.pairs) == shown(opened)
    sizes = [count for _, count in at.sizes]
    number = "td.number:nth-child({}):not(.less)".format
    here = [int(one) for one in opened.get_by_label("Sizes of clusters").locator(number(2)).all_inner_texts()]
    assert sizes == here[: len(sizes)]
    assert not any(here[len(sizes) :])
    clusters = opened.get_by_label("The largest clusters").locator(number(4)).all_inner_texts()
    assert [str(one.at[6]) for one in found.clusters[:30]] == clusters
    told = opened.get_by_label("By lang", exact=True).first.locator(number(3)).all_inner_texts()
    splits = next(one for one in found.breakdowns if one.column == "lang").splits
    assert [one.at[6] for one in splits] == [int(one.split()[0]) for one in told]
    cells = opened.locator("table.map").first.locator("td").all_inner_texts()
    joined = [cell[6] if any(cell) else 0 for row in found.maps[0].at for cell in row]
    assert joined == [int(cell or 0) for cell in cells]
    assert joined != [cell[0] for row in found.maps[0].at for cell in row]
    gone = [one for one in found.pairs if one.at >> 6 & 1]
    shown_rows = sum(one.similarity < at.threshold for one in gone[:25])
    assert 0 < shown_rows == opened.get_by_text("At this threshold for another one.").count()
    before = opened.locator("main").inner_text()
    for key in ("ArrowRight", "ArrowLeft"):
        opened.keyboard.press(key)
    assert before == opened.locator("main").inner_text()


def test_tables_sort(report, opened):
    """By any column with a name, numbers as numbers, up and then down."""
    table = opened.get_by_label("By host", exact=True).first
    counts = [one.documents for one in next(one for one in report[0].breakdowns if one.column == "host").splits]
    table.get_by_role("button", name="documents").click()
    assert sorted(counts) == [int(one) for one in table.locator("td:nth-child(2)").all_inner_texts()]
    table.get_by_role("button", name="documents").click()
    assert sorted(counts)[::-1] == [int(one) for one in table.locator("td:nth-child(2)").all_inner_texts()]
    assert "descending" == table.locator("thead th").nth(1).get_attribute("aria-sort")
    table.get_by_role("button", name="host").click()
    names = table.locator("tbody th").all_inner_texts()
    assert sorted(names) == names


def test_the_name_of_the_slider_stands_above_it(opened):
    """Where its knob is at first, however far to the right the threshold lies in the chart."""
    name, slider = (opened.locator(one).bounding_box() for one in (".slide label", "#threshold"))
    assert abs(name["x"] - slider["x"]) < 12
    assert 0 <= slider["y"] - (name["y"] + name["height"]) < 6


def test_the_query_finds(report, opened):
    """By similarity, id, cluster and words; kinds are hidden; columns sort."""
    found, _ = report
    high = sum(pair.similarity > 0.9 for pair in found.pairs)
    for query, number in (
        (">.9", high),
        ("<=.9", found.num_pairs - high),
        (f"cluster:{found.clusters[0].cluster}", found.clusters[0].documents - 1),
        ('id:stone-inn -"copy-2"', 2),
        ("nobody-wrote-this", 0),
        ("landlady", sum("landlady" in "".join(piece[1] for piece in view.a) for view in found.beside)),
    ):
        opened.fill("#query", query)
        assert number == shown(opened), query
    opened.fill("#query", "")
    opened.get_by_label("few edits").uncheck()
    assert sum(pair.kind != "edits" for pair in found.pairs) == shown(opened)
    opened.locator("#pairs").get_by_role("button", name="Similarity").click()
    assert "1.0000" == opened.locator("#rows td").first.inner_text()
    opened.get_by_label("few edits").check()
    opened.get_by_label("Group by cluster").check()
    largest = found.clusters[0]
    named = f"Kept: {found.documents[largest.keeper].id}, {largest.documents - 1} listed"
    assert named == opened.locator(".group").first.inner_text()


def test_what_many_share_is_taken_out_of_sight(page, tmp_path):
    """Pairs that share little but a frequent part, and those of a document that many resemble."""
    texts = {f"stub {at}": f"{' '.join(words(9, at))} {' '.join(words(60, 99))}" for at in range(8)}
    texts |= {f"own {at}": f"{' '.join(words(70, 20 + at // 2))} {at}" for at in range(6)}
    texts |= {"base": " ".join(words(60, 77))} | {f"copy {at}": " ".join(words(60, 77)) + f" {at}" for at in range(7)}
    rows = [{"id": id, "text": text} for id, text in texts.items()]
    path = tmp_path / "r.html"
    ns.dedup(rows, method=ns.Jaccard(threshold="0.5")).report(path)
    page.goto(path.as_uri())
    assert 17 == shown(page)
    page.get_by_label("share little but").check()
    assert 10 == shown(page)
    page.get_by_label("have “base” (7 pairs)").check()
    assert 3 == shown(page)
    page.get_by_label("have “stub 0” (7 pairs)").check()
    page.get_by_label("share little but").uncheck()
    assert 3 == shown(page)
    assert [path.as_uri()] == page.happened


def test_keys_work_wherever_nothing_can_be_typed(opened):
    """After the slider or a box was moved, too, but not in the query, where they are letters."""
    opened.focus("#threshold")
    opened.keyboard.press("j")
    assert 1 == opened.locator(".detail").count()
    opened.get_by_label("few edits").focus()
    opened.keyboard.press("y")
    assert "1 of the 203 pairs" in opened.inner_text("#progress")
    opened.focus("#query")
    opened.keyboard.type("zyn")
    assert "1 of the 203 pairs" in opened.inner_text("#progress")


def test_a_pair_without_texts_says_why_it_is_one(page, tmp_path):
    """What its row says, step by step; there is no column, and no box, for texts that were not compared."""
    rows = [{"id": f"d{at}", "text": " ".join(words(30, 1)), "url": "https://a.example/x"} for at in range(2)]
    path = tmp_path / "r.html"
    ns.write_report(ns.report(ns.dedup(rows), texts=False), path)
    page.goto(path.as_uri())
    page.locator("#found").click()
    page.keyboard.press("j")
    steps = dict(line.split("\t") for line in page.inner_text(".reasons tbody").splitlines())
    assert {
        "What else speaks for it?": "url-standard.",
        "Over the line?": "jaccard 1 (verified); at least 0.8 counts.",
        "Which one stays?": "b, the witness, by keep=first: a went.",
    } == steps
    assert (0, 2) == (page.locator("#kinds").count(), page.locator(".pairs thead th").count())
    assert [] == page.evaluate(AUDIT)
    assert [path.as_uri()] == page.happened


def test_a_pair_opens_by_keyboard(opened):
    """J opens the next one; a passage is shown on both sides; what one side alone has is marked."""
    opened.fill("#query", "id:stone-inn-edited-1")
    opened.locator("#found").click()
    opened.keyboard.press("j")
    assert "true" == opened.locator("#rows button").first.get_attribute("aria-expanded")
    names = [one.partition(":")[0] for one in opened.locator(".side").all_inner_texts()]
    assert ["a, which goes", "b, which stays"] == names
    assert "puts an end to" in opened.locator("del").all_inner_texts()
    assert "silences" in opened.locator(".both ins").all_inner_texts()
    opened.get_by_role("button", name="Passage 2: see it on both sides").first.focus()
    opened.keyboard.press("Enter")
    assert 2 == opened.locator("mark.met").count()
    assert "What is shared?" in opened.inner_text(".reasons")
    opened.keyboard.press("k")
    assert 1 == opened.locator(".detail").count()


def test_texts_begin_where_their_script_does(page, tmp_path):
    """What is written from the right stands at the right of its box, other texts at the left."""
    letters = str.maketrans("abcdefghij", "\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\u05d7\u05d8\u05d9")
    hebrew, latin = " ".join(words(9)).translate(letters), " ".join(words(9))
    rows = [{"id": f"{side} {at}", "text": text} for side, text in (("he", hebrew), ("la", latin)) for at in range(2)]
    path = tmp_path / "r.html"
    ns.dedup(rows).report(path)
    page.goto(path.as_uri())
    margins = """box => { const range = document.createRange(), outer = box.getBoundingClientRect();
        range.selectNodeContents(box); const line = range.getBoundingClientRect();
        return [line.left - outer.left, outer.right - line.right]; }"""
    for name, side in (("he", 1), ("la", 0)):
        page.fill("#query", f"id:{name}")
        page.locator("#rows button").first.click()
        for box in page.locator(".text").all():
            near, far = box.evaluate(margins)[side], box.evaluate(margins)[1 - side]
            assert near < 20 < far, name


def test_marks_on_a_letter_stay_in_their_cell(page, tmp_path):
    """A hundred of them above a name of a table paint over no other row."""
    rows = [
        {"id": f"{at}", "text": " ".join(words(40)), "lang": ("l" + "\u0301" * 100)[: 1 + 100 * at]} for at in (0, 1)
    ]
    path = tmp_path / "r.html"
    ns.dedup(rows).report(path)
    page.goto(path.as_uri())
    clipped = "cells => cells.every(cell => getComputedStyle(cell).overflowY === 'clip')"
    assert page.get_by_label("By lang", exact=True).first.locator("th, td").evaluate_all(clipped)


@pytest.mark.slow
def test_what_is_judged_is_kept_and_read(report, opened, tmp_path):
    """By keys, with undo; the curve follows; the file is a truth to `evaluate`, and gives the marks back."""
    path = report[1]
    opened.locator("#found").click()
    opened.keyboard.press("j")
    for key in "yyynuyyyyyyyyyyyyyyyz":
        opened.keyboard.press(key)
    assert "19 of the 203 pairs with texts are judged: 17 right, 1 wrong, 1 unsure." == opened.inner_text("#progress")
    before = opened.inner_text("#quality")
    assert before.startswith("At 0.8: precision 0.")
    points = opened.get_attribute(".band.precision", "points")
    with opened.expect_download() as download:
        opened.get_by_role("button", name="Save as a file").click()
    judged = tmp_path / "judged.tsv"
    download.value.save_as(judged)
    result = run("evaluate", corpus_path(), "--truth", judged, "--methods", "jaccard", "--json", "-q")
    assert 0 == result.exit_code, result.stderr
    assert "17 true and 1 false pair" in json.loads(result.stdout)["truth"]
    # a busy browser may begin the page anew before it has taken over what the old one gave it to keep
    eventually(lambda: opened.reload() and before == opened.inner_text("#quality"))
    opened.evaluate("localStorage.clear()")
    opened.goto(path.as_uri())
    assert "Nothing is known" in opened.inner_text("#quality")
    opened.set_input_files("#load", judged)
    opened.get_by_text("19 marks read.", exact=True).wait_for()
    assert points == opened.get_attribute(".band.precision", "points")
    opened.happened[:] = [each for each in opened.happened if not each.startswith((path.as_uri(), "blob:"))]


@pytest.mark.slow
def test_what_is_not_known_of_a_threshold_is_said(page, tmp_path):
    """Above all that is judged nothing is, which is no number."""
    start = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    ns.dedup([f"{start} {end}" for end in ("a", "b", "c")], method=ns.Jaccard(threshold=0.8)).report(
        tmp_path / "r.html"
    )
    page.goto((tmp_path / "r.html").as_uri())
    page.happened.clear()
    page.locator("#found").click()
    for key in "jn":
        page.keyboard.press(key)
    page.focus("#threshold")
    for _ in range(21):
        page.keyboard.press("ArrowRight")
    assert "recall unknown" in page.inner_text("#quality")
    assert [] == page.happened


@pytest.mark.slow
def test_marks_are_saved_and_read_by_ids_that_name_one_pair(page, tmp_path):
    """A pair of one id, or one that another pair has, too, spoils the file; words of other tools are understood."""
    ids = ("a", "b", "same", "same", "c", "d", "c", "d", "long", "l" * 2000)
    rows = [{"id": name, "text": " ".join(words(30, at // 2)) + f" {at}"} for at, name in enumerate(ids)]
    path = tmp_path / "r.html"
    ns.dedup(rows, method=ns.Jaccard(threshold="0.5")).report(path)
    page.goto(path.as_uri())
    assert 5 == shown(page)
    page.locator("#found").click()
    page.keyboard.press("j")
    for key in "nnnnn":
        page.keyboard.press(key)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    download.value.save_as(tmp_path / "judged.tsv")
    assert [({"a", "b"}, "no")] == [
        ({one.a, one.b}, one.label) for one in read_judgements(str(tmp_path / "judged.tsv"))
    ]
    assert "Not in the file: 4 pairs" in page.inner_text("#kept")
    assert [("a", "b")] == list(DecisionLog.open(tmp_path / "judged.tsv", Inputs()).known), "review goes on with it"
    for lines, said in (
        ("a\tb\tRIGHT\n", "1 right, 0 wrong, 0 unsure"),
        ("id1\tid2\tweight\tlabel\r\nb\ta\t7\tfalse\r\n", "0 right, 1 wrong, 0 unsure"),
        ("a\tb\t?\n", "0 right, 0 wrong, 1 unsure"),
        ("id1\tid2\tlabel\tkeep\na\tb\t\tb\n", "1 right, 0 wrong, 0 unsure"),
        ("a\tb\t1\nc\td\t1\nsame\tsame\t1\n", "1 right, 0 wrong, 0 unsure"),
    ):
        page.evaluate("localStorage.clear()")
        page.goto(path.as_uri())
        (tmp_path / "read.tsv").write_bytes(lines.encode())
        page.set_input_files("#load", tmp_path / "read.tsv")
        page.get_by_text("1 mark read.", exact=True).wait_for()
        assert said in page.inner_text("#progress"), lines
    (tmp_path / "read.tsv").write_text("a\tb\tno\na\tb\tconstructor\n", "utf-8")
    page.set_input_files("#load", tmp_path / "read.tsv")
    page.get_by_text(
        "No marks read: the label “constructor” of a and b says neither yes nor no.", exact=True
    ).wait_for()
    assert "1 right, 0 wrong, 0 unsure" in page.inner_text("#progress")


@pytest.mark.slow
def test_what_is_all_judged_is_exactly_known(report, opened, tmp_path):
    """Precision and recall are then those of all pairs, without doubt."""
    found = report[0]
    good = sum(pair.similarity >= 0.88 for pair in found.pairs)
    judged = tmp_path / "judged.tsv"
    ids = [(found.documents[pair.b].id, found.documents[pair.a].id, pair.similarity >= 0.88) for pair in found.pairs]
    judged.write_text("".join(f"{b}\t{a}\t{'yes' if is_good else 'no'}\n" for b, a, is_good in ids), "utf-8")
    opened.set_input_files("#load", judged)
    share = f"{good / found.num_pairs:.2f}"
    opened.get_by_text("203 marks read.", exact=True).wait_for()
    assert f"At 0.8: precision {share} [{share}, {share}], recall 1.00 [1.00, 1.00]" in opened.inner_text("#quality")
    opened.focus("#threshold")
    for _ in range(8):
        opened.keyboard.press("ArrowRight")
    assert "At 0.88: precision 1.00 [1.00, 1.00], recall 1.00 [1.00, 1.00]" in opened.inner_text("#quality")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [pytest.param(*one, marks=pytest.mark.slow) for one in ((1440, "light"), (360, "dark"), (768, "light"))],
)
def test_everybody_can_use_it(report, chromium, tmp_path, width, scheme):
    """Names, headings, landmarks, table headers and contrast, with a pair open; and of walks, within the screen."""
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(report[1].as_uri())
    page.locator("#rows button").nth(5).click()
    assert [] == page.evaluate(AUDIT)
    for name in ("fox", "banana-orders", "bands-20x5", "eight-numbers"):
        ns.write_explanation(ns.explain_example(name), tmp_path / f"{name}.html")
        page.goto((tmp_path / f"{name}.html").as_uri())
        assert [] == page.evaluate(AUDIT)
        assert width == page.evaluate("document.documentElement.scrollWidth")
    context.close()


def test_no_column_looks_empty(opened):
    """Each has a name that is seen, and the longest bar reaches from one end of its column to the other."""
    unnamed = "heads => heads.filter(head => !head.innerText || head.querySelector('.unseen')).length"
    assert 0 == opened.locator("section:not(#pairs) table:not(.map) thead th").evaluate_all(unnamed)
    filled = """bars => Math.max(...bars.map(bar => bar.querySelector('rect').getBoundingClientRect().width))
        / bars[0].closest('td').getBoundingClientRect().width"""
    for table in ("By host", "By lang"):
        assert opened.get_by_label(table, exact=True).first.locator(".share").evaluate_all(filled) > 0.9


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_names_are_folded_between_words(report, opened, width):
    """Hosts of a map, after their dots: each piece is on one line, within its cell; so is what is said of the map."""
    opened.set_viewport_size({"width": width, "height": 800})
    outside = """cells => cells.flatMap(cell => [...cell.childNodes].map(node => {
        if (!node.textContent.trim()) return "";
        const range = document.createRange(), box = cell.getBoundingClientRect();
        range.selectNodeContents(node);
        const [line, ...more] = [...range.getClientRects()].filter(one => one.width);
        return more.length || line.left < box.left || line.right > box.right ? node.textContent : "";
    })).filter(Boolean)"""
    names = opened.locator(".map th")
    assert 2 * len(report[0].maps[0].names) + 1 == names.count()
    assert [] == names.evaluate_all(outside)
    assert opened.locator(".map caption").bounding_box()["width"] < width


def test_it_prints_dark_on_white_and_whole(opened):
    """Whatever the screen is like: on paper nothing can be scrolled, clicked or typed into."""
    opened.locator("#rows button").first.click()
    opened.emulate_media(media="print", color_scheme="dark")
    opened.set_viewport_size({"width": 718, "height": 1000})  # A4, in Chromium's margins
    assert "rgb(255, 255, 255)" == opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert [] == opened.evaluate(AUDIT)
    cut_off = "all => all.filter(one => one.scrollWidth > 718 || getComputedStyle(one).overflowX !== 'visible').length"
    assert 0 == opened.locator(".wide, .text").evaluate_all(cut_off)
    assert 0 == opened.locator("input:visible, .judge:visible, #query-help:visible").count()


@pytest.mark.slow
def test_no_name_makes_a_page_wider_than_the_screen(page, tmp_path):
    """Ids, benchmarks and sources of 200 letters, on every kind of page, with all that folds open."""
    name = "x" * 200
    texts = [{"id": f"{name}{number}", "text": f"{' '.join(words(60, 1))} {name}{number}"} for number in range(3)]
    texts.append(texts[0])
    source = tmp_path / f"{name}.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in texts), "utf-8")
    pages = [tmp_path / f"{each}.html" for each in ("dedup", "evaluate", "leaks")]
    ns.dedup(str(source)).report(pages[0])
    ns.write_evaluation(ns.evaluate(str(source)), pages[1])
    result = run("leaks", source, "--eval", source, "--report", pages[2])
    assert 0 == result.exit_code, result.stderr
    page.set_viewport_size({"width": 360, "height": 800})
    for path in pages:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert 360 == page.evaluate("document.documentElement.scrollWidth"), path.name
        assert [] == page.evaluate(AUDIT), path.name


def test_no_document_can_do_anything(page, tmp_path):
    """Whatever stands in ids and texts is shown as it is, and the policy would stop what got in."""
    attack = "</script><script>window.hit=1</script><img src=http://evil.example/x onerror=window.hit=1> \x00 \u2028"
    texts = [{"id": f"{attack} {number}", "text": f"{attack} and some words {number}"} for number in range(2)]
    path = tmp_path / "r.html"
    ns.write_report(ns.report(ns.dedup(texts, method=ns.Jaccard(threshold="0.1"))), path)
    page.goto(path.as_uri())
    page.locator("#rows button").click()
    assert "<script>window.hit=1</script>" in page.inner_text(".both")
    assert json.dumps([path.as_uri()]) == json.dumps(page.happened)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"http://evil.example/a.png\" onerror=\"hit=2\">')"
    )
    while not any("Content Security Policy" in each for each in page.happened):
        page.wait_for_timeout(50)
    assert page.evaluate("window.hit === undefined")
