"""What every command reads and writes is declared, and no command writes over what it reads."""

import click
import pytest

from nearsame.cli.options import APART, BY_NAME, FILE, FOLDER

from .commands import documents, every_command, run, write_jsonl

_PLACES = ("FILE", "DIR", "PLACE", "SOURCE", "INDEX", "A", "B", "FILE|TEXT")  # what metavars call files and folders


COMMANDS = {words: command for words, command in every_command() if not isinstance(command, click.Group)}
BOTH = [
    pytest.param(words, reads, writes, id=f"{' '.join(words)} {reads.name}-{writes.name}")
    for words, command in COMMANDS.items()
    for reads in command.params
    for writes in command.params
    if getattr(reads, "reads", False) and getattr(writes, "writes", None)
]


def given(param, value):
    """A parameter with its value, as it is typed."""
    return [param.opts[0], value] if isinstance(param, click.Option) else [value]


@pytest.mark.parametrize("words", list(COMMANDS))
def test_every_file_that_can_be_named_is_declared(words):
    """As read or as written: who adds an option cannot forget it."""
    for param in COMMANDS[words].params:
        shown = str(param.metavar or "").strip("[].")
        if shown in _PLACES:
            assert bool(param.reads) != bool(param.writes), f"{param.name} is neither reads= nor writes="
        if getattr(param, "writes", None):
            assert param.writes in (FILE, FOLDER, BY_NAME, APART)


def test_there_are_commands_of_both_kinds():
    """Else the tests here would say nothing."""
    assert {FILE, FOLDER, BY_NAME, APART} == {writes.writes for _, _, writes in (param.values for param in BOTH)}
    assert len(BOTH) >= 25


@pytest.mark.parametrize("by", ["name", "pattern", "url", "link"])
@pytest.mark.parametrize(("words", "reads", "writes"), BOTH)
def test_no_command_writes_over_what_it_reads(words, reads, writes, by, tmp_path):
    """Whatever is read, whatever is written, and --overwrite does not help."""
    home = tmp_path / "home"
    home.mkdir()
    source = write_jsonl(home / "a.jsonl", documents())
    (tmp_path / "link.jsonl").symlink_to(source)
    before = source.read_bytes()
    named = {"name": source, "pattern": home / "[a].jsonl", "url": f"file://{source}", "link": tmp_path / "link.jsonl"}
    place = home if writes.writes in (FOLDER, BY_NAME) else source
    command = COMMANDS[words]
    arguments = []
    for param in command.params:
        if param in (reads, writes):
            arguments += given(param, place if param is writes else named[by])
        elif param.required:
            arguments += given(param, tmp_path / "other.jsonl")
        elif param.name == "overwrite":
            arguments.append("--overwrite")
    done = run(*words, *arguments)
    assert (2, before) == (done.exit_code, source.read_bytes())
    assert ["a.jsonl"] == [path.name for path in home.iterdir()]
    assert any(said in done.stderr for said in ("is or holds the source", "the next run would read", "exists"))


def test_two_outputs_of_one_command_are_two_files(tmp_path):
    """`urls -o x --save x` would lose one of them."""
    source = write_jsonl(tmp_path / "a.jsonl", [{"url": "http://a.example/", "text": "a"}])
    out = tmp_path / "out.jsonl"
    done = run("urls", source, "--learn", "-o", out, "--save", out)
    assert (2, True) == (done.exit_code, "both are to be written" in done.stderr)
    done = run("dedup", source, "-o", tmp_path / "out", "--workdir", tmp_path / "out" / "work")
    assert (2, True) == (done.exit_code, "both are to be written" in done.stderr)
    assert ["a.jsonl"] == [path.name for path in tmp_path.iterdir()]


def test_an_index_is_not_made_over_its_source(tmp_path):
    """From Python, too: the source would be gone before it is missed."""
    import nearsame as ns

    source = write_jsonl(tmp_path / "a.jsonl", documents())
    before = source.read_bytes()
    with pytest.raises(ns.OutputError, match="the next run would read"):
        ns.Index.create(source, source=f"{tmp_path}/*.jsonl", overwrite=True)
    assert before == source.read_bytes()
