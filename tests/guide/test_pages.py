"""What the guide and the README show is what happens: every command and block of code of a page is run, in its folder.

`UPDATE_GOLD=1 scripts/test tests/guide` writes what was printed into the pages; read the difference.
"""

import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from tests.cli.commands import every_command

from .blocks import Block, agrees, blocks_of, commands_of, run_command, run_python

ROOT = Path(__file__).resolve().parents[2]


def _name(page: Path) -> str:
    """A page as a failure names it."""
    return page.relative_to(ROOT / "docs" / "guide").as_posix()


PAGES = sorted((ROOT / "docs" / "guide").rglob("*.md"))
CHANGING = re.compile(r"(?<=of text in )\d.*")  # a time, and a speed where it is long enough to have one


NEEDED = {"tools-text-dedup.md": "text_dedup"}  # what CI cannot have, as the page says
ON_SPARK = [page for page in PAGES if page.name == "tools-mllib.md"]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ON_SPARK], ids=_name)
def test_what_a_page_shows_is_what_happens(page, folder):
    """Its blocks are run in their order, in one folder, and print what stands below them."""
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name])
    _hold(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", ON_SPARK, ids=_name)
def test_what_a_page_on_spark_shows_is_what_happens(page, folder, spark, monkeypatch):
    """The same; a session is there, which is what the page gets."""
    # Scrapy's zope.interface, of another test, marks this class, if need be again, and pyspark.ml cannot read the mark
    monkeypatch.setattr(typing.Generic, "__provides__", None, raising=False)
    _hold(page)


def _hold(page: Path) -> None:
    """Run a page, and with UPDATE_GOLD write what is right."""
    renewed = _run(page)
    if os.environ.get("UPDATE_GOLD"):
        text = page.read_text("utf-8")
        for block, new in reversed(renewed):
            text = text[: block.start] + new + text[block.start + len(block.text) :]
        page.write_text(text, "utf-8")


def test_every_row_of_the_table_of_examples_prints_its_numbers(folder):
    """Each command of examples.md, after the blocks of the page."""
    page, wrong = ROOT / "docs" / "guide" / "examples.md", []
    _run(page)
    rows = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines() if line.startswith("| ")]
    for item, _, numbers, command in rows[1:]:
        output, status = run_command(command.strip("`"))
        expected = [" ".join(number.split()) for number in re.findall(r"`(.+?)`", numbers)]
        assert expected, item
        printed = " ".join(output.split())
        wrong += [f"{item}: {number}" for number in expected if status or number not in printed]
    assert [] == wrong


def _run(page: Path) -> list[tuple[Block, str]]:
    """Run the blocks of a page; those that show something, and what is right."""
    text, names = page.read_text("utf-8"), {"__name__": "__main__"}
    renewed: list[tuple[Block, str]] = []
    for block in blocks_of(text):
        if block.kind == "console":
            renewed.append((block, _console(block)))
        elif block.file:
            Path(block.file).write_text(block.text, "utf-8")
        elif block.kind == "python":
            printed = run_python(block, names, page)
            if block.shown:
                renewed.append((block.shown, _settled(block.shown.text, printed, block.text)))
        else:
            assert block.kind == "text", f"```{block.kind} is not run: {block.text}"
    return renewed


def _console(block: Block) -> str:
    """The block with what its commands print, where that is shown."""
    parts = []
    for command, shown in commands_of(block):
        output, status = run_command(command)
        assert status == 0, f"$ {command}\n{output}"
        parts.append(f"$ {command}\n" + (_settled(shown, output, command) if shown else ""))
    return "".join(parts)


def _settled(shown: str, output: str, source: str) -> str:
    """What is shown, if it is right; with UPDATE_GOLD what is right."""
    if agrees(shown, output):
        return shown
    if os.environ.get("UPDATE_GOLD"):
        output = CHANGING.sub("...", output)
        return "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    pytest.fail(f"{source}\nprinted\n{output}\nand the page shows\n{shown}")


@pytest.mark.slow
def test_pictures_are_current():
    """`make docs` has been run since what they show changed."""
    pytest.importorskip("vl_convert")
    command = [sys.executable, ROOT / "scripts" / "make-pictures", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_every_picture_is_shown_and_was_made():
    """Those of the pages are those that the script writes."""
    shown = {
        name for page in PAGES for name in re.findall(r"!\[.*?\]\((?:\.\./)?pictures/(\S+)\)", page.read_text("utf-8"))
    }
    assert shown == {path.name for path in (ROOT / "docs" / "guide" / "pictures").iterdir()}


@pytest.mark.parametrize("page", [page for page in PAGES if "how/" in _name(page)][1:], ids=_name)
def test_every_chapter_says_what_is_computed_why_it_holds_and_what_is_promised(page):
    """In this order, with an example that is run, a picture and a formula."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^## (Worked example|What is computed|Why|What is promised|References)", text, re.MULTILINE)
    expected = ["Worked example", "What is computed", "Why", "What is promised", "References"]
    assert expected == list(dict.fromkeys(headings))
    assert "![" in text
    worked, rest = text.split("## What is computed")
    assert "```console\n$ nearsame" in worked
    assert any(block.kind == "text" and re.search(r"[=|(^]", block.text) for block in blocks_of(rest))


def test_every_option_that_is_named_exists():
    """What stands in the guide's prose can be typed."""
    known = {
        name
        for _, command in every_command()
        for option in command.params
        for name in [*option.opts, *option.secondary_opts]
    }
    known |= {"--help", "--ngram", "--num_perm", "--b", "--r", "--min_length", "--bit_diff"}  # the others of text-dedup
    assert [] == [
        f"{page.name}: {option}"
        for page in PAGES
        for option in re.findall(r"`[^`\n]*?(--[a-z][a-z_-]+)", page.read_text("utf-8"))
        if option not in known
    ]
