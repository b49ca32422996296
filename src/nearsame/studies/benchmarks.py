"""Benchmarks as they are given: each with its name, and the parts that its items are read from."""

import glob
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from nearsame.errors import ConfigError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.formats import BY_SUFFIX, TEXTS
from nearsame.files.inputs import name_as_text, several
from nearsame.printable import without_halves
from nearsame.sources import Columns, Parts, Wanted, open_parts

__all__ = ["named_sources", "open_benchmark"]


def named_sources(evals: Any) -> list[tuple[str, Any]]:
    """The benchmarks with their names.

    Raises:
        ConfigError: There are none, or two of one name.
    """
    if isinstance(evals, Mapping):
        named = [(without_halves(str(name)), source) for name, source in evals.items()]
    else:
        sources = several(evals)
        names = list(map(_name, sources))
        again = {name for name, times in Counter(names).items() if times > 1}
        named = [
            (_in_full(source) if name in again else name, source) for name, source in zip(names, sources, strict=True)
        ]
    if not named:
        raise ConfigError("there are no benchmarks", hint="Name at least one.")
    for name, times in Counter(name for name, _ in named).items():
        if times > 1:
            hint = "Name each once; in Python, a dict of name to source tells them apart."
            raise ConfigError(f"{times} benchmarks are called {name}", hint=hint)
    return named


def _in_full(source: Any) -> str:
    return name_as_text(os.fsdecode(source)) if isinstance(source, str | os.PathLike) else _name(source)


def _name(source: Any) -> str:
    """What a benchmark is called: its file without the endings, or its folder.

    >>> _name("evals/gsm8k.jsonl.gz"), _name("evals/mmlu/"), _name("evals/arc.easy/*.parquet")
    ('gsm8k', 'mmlu', 'evals/arc.easy/*.parquet')
    """
    if not isinstance(source, str | os.PathLike):
        return "memory"
    typed = name_as_text(os.fsdecode(source))
    path = PurePath(typed)
    if glob.has_magic(typed) or typed == "-":
        return typed
    while path.suffix.lower() in {*COMPRESSIONS, *BY_SUFFIX, *TEXTS}:
        path = path.with_suffix("")
    return path.name or typed


def open_benchmark(
    source: Any, kinds: tuple[tuple[str, str], ...] = (), encoding: str | None = None, *, lenient: bool = True
) -> Parts:
    """The parts of a benchmark: what files are read as is said for both sides, which of them only for training."""
    files = any(isinstance(one, (str, os.PathLike)) for one in several(source))
    wanted = Wanted(kinds=kinds) if files else Wanted()
    return open_parts(several(source), columns=Columns(encoding=encoding), without_extras=lenient, wanted=wanted)
