"""Help reads well, says the recipes' own defaults, and is kept as gold files.

`UPDATE_GOLD=1 scripts/test tests/cli/test_help.py` rewrites the gold files.
"""

import os
import re
import typing
from fractions import Fraction
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from nearsame.cli.demo import KINDS
from nearsame.cli.helping import MANY
from nearsame.cli.main import commands
from nearsame.cli.options import Option
from nearsame.cli.recipeoptions import METHODS
from nearsame.recipes import methods

from .commands import run


def paths(group, above=()):
    """The words of every command, those of a group's below it."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield [*above, name]
        if isinstance(command, click.Group):
            yield from paths(command, (*above, name))


def command_of(path):
    """The command that words lead to."""
    command = commands
    for name in path:
        command = command.get_command(click.Context(command), name)
    return command


RECIPES = methods.METHODS
HELPS = {"nearsame": [], **{"-".join(path): path for path in paths(commands)}}
# Defaults that words say better than values.
IN_WORDS = {
    "whitespace": "for chars yes, words no",
    "threshold": "0.8; hyperplane 0.9",
    "bits": "64; hyperplane 512",
    "bands": "from recall",
    "rows": "from recall",
    "jaccard_floor": "any",
    "boilerplate_per_host": "none",
    "drop_boilerplate": "none",
    "shingle_size": "5; simhash 1",
    "frequencies": "counted",
    "blocks": "the cheapest",
    "header": "the cheapest",
    "table": "none",
    "confirm": "none",
    "confirm_threshold": "0.8",
}


def settings(name):
    """The options of a command that are settings of a recipe."""
    return [param for param in command_of([name]).params if isinstance(param, Option) and param.setting]


def _whole(path):
    """How all of a command's help is asked for; groups have no topics."""
    return [*path, "--help"] if isinstance(command_of(path), click.Group) else [*path, "--help", "all"]


SHOWN = {name: _whole(path) for name, path in HELPS.items()} | {
    f"{name}-first": [*path, "--help"] for name, path in HELPS.items() if len(command_of(path).params) >= MANY
}


@pytest.mark.parametrize("name", SHOWN)
def test_help_is_as_it_was_approved(name, root, monkeypatch):
    """A change of the help is seen in review."""
    monkeypatch.setenv("COLUMNS", "80")
    gold = root / "tests" / "gold" / f"help-{name}.txt"
    text = run(*SHOWN[name]).output
    if os.environ.get("UPDATE_GOLD"):
        gold.write_text(text, "utf-8")
    assert gold.read_text("utf-8") == text


@pytest.mark.parametrize("name", SHOWN)
def test_help_fits_80_columns(name):
    """No line is longer, whatever the terminal."""
    assert [] == [line for line in run(*SHOWN[name]).output.splitlines() if len(line) > 80]


def _told(*words):
    """The options that a help tells."""
    return set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", run(*words).output, re.MULTILINE))


@pytest.mark.parametrize("name", [name for name in SHOWN if name.endswith("-first")])
def test_a_long_help_shows_first_what_people_need_first(name):
    """On one screen, with the way to all others: every topic together tells every option."""
    words = SHOWN[name]
    first, whole = _told(*words), _told(*words, "all")
    assert first < whole
    assert len(first) <= 22
    [topics] = re.findall(r"--help with one of\s+([^.]+)\.", run(*words).output)
    assert whole == set().union(*(_told(*words, topic) for topic in re.split(r",\s+", topics)))


@pytest.mark.parametrize("method", METHODS)
def test_the_help_of_a_method_has_its_settings(method):
    """All of them, and no other's."""
    fields = RECIPES[method].model_fields
    assert {option.opts[-1] for option in settings("dedup") if option.name in fields} == _told(
        "dedup", "--help", method
    )


def test_a_topic_that_there_is_not_is_told_with_those_that_there_are():
    """A source behind --help, most likely."""
    found = run("dedup", "--help", "crawl/")
    assert 2 == found.exit_code
    assert "there is no such topic; choose from all, sources, method" in found.output + found.stderr


