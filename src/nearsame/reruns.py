"""A run once more: what an output records of the call that made it, asked again of the same sources or of others."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.api import dedup
from nearsame.errors import SourceError
from nearsame.files.remote import at_hand
from nearsame.flow.calls import names_again
from nearsame.flow.options import MachineOptions
from nearsame.flow.results import Result
from nearsame.proofs.learnt import is_learnt
from nearsame.proofs.settings import method_of
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import Method
from nearsame.recipes.urls import CanonicalUrl
from nearsame.web.rules import UrlRules

__all__ = ["Recorded", "recorded", "rerun"]

_KEY = b"nearsame"


@dataclass(frozen=True)
class Recorded:
    """What an output says of the call that made it.

    Attributes:
        home: The output.
        method: The recipe; None: the layers that ran need none.
        call: Names of sources, and all options that can change the answer.
        urls: What made URLs one, where that was asked for.
        decisions: What people had decided, if they had.
        written: How it was written, as `Result.write` takes it.
    """

    home: str
    method: Method | None
    call: Mapping[str, Any]
    urls: Any
    decisions: Any
    written: Mapping[str, bool]

    def side(self, name: str) -> tuple[str, ...] | None:
        """The sources of one side, by their names; None: there was no such side.

        Raises:
            SourceError: Not all of them can be read again.
        """
        names: Sequence[str | None] | None = self.call[name]
        if names is None:
            return None
        for odd, what in ((None, "documents in memory"), ("-", "standard input")):
            if odd in names:
                message = f"{self.home} was made from {what}, which nobody keeps"
                raise SourceError(message, hint=f"Give the {name} again.")
        return tuple(names_again(names, self.call["folder"]))


@checked
def rerun(output: str | Path, source: Any = None, *, against: Any = None, **options: Unpack[MachineOptions]) -> Result:
    """Run again what an output of `dedup` records, on its sources as they are now, or on others.

    The answer is that of the same call of `dedup`: with the same sources (and the same version of nearsame) all that
    is written is the same, but for times.

    Args:
        output: The folder that `Result.write` or `nearsame dedup -o` wrote.
        source: What takes the place of its sources, as `dedup` takes it. Default: the same files.
        against: What takes the place of the other side; one that was not there can be given.

    Raises:
        SourceError: It does not say how it was made, or its sources cannot be read again.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as home:
        ...     _ = dedup(["a rose", "A rose"], keep="last").write(home + "/clean")
        ...     rerun(home + "/clean", ["a daisy", "A daisy", "a rose"]).kept().column("text").to_pylist()
        ['A daisy', 'a rose']
    """
    record = recorded(output)
    asked = {name: record.call[name] for name in ("keep", "within") if name in record.call}
    other = record.side("against") if against is None else against
    return dedup(
        record.side("source") if source is None else source,
        method=record.method,
        against=other,
        **{**asked, **record.call["options"], **options, "urls": record.urls, "decisions": record.decisions},
    )


def recorded(output: str | Path) -> Recorded:
    """What a folder says of the call that made it.

    Args:
        output: The folder.

    Raises:
        SourceError: It does not say so.
    """
    with at_hand(output) as folder:
        return _recorded(folder, os.fspath(output))


def _recorded(folder: Path, home: str) -> Recorded:
    """What a folder says, by its name."""
    about = _about(folder)
    if "evals" in about.get("call", {}):
        hint = "Name a folder that `nearsame dedup -o` wrote on this machine."
        raise SourceError(f"{home} was written by leaks, which is not run again", hint=hint)
    if "call" not in about:
        raise SourceError(
            f"{home} was written before outputs recorded their calls",
            hint="Run dedup with the recipe in its stats.json; that output can be run again.",
        )
    recipe, call = _recipe(folder), about["call"]
    use = recipe.get("use")
    urls = recipe.get("urls")
    return Recorded(
        home,
        None if use is not None and "text" not in use else method_of(recipe),
        call,
        None if urls is None else _urls(urls, home),
        recipe.get("decisions"),
        about["written"],
    )


def _about(home: Path) -> Mapping[str, Any]:
    """What the list of sources says besides its rows."""
    hint = "Name a folder that `nearsame dedup -o` wrote on this machine."
    if not os.path.isdir(home):  # noqa: PTH112  (a name that no file can have is no error)
        what = "is a file, which does not say how it was made" if os.path.exists(home) else "does not exist"  # noqa: PTH110  (likewise)
        raise SourceError(f"{home} {what}", hint=hint)
    try:
        metadata = pq.read_schema(home / "sources.parquet").metadata or {}
        about: Mapping[str, Any] = json.loads(metadata[_KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        raise SourceError(f"{home} has no sources.parquet that says how it was made", hint=hint) from None
    return about


def _recipe(home: Path) -> Mapping[str, Any]:
    """What decided the answer; a random seed has more digits than most readers of JSON take."""
    try:
        recipe: Mapping[str, Any] = json.loads((home / "stats.json").read_text("utf-8"))["recipe"]
    except (OSError, ValueError, KeyError, TypeError):
        hint = "Write the output again, or take stats.json from where it was copied."
        raise SourceError(f"{home / 'stats.json'} cannot be read", hint=hint) from None
    return recipe


def _urls(record: Mapping[str, Any], home: str) -> Any:
    """What made URLs one.

    Raises:
        SourceError: It was a rule of the caller's own.
    """
    if record.get("method") == CanonicalUrl.name:
        return CanonicalUrl(**{name: value for name, value in record.items() if name != "method"})
    if not is_learnt(record):
        raise SourceError(f"{home} was made with a rule about URLs of your own", hint="Call dedup, which takes it.")
    return UrlRules.of(record, home)
