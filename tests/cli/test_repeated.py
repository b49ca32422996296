"""An option that is given twice is refused, where one value counts: which of them was meant is not ours to guess."""

import click
import pytest

from .commands import every_command, run

COMMANDS = {words: command for words, command in every_command() if not isinstance(command, click.Group)}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_option_of_one_value_is_not_given_twice(path: tuple[str, ...]) -> None:
    """Whatever the command; the message names the option and both values."""
    command = COMMANDS[path]
    options = [each for each in command.params if isinstance(each, click.Option)]
    for option in options:
        name = option.opts[-1]
        found = run(*path, f"{name}=a", f"{name}=a") if not option.is_flag else run(*path, name, name, "--help")
        if option.is_flag or option.multiple:
            assert "given" not in found.stderr, found.output
        else:
            assert (found.exit_code, found.stderr.splitlines()[0]) == (2, f"error: {name} is given twice: a, a")


def test_the_values_are_named_whatever_is_between_them() -> None:
    """Both of the names of an option count."""
    found = run("dedup", "--method", "jaccard", "x", "-q", "-o", "a", "--method=minhash", "--method", "simhash")
    assert found.exit_code == 2
    assert "--method is given 3 times: jaccard, minhash, simhash" in found.stderr
    assert "is given twice: a, b" in run("dedup", "x", "-o", "a", "--output", "b").stderr
    assert "is given twice: nearsame-demo.html, b" in run("demo", "--report", "--report", "b").stderr


def test_a_switch_may_be_given_again_but_not_contradicted() -> None:
    """Twice the same says nothing new."""
    assert run("explain", "some text", "--keep-case", "--keep-case").exit_code == 0
    found = run("dedup", "x", "--audit", "--no-audit")
    assert (found.exit_code, found.stderr.splitlines()[0]) == (2, "error: --audit and --no-audit are both given")


def test_help_is_shown_in_any_case() -> None:
    """Who asks for it is still looking."""
    found = run("dedup", "--method", "a", "--method", "b", "--help")
    assert found.exit_code == 0
    assert "Usage: nearsame dedup" in found.stdout
