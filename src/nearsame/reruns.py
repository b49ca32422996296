"""A run once more: what an output records of the call that made it, asked again of the same sources or of others."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.api import Pairs, Result, dedup, pairs
from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.files.remote import at_hand
from nearsame.flow.calls import KEY, names_again
from nearsame.flow.options import EngineOptions
from nearsame.proofs.learnt import is_learnt
from nearsame.proofs.settings import method_of
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import Method
from nearsame.recipes.urls import CanonicalUrl
from nearsame.studies.leak_results import Leaks
from nearsame.studies.leaks import leaks
from nearsame.web.mirrors import Mirrors, mirrors
from nearsame.web.prefixes import MirrorThresholds
from nearsame.web.rules import UrlRules

__all__ = ["Recorded", "recorded", "rerun"]

_HINT = "Name a folder that `nearsame dedup`, `leaks` or `mirrors` wrote with -o, or a file of Parquet or Arrow."


@dataclass(frozen=True)
class Recorded:
    """What an output says of the call that made it.

    Attributes:
        home: The output.
        call: The command, names of sources, and all options that can change the answer.
        recipe: By which was decided, as stats.json has it; of `leaks` and `mirrors` the call says it all.
        written: How it was written, as the answer's `write` takes it.
    """

    home: str
    call: Mapping[str, Any]
    recipe: Mapping[str, Any]
    written: Mapping[str, Any]

    @property
    def command(self) -> str:
        """What was called."""
        return str(self.call.get("command", "dedup"))

    @property
    def method(self) -> Method | None:
        """The recipe; None: the layers that ran need none."""
        use = self.recipe.get("use")
        if use is not None and "text" not in use:
            return None
        table = self.recipe.get("frequencies")
        found = {} if table is None else {"frequencies": names_again([table], self.call["folder"])[0]}
        return method_of({**self.recipe, **found})

    @property
    def compares(self) -> bool:
        """Whether documents are compared; for `mirrors` somebody may have said which are alike."""
        return self.call.get("clusters") is None and "cluster_column" not in self.call.get("options", {})

    @property
    def here(self) -> dict[str, Any]:
        """What another engine decided by that is not the usual here."""
        return {"ties": self.recipe["ties"]} if "engine" in self.call else {}

    def side(self, name: str) -> tuple[str, ...] | None:
        """The sources of one side, by their names; None: there was no such side.

        Raises:
            SourceError: Not all of them can be read again.
        """
        names: Sequence[str | None] | None = self.call[name]
        return None if names is None else self._again(names, name)

    def benchmarks(self) -> dict[str, tuple[str, ...]]:
        """Those of `leaks`, by their names.

        Raises:
            SourceError: Not all of them can be read again.
        """
        return {name: self._again(names, "benchmarks (against)") for name, names in self.call["evals"].items()}

    def _again(self, names: Sequence[str | None], what: str) -> tuple[str, ...]:
        for odd, kind in ((None, "documents in memory"), ("-", "standard input")):
            if odd in names:
                message = f"{self.home} was made from {kind}, which nobody keeps"
                raise SourceError(message, hint=f"Give the {what} again.")
        return tuple(names_again(names, self.call["folder"]))


@checked
def rerun(
    output: str | Path, source: Any = None, *, against: Any = None, **options: Unpack[EngineOptions]
) -> Result | Pairs | Leaks | Mirrors:
    """Run again what an output records, on its sources as they are now, or on others.

    The answer is that of the same call of `dedup`, `pairs`, `leaks` or `mirrors`: with the same sources (and the same
    version of nearsame) all that is written is the same, but for times. Files of JSON lines and CSV have no place for
    a record of their call; of those of Parquet and Arrow, the metadata has it.

    Args:
        output: What was written: a folder, or one file of Parquet or Arrow.
        source: What takes the place of its sources, as `dedup` takes it. Default: the same files.
        against: What takes the place of the other side, or of the benchmarks; a side that was not there can be given.

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
    given = {name: value for name, value in options.items() if value is not None}
    found: Result | Pairs | Leaks | Mirrors = _AGAIN[record.command](record, source, against, given)
    return found


def _dedup(record: Recorded, source: Any, against: Any, options: Mapping[str, Any]) -> Result:
    asked = {name: record.call[name] for name in ("keep", "within") if name in record.call}
    urls = _urls(record)
    said = None if "use" in record.recipe and urls == CanonicalUrl() else urls  # layers record what nobody gave, too
    evidence = {"urls": said, "decisions": record.recipe.get("decisions")}
    other = record.side("against") if against is None else against
    given = {**record.here, **asked, **record.call["options"], **options, **evidence}
    return dedup(_source(record, source), method=record.method, against=other, **given)


