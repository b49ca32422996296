"""Every command and block of Python of the README is run, on small made-up files of the names that it uses."""

import json
import os
from pathlib import Path
from shutil import rmtree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.cli.main import commands
from nearsame.demo import corpus_path
from tests.sources.archive import gzipped, html, http, record
from tests.sources.corpora import compressed, encoded

from .blocks import blocks_of, commands_of, run_command, run_python

UNTRIED = ("s3a://", "nearsame serve ", "nearsame review ")  # a cluster; what is told to end; what asks for keys


@pytest.fixture
def files(folder, monkeypatch):
    """The files of the README, and a program to read from a filter."""
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    rows = [json.loads(line) for line in corpus_path().read_text("utf-8").splitlines()[:60]]
    rows = [{name: row[name] for name in ("id", "url", "text", "date")} for row in rows]
    Path("crawl").mkdir()
    for name in ("crawl.parquet", "crawl/1.parquet", "old.parquet", "pages.parquet"):
        pq.write_table(pa.Table.from_pylist(rows), name)
    for name in ("crawl.jsonl.gz", "new.jsonl.zst"):
        Path(name).write_bytes(compressed(encoded(rows, "jsonl"), Path(name).suffix))
    page = gzipped(*(record(http(html(row["text"])), number=number) for number, row in enumerate(rows)))
    for name in ("crawl.warc.gz", "crawl/1.warc.gz"):
        Path(name).write_bytes(page)
    _texts(rows)


def _texts(rows):
    """Small texts."""
    Path("papers").mkdir()
    for name, text in {"a.txt": rows[0]["text"], "b.txt": rows[0]["text"].replace("coffee", "tea")}.items():
        Path(name).write_text(text, "utf-8")
        Path("papers", name).write_text(text, "utf-8")
    Path("gsm8k.jsonl").write_text(json.dumps({"question": "How many anvils has a smith of two trades?"}) + "\n")
    Path("names.csv").write_text("name\nJane Austen\nJane Austin\nMary Shelley\n")
    Path("urls.txt").write_text("http://a.example/?utm_source=x\nhttp://A.example/\n")
    next_one = Path("bin", "next")
    next_one.parent.mkdir()
    next_one.write_text("#!/bin/sh\nexec cat\n")
    next_one.chmod(0o755)


def _commands(root):
    return [
        command
        for block in blocks_of((root / "README.md").read_text("utf-8"))
        if block.kind == "sh"
        for command, _ in commands_of(block)
    ]


def test_every_command_of_the_readme_works(root, files):
    """Each writes to a place of its own, but for the one that proves what the one before it wrote."""
    assert "" == "".join(map(_outcome, _commands(root)))


def _outcome(command):
    """What a command says if it fails."""
    if any(word in command for word in UNTRIED):
        words = command.split()[1:]
        group = commands.make_context("nearsame", list(words))  # what --help is called, a command asks its group
        commands.get_command(group, words[0]).make_context(words[0], words[1:], parent=group)
        return ""
    if " -o " in command:
        rmtree(command.split(" -o ")[1].split()[0], ignore_errors=True)
    output, status = run_command(command)
    return f"$ {command}\n{output}" if status else ""


def test_the_python_of_the_readme_works(root, files):
    """With documents at hand, and an index."""
    names = {"documents": [{"id": "rose", "text": "a rose is a rose is a rose"}]}
    ns.Index.create("seen.ns").close()
    for block in blocks_of((root / "README.md").read_text("utf-8")):
        if block.kind == "python":
            run_python(block, names, root / "README.md")
    assert names["found"].stats.removed > 0
