"""The Dockerfile, as far as its text can be held to what it is about: no daemon is needed for that."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from nearsame.cli.serve import serve
from nearsame.service.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def stages():
    """The instructions of each stage, (word, rest), lines that go on joined, comments left out."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).split("\n")
    instructions = [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]
    starts = [at for at, (word, _) in enumerate(instructions) if word == "FROM"]
    return [instructions[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


def only(stage, word):
    """What an instruction says that is there once."""
    [rest] = [rest for found, rest in stage if found == word]
    return rest


def test_it_runs_as_nobody_special_and_is_asked_for_its_health(stages):
    """Not as root; nothing is written but data and /tmp; the health check asks the port that is served."""
    last = stages[-1]
    assert "10001" == only(last, "USER")
    assert "USER" == next(word for word, _ in reversed(last) if word in ("RUN", "USER"))
    assert "/data" == only(last, "VOLUME")
    assert "PYTHONDONTWRITEBYTECODE=1" in only(last, "ENV")
    assert "NUMBA_CACHE_DIR=/tmp/" in only(last, "ENV")
    assert str(Settings.port) == only(last, "EXPOSE")
    assert f"http://127.0.0.1:{Settings.port}/healthz" in only(last, "HEALTHCHECK")


def test_what_it_runs_is_a_command_of_ours(stages):
    """With options that there are: beyond the machine, so with tokens."""
    assert ["nearsame"] == json.loads(only(stages[-1], "ENTRYPOINT"))
    name, *arguments = json.loads(only(stages[-1], "CMD"))
    given = serve.make_context(name, arguments).params
    assert (serve.name, "0.0.0.0", Settings.port) == (name, given["host"], given["port"])  # noqa: S104  (in a container)
    assert given["token_file"].startswith("/run/secrets/")


def test_what_it_takes_is_there(stages):
    """Files that are copied and not ignored, extras of ours, tested versions."""
    copied = [name for word, rest in stages[0] if word == "COPY" for name in rest.split()[:-1]]
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert sorted(copied) == sorted(kept)
    assert all((ROOT / name).exists() for name in copied)
    [installed] = [rest for word, rest in stages[0] if word == "RUN" and "'.[" in rest]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {*re.search(r"'\.\[(.*)\]'", installed)[1].split(",")} <= extras.keys()
    assert "-c constraints.txt" in installed
