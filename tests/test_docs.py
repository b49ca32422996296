"""The documentation cannot drift: what is public is described, what is generated is current, what is linked exists."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nearsame import errors
from nearsame.recipes import methods
from nearsame.recipes.urls import DEGREE_OF

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS, *sorted((ROOT / "changes").glob("*.md"))]
WORDS = {
    *(
        "annotation",
        "bucket",
        "candidate",
        "cluster",
        "document",
        "engine",
        "feature",
        "item",
        "keeper",
        "kernel",
        "key",
    ),
    *("method", "origin", "pair", "part", "place", "position", "rank", "recipe", "row", "shingle", "sketch", "source"),
    *("stage", "star", "token", "witness", "map", "fold", "shuffle", "attach", "decide", "join", "collapse"),
}


def relative(path: Path) -> str:
    """A path as a failure should name it."""
    return path.relative_to(ROOT).as_posix()


def headings(path: Path) -> list[str]:
    """The text of a page's headings, outside fenced blocks."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def error_classes() -> list[type[errors.NearSameError]]:
    """The whole tree of exceptions."""
    return [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, Exception)]


def test_every_error_is_explained_and_no_other() -> None:
    """The headings of docs/errors.md are the codes of the exceptions: one for each, none left over."""
    assert sorted(kind.code for kind in error_classes()) == sorted(headings(ROOT / "docs" / "errors.md")[1:])


def test_every_error_has_its_own_code() -> None:
    """A code names one class; a class does not borrow its parent's."""
    assert [] == [kind.__name__ for kind in error_classes() if "code" not in vars(kind)]
    assert len(error_classes()) == len({kind.code for kind in error_classes()})


@pytest.mark.parametrize("page", ["api", "cli", "methods"])
def test_generated_pages_are_current(page: str) -> None:
    """`make docs` has been run since the code changed."""
    command = [sys.executable, ROOT / "scripts" / "make-docs", "--check", page]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if "left alone" in run.stdout:
        pytest.skip(run.stdout.strip())
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", [name for name, thing in vars(methods).items() if hasattr(thing, "model_fields")])
def test_every_setting_is_described(name: str) -> None:
    """Each field of each recipe says what it is for, on the page too."""
    page = (ROOT / "docs" / "methods.md").read_text("utf-8")
    fields = getattr(methods, name).model_fields
    assert [] == [field for field, info in fields.items() if not info.description or f"| `{field}` |" not in page]


def test_every_public_name_is_documented() -> None:
    """Whatever `import nearsame` offers is named in docs/."""
    if importlib.util.find_spec("nearsame.api") is None:
        pytest.skip("nearsame.api is missing")
    import nearsame

    text = "".join(path.read_text("utf-8") for path in DOCS)
    assert [] == [
        name
        for name in nearsame.__all__
        if name.isidentifier() and name[0] != "_" and not re.search(rf"\b{re.escape(name)}\b", text)
    ]


def test_the_glossary_has_the_vocabulary() -> None:
    """One word for each thing, and each word has its line."""
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    described = {word.strip() for cell in re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) for word in cell.split(",")}
    assert set() == WORDS - described


def test_every_rule_of_urls_has_its_degree_in_the_guide() -> None:
    """As the recipe has it, and no other rule."""
    page = (ROOT / "docs" / "web.md").read_text("utf-8")
    rows = re.findall(r"^\| `(standard|usual|guess)` \| (.+?) \|", page, re.MULTILINE)
    assert dict(DEGREE_OF) == {rule: degree for degree, rules in rows for rule in re.findall(r"`(\w+)`", rules)}


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_links_lead_somewhere(path: Path) -> None:
    """A relative link names a file that exists and, after #, a heading of it."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?://|mailto:)([^)\s]+)\)", text):
        file, _, fragment = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not fragment or fragment in map(anchor, headings(target)), link


def test_the_readme_names_commands_that_exist() -> None:
    """Each `make x` of the README and of CONTRIBUTING.md is a target; each scripts/x is a file."""
    text = (ROOT / "README.md").read_text("utf-8") + (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(re.findall(r"\bmake ([a-z]+)\b", text)) <= set(targets)
    assert [] == [name for name in re.findall(r"\bscripts/([a-z-]+)", text) if not (ROOT / "scripts" / name).is_file()]


def test_a_change_is_a_fragment() -> None:
    """changes/ holds a README and fragments named NUMBER-or-word.KIND.md."""
    kinds = "added|changed|fixed|removed"
    names = [path.name for path in (ROOT / "changes").iterdir() if path.name != "README.md"]
    assert [] == [name for name in names if not re.fullmatch(rf"[a-z0-9-]+\.({kinds})\.md", name)]


def test_every_page_has_its_place_on_the_site() -> None:
    """mkdocs.yml lists each page of docs/ once; what it lists and does not exist, `make site` refuses."""
    listed = re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2], re.MULTILINE)
    outside = {"index.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
    assert sorted({path.relative_to(ROOT / "docs").as_posix() for path in DOCS} | outside) == sorted(listed)


def test_what_people_judged_is_said_as_it_was_measured() -> None:
    """The README's figures of webis-copycat are those of the table that `scripts/bench choosing` wrote."""
    text = (ROOT / "README.md").read_text("utf-8").replace("\n", " ")
    row = re.search(r"^\| webis-copycat \| (.+) \|$", (ROOT / "docs" / "quality.md").read_text("utf-8"), re.MULTILINE)
    assert row is not None
    true, false, method, least, held_out, _, _, usual, _ = row[1].split(" | ")
    f1, low, high = (f"{float(number):.2f}" for number in re.findall(r"[.\d]+", held_out))
    assert "`jaccard`" == method
    assert f"on {int(true) + int(false)} pairs" in text
    assert f"from {float(least):.2f} on" in text
    assert f"F1 of {f1} ({low} to {high})" in text
    assert f"0.8 has {float(usual):.2f} there" in text
