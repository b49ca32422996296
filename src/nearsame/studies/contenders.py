"""What can be evaluated: recipes by their names, and the textbooks' five ways; each run in a process of its own.

1. A contender is written as `minhash:threshold=0.7:num_perm=64`: a method and its settings; or a way, as `positions`.
2. Run apart, its time begins when all is loaded: a run over three small documents goes before. Its memory is the peak
   of the process above what it was before the run, the corpus included. Only Linux knows; elsewhere it is left out.
3. What is counted as a candidate is a comparison of two documents in full, or of two codes; identical ones met before.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import feather

from nearsame import arrow, errors
from nearsame.arrow import Rows
from nearsame.clock import Clock, peak_memory
from nearsame.dataclass import dataclass
from nearsame.engines.local import Local
from nearsame.errors import ConfigError, NearSameError, TooManyPairsError
from nearsame.flow import pipeline
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import Question
from nearsame.installation import import_folders
from nearsame.recipes.methods import Method, by_name
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.pairs.exact_baselines import MOST_COMPARED, WAYS
from nearsame.stages.pairs.expand import Groups

__all__ = ["Contender", "Outcome", "contenders", "listed", "reading_of", "run_apart", "run_here"]

_MOST_PAIRS = 50_000_000
_WARM = pa.table(
    {
        "id": ["a", "b", "c"],
        "text": pa.array(["a rose is a rose", "a rose is a rose", "a daisy"], pa.large_string()),
        "url": ["http://example.org/"] * 3,
        "vector": [[1.0, 2.0], [1.0, 2.0], [-2.0, 1.0]],
    }
)


@dataclass(frozen=True)
class Contender:
    """A method, or a way of exact comparison, under the name that the user gave."""

    label: str
    recipe: Method | None = None  # None: the label is a way

    @property
    def of_vectors(self) -> bool:
        """Whether it compares vectors."""
        return self.recipe is not None and self.recipe.of_vectors

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {"label": self.label, "recipe": None if self.recipe is None else self.recipe.record()}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Contender":
        """The contender that a `record` was made of."""
        return cls(record["label"], None if record["recipe"] is None else _of_record(record["recipe"]))


@dataclass(frozen=True)
class Outcome:
    """The pairs that a contender found, and what it took."""

    a: Rows
    b: Rows
    similarity: npt.NDArray[np.float64]
    candidates: int = 0
    false_candidates: int | None = None  # where that is counted
    seconds: float = 0.0
    peak_bytes: int | None = None
    note: str = ""  # why it was not run, if it was not


def contenders(methods: Sequence[Method | str], shingles: Mapping[str, Any]) -> list[Contender]:
    """What the user asks for.

    Args:
        methods: Recipes, or names; `exact` stands for all five ways.
        shingles: Settings of every method given by name that has them.

    Raises:
        ConfigError: There is no such method or setting, or one is given twice.

    Example:
        >>> [contender.label for contender in contenders(["jaccard", "minhash:num_perm=64"], {})]
        ['jaccard', 'minhash:num_perm=64']
    """
    chosen = [contender for method in methods for contender in _parsed(method, shingles)]
    for contender in chosen:
        if contender.recipe is not None and contender.recipe.across_only:
            message = f"method {contender.label!r} compares two sides, but there is only one"
            raise ConfigError(message, hint="Leave it out.")
        if contender.recipe is not None and contender.recipe.of_codes:
            message = f"method {contender.label!r} is about codes, and evaluate reads texts or vectors"
            raise ConfigError(message, hint="Leave it out.")
    labels = [contender.label for contender in chosen]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ConfigError(f"method {twice[0]!r} is given twice", hint="Name each method once.")
    if not chosen:
        raise ConfigError("methods=[] names none", hint="Name one method or more.")
    apart: dict[bool, str] = {}
    for contender in chosen:
        apart.setdefault(contender.of_vectors, contender.label)
    if len(apart) > 1:
        message = f"method {apart[True]!r} compares vectors, and {apart[False]!r} texts"
        raise ConfigError(message, hint="Evaluate them one after the other.")
    return chosen


def _parsed(method: Method | str, shingles: Mapping[str, Any]) -> list[Contender]:
    if not isinstance(method, str):
        changed = method.model_dump(exclude_defaults=True)
        return [Contender(":".join([method.name, *(f"{name}={value}" for name, value in changed.items())]), method)]
    if method == "exact":
        return [Contender(way) for way in WAYS]
    if method in WAYS:
        return [Contender(method)]
    name, *given = method.split(":")
    settings = dict(_setting(method, text) for text in given)
    known = type(by_name(name)).model_fields if name not in WAYS else {}
    shared = {key: value for key, value in shingles.items() if key in known}
    return [Contender(method, by_name(name, **{**shared, **settings}))]


def _setting(method: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"{method!r}: {text!r} is not NAME=VALUE", hint="Write it as in minhash:threshold=0.7.")
    return name.strip().replace("-", "_"), value.strip()


def _of_record(record: Mapping[str, Any]) -> Method:
    settings = dict(record)
    return by_name(settings.pop("method"), **settings)


def run_here(contender: Contender, table: pa.Table, threads: int | None = None) -> Outcome:
    """Run it in this process: no memory is measured."""
    began = time.perf_counter()
    try:
        outcome = _way(contender.label, table) if contender.recipe is None else listed(contender.recipe, table, threads)
    except TooManyPairsError as error:
        return Outcome(*_nothing(), note=f"not run: {error.message}")
    return dataclasses.replace(outcome, seconds=time.perf_counter() - began)


def run_apart(contender: Contender, table: pa.Table, threads: int | None = None) -> Outcome:
    """Run it in a fresh process, with its time and its peak of memory.

    Raises:
        NearSameError: What went wrong there.
    """
    with tempfile.TemporaryDirectory(prefix="nearsame-") as folder:
        source, target = Path(folder, "corpus.arrow"), Path(folder, "pairs.arrow")
        feather.write_feather(table, str(source), compression="uncompressed")
        order = {**contender.record(), "source": str(source), "target": str(target), "threads": threads}
        command = [sys.executable, "-c", "from nearsame.studies.contenders import serve; serve()"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, import_folders()))}
        run = subprocess.run(  # noqa: S603  (this interpreter, with no argument of the user's)
            command, input=json.dumps(order), capture_output=True, text=True, check=False, env=environment
        )
        if run.returncode:
            last = (run.stderr.strip().splitlines() or ["no message"])[-1]
            raise NearSameError(f"{contender.label} ended with status {run.returncode}: {last}")
        reply = json.loads(run.stdout)
        if "error" in reply:
            raise getattr(errors, reply["error"])(reply["message"], hint=reply["hint"])
        pairs = feather.read_table(str(target), memory_map=False)
    columns = (pairs.column(name).to_numpy() for name in ("a", "b", "similarity"))
    return Outcome(*columns, **reply)


def serve() -> None:
    """What the fresh process does: read the order, warm up, run, write the pairs, tell the rest."""
    order = json.load(sys.stdin)
    contender = Contender.of_record(order)
    table = feather.read_table(order["source"], memory_map=False)
    try:
        run_here(contender, _WARM, order["threads"])
        before = _memory(reset=True)
        outcome = run_here(contender, table, order["threads"])
        after = _memory()
    except NearSameError as error:
        json.dump({"error": type(error).__name__, "message": error.message, "hint": error.hint}, sys.stdout)
        return
    peak = None if before is None or after is None else max(0, after - before)
    pairs = pa.table({name: getattr(outcome, name) for name in ("a", "b", "similarity")})
    feather.write_feather(pairs, order["target"], compression="uncompressed")
    reply = {name: getattr(outcome, name) for name in ("candidates", "false_candidates", "seconds", "note")}
    json.dump({**reply, "peak_bytes": peak}, sys.stdout)


def listed(recipe: Method, table: pa.Table, threads: int | None = None, *, most: int | None = None) -> Outcome:
    """All pairs of documents that a recipe finds, as `pairs` lists them, and how many were compared for it.

    Raises:
        TooManyPairsError: There are more than `most`.
    """
    engine = _Counting(threads or 0)
    try:
        corpus = Arrays(reading_of(table, recipe), engine, Keep.parse("first"))
        state = pipeline.prepare(corpus, recipe, Clock(), listing=True)
        groups = Groups(state.corpus.best, mirror=state.step.mirror)
        parts = list(pipeline.join(state, Question(recipe.least, "pairs"), groups, most or _MOST_PAIRS))
    finally:
        engine.close()
    a, b, similarity = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "b", "similarity"))
    order = np.lexsort((b, a))
    num_candidates = engine.room.get("search", {}).get("candidates", engine.num_compared)  # of codes, all looked at
    return Outcome(a[order], b[order], similarity[order], num_candidates)


def reading_of(table: pa.Table, recipe: Method) -> Reading:
    """The reading of documents in memory: `id`, `text` or `vector`, and `url` where that is known."""
    columns = Columns(
        vectors="vector" if recipe.of_vectors else None,
        beside=tuple(name for name in ("url",) if name in table.column_names),
    )
    return Reading(open_parts([table], columns=columns), columns)


class _Counting(Local):
    """The local engine, counting the comparisons of a join."""

    num_compared = 0

    def join(self, meeting: Any, rule: Any) -> Iterator[Any]:
        for part in super().join(meeting, rule):
            self.num_compared += part.work.left_by_places
            yield part


def _way(name: str, table: pa.Table) -> Outcome:
    if name == "characters" and len(table) > MOST_COMPARED:
        compared = len(table) * (len(table) - 1) // 2
        note = f"not run: {compared:,} comparisons or so; a sample may have at most {MOST_COMPARED:,} documents"
        return Outcome(*_nothing(), note=note)
    texts = arrow.strings(table.column("text").combine_chunks())
    equals = WAYS[name](texts)
    pairs = Groups(equals.leaders).within()
    order = np.lexsort((pairs.b, pairs.a))
    return Outcome(pairs.a[order], pairs.b[order], pairs.similarity[order], equals.candidates, equals.false_candidates)


def _nothing() -> tuple[Rows, Rows, npt.NDArray[np.float64]]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def _memory(*, reset: bool = False) -> int | None:
    """The peak of this process's memory in bytes; with `reset` it begins anew. None where it is not known."""
    if reset:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", "ascii")
    return peak_memory()