def _pairs(record: Recorded, source: Any, against: Any, options: Mapping[str, Any]) -> Pairs:
    other = record.side("against") if against is None else against
    given = {**record.here, "identical": record.call["identical"], **record.call["options"], **options}
    return pairs(_source(record, source), method=record.method, against=other, **given)


def _leaks(record: Recorded, source: Any, against: Any, options: Mapping[str, Any]) -> Leaks:
    evals = record.benchmarks() if against is None else against
    return leaks(_source(record, source), evals, **{**record.call["options"], **options})


def _mirrors(record: Recorded, source: Any, against: Any, options: Mapping[str, Any]) -> Mirrors:
    if against is not None:
        raise SourceError(f"{record.home}: mirrors are not sought against others", hint="Leave against out.")
    call, recipe, clusters = record.call, record.call["recipe"], record.side("clusters")
    method = call["method"]
    return mirrors(
        _source(record, source),
        thresholds=MirrorThresholds(**call["thresholds"]),
        recipe=None if recipe is None else _canonical(recipe),
        method=method_of(method) if isinstance(method, Mapping) else method,
        clusters=None if clusters is None else clusters[0],
        **{name: call[name] for name in ("prefer", "alternatives")},
        **{**call["options"], **options},
    )


_AGAIN: Mapping[str, Callable[[Recorded, Any, Any, Mapping[str, Any]], Any]] = {
    "dedup": _dedup,
    "pairs": _pairs,
    "leaks": _leaks,
    "mirrors": _mirrors,
}


def _source(record: Recorded, source: Any) -> Any:
    return record.side("source") if source is None else source


def recorded(output: str | Path) -> Recorded:
    """What an output says of the call that made it.

    Args:
        output: The folder or file.

    Raises:
        SourceError: It does not say so.
    """
    with at_hand(output) as place:
        home = os.fspath(output)
        about = _about(place, home)
    if "source" not in about.get("call", {}):
        hint = "Run the command by hand: outputs of older versions do not, nor do those of other commands."
        raise SourceError(f"{home} does not record the call that made it", hint=hint)
    return Recorded(home, about["call"], about.get("recipe", {}), about.get("written", {}))


def _about(place: Path, home: str) -> Mapping[str, Any]:
    """Call, recipe and how it was written."""
    if os.path.isdir(place):  # noqa: PTH112  (a name that no file can have is no error)
        return _of_folder(place, home)
    if not os.path.exists(place):  # noqa: PTH110  (likewise)
        raise SourceError(f"{home} does not exist", hint=_HINT)
    for schema_of in (_parquet_schema, _arrow_schema):
        with suppress(OSError, pa.ArrowException, KeyError, ValueError):
            about: Mapping[str, Any] = json.loads((schema_of(place).metadata or {})[KEY])
            return about
    raise SourceError(f"{home} is a file that does not say how it was made", hint=_HINT)


def _parquet_schema(path: Path) -> pa.Schema:
    with pa.OSFile(os.fsencode(path)) as file:
        return pq.read_schema(file)


def _arrow_schema(path: Path) -> pa.Schema:
    with pa.OSFile(os.fsencode(path)) as file:
        return pa.ipc.open_file(file).schema


def _of_folder(place: Path, home: str) -> Mapping[str, Any]:
    about = dict[str, Any]()
    with suppress(OSError, pa.ArrowException, KeyError, ValueError):
        about |= json.loads((_parquet_schema(place / "sources.parquet").metadata or {})[KEY])
    if about and "evals" in about.get("call", {}):
        return about
    for name in ("stats.json", "_call.json"):  # of Spark's, stats.json says it all; of its pairs, the other one
        with suppress(OSError, ValueError, RecursionError):
            said = json.loads((place / name).read_text("utf-8"))
            return {**said, **about} if about or "call" in said else _nothing_said(home)
    if about:
        hint = "Write the output again, or take stats.json from where it was copied."
        raise SourceError(f"{os.path.join(home, 'stats.json')} cannot be read", hint=hint)  # noqa: PTH118  (a text)
    return _nothing_said(home)


def _nothing_said(home: str) -> Mapping[str, Any]:
    raise SourceError(f"{home} has nothing that says how it was made", hint=_HINT)


def _urls(record: Recorded) -> Any:
    """What made URLs one; None: nothing was said of it.

    Raises:
        SourceError: It was a rule of the caller's own.
    """
    said, home = record.recipe.get("urls"), record.home
    if said is None:
        return None
    if said.get("method") == CanonicalUrl.name:
        return _canonical(said)
    if not is_learnt(said):
        raise SourceError(f"{home} was made with a rule about URLs of your own", hint="Call dedup, which takes it.")
    return UrlRules.of(said, home)


def _canonical(record: Mapping[str, Any]) -> CanonicalUrl:
    return CanonicalUrl(**{name: value for name, value in record.items() if name != "method"})