@pytest.mark.parametrize("path", [("dedup",), ("index",), ("index", "create")], ids=" ".join)
def test_the_help_of_a_group_leads_to_that_of_a_command(path):
    """`--help dedup` is what `dedup --help` is."""
    *group, name = path
    assert run(*path, "--help").output == run(*group, "--help", name).output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--help", "bogus"], "--help bogus: there is no such command; choose from demo, dedup"),
        (["index", "--help", "bogus"], "--help bogus: there is no such command; choose from create, add"),
        (["index", "--help="], "--help '': there is no such command"),
        (["dedup", "--help="], "--help '': there is no such topic"),
        (["--index", "--help", "bogus"], "No such option '--index'"),
        (["index", "bogus", "--help"], "No such command 'bogus'"),
        (["index", "create", "--help", "bogus", "x"], "there is no such topic; choose from all, sources"),
        (["dedup", "x", "--help", "bogus"], "there is no such topic; choose from all, sources"),
    ],
    ids=str,
)
def test_help_with_what_there_is_not_is_an_error_in_any_order(words, message):
    """With what there is; nothing that was typed is passed over."""
    found = run(*words)
    assert 2 == found.exit_code
    assert message in found.output + found.stderr


def test_methods_are_the_recipes():
    """The literal list of methods is that of the recipes."""
    assert set(METHODS) == set(RECIPES)


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_every_setting_of_a_recipe_has_its_option(command):
    """Neither can a setting be forgotten nor an option invented; the Unicode version is no choice."""
    fields = {name for recipe in RECIPES.values() for name in recipe.model_fields} - {"unicode", "tokeniser"}
    assert sorted(fields) == sorted(option.name for option in settings(command))


@pytest.mark.parametrize("option", settings("dedup"), ids=lambda option: option.opts[0])
def test_choices_and_defaults_are_those_of_the_recipe(option):
    """What the help says of a setting is what the recipe has."""
    field = next(recipe.model_fields[option.name] for recipe in RECIPES.values() if option.name in recipe.model_fields)
    if isinstance(option.type, click.Choice):
        literal = next(iter(typing.get_args(field.annotation)))  # of `Literal[...] | None` the first is the Literal
        assert (typing.get_args(literal) or typing.get_args(field.annotation)) == option.type.choices
    said = re.search(r"\[([^][]+)\]$", option.help)[1]
    if isinstance(field.default, bool) or field.default == ():
        assert said
    else:
        default = float(field.default) if isinstance(field.default, Fraction) else field.default
        assert IN_WORDS.get(option.name, str(default)) == said


def test_every_option_says_its_default():
    """In brackets, at the end; only what has to be given has none."""
    silent = [
        (" ".join(path), o.opts[0])
        for path in paths(commands)
        for o in command_of(path).params
        if isinstance(o, Option) and not o.help.endswith("]")
    ]
    output = [(name, "-o") for name in ("dedup", "pairs", "codes", "report", "rerun", "apply", "restore")]
    assert [*output[:3], ("leaks", "--eval"), *output[3:]] == silent


def test_the_demo_knows_every_kind_of_its_corpus(root):
    """Each kind in the corpus has its words."""
    text = (root / "src/nearsame/demo/corpus.jsonl").read_text("utf-8")
    assert set(KINDS) == set(re.findall(r'"kind": "(\w+)"', text))


@pytest.mark.parametrize(
    ("typed", "begun", "expected"),
    [
        ([], "le", {"leaks"}),
        (["leaks"], "--eval", {"--eval", "--eval-column", "--eval-id-column"}),
        (["leaks", "--remove"], "", {"documents", "spans", "none"}),
    ],
)
def test_a_shell_completes_commands_options_and_their_words(typed, begun, expected):
    """By the name that README gives."""
    shell = ShellComplete(commands, {}, "nearsame", "_NEARSAME_COMPLETE")
    assert expected == {item.value for item in shell.get_completions(typed, begun)}
    assert shell.complete_var in (Path(__file__).parents[2] / "README.md").read_text("utf-8")
