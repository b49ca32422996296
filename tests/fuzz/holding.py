"""A case run, and held to the truth: what differs, in words; and what was missed where something may be."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import nearsame as ns
from nearsame.engines import space
from tests.fuzz.cases import Case
from tests.fuzz.filters import without
from tests.fuzz.truths import Truth, truth

__all__ = ["Outcome", "held", "shrunk"]

_TYPES = {"text": pa.string(), "items": pa.list_(pa.string()), "vector": pa.list_(pa.float64())}
_LEAST = 40_000  # bytes to give where memory is tight


@dataclass(frozen=True)
class Outcome:
    """What came of a case: what is wrong, and of the pairs that may be missed, how many there are and were missed."""

    wrong: str = ""
    chances: int = 0
    expected: float = 0.0
    missed: int = 0


def held(case: Case) -> Outcome:
    """Run a case, and compare."""
    try:
        with tempfile.TemporaryDirectory() as home, tightly(case), without(case.off):
            expected = truth(case)
            if case.question == "dedup":
                return Outcome(_of_dedup(case, expected, Path(home)))
            return _of_pairs(case, expected, Path(home))
    except Exception as error:  # noqa: BLE001  (whatever a run dies of is what was looked for)
        return Outcome(f"{type(error).__name__}: {error}")


def shrunk(case: Case) -> Case:
    """The same with as few documents as still go wrong."""
    step = max(1, len(case.documents) // 2)
    while step:
        row = 0
        while row < len(case.documents):
            less = case
            for _ in range(min(step, len(case.documents) - row)):
                less = less.without(row)
            if held(less).wrong:
                case = less
            else:
                row += step
        step //= 2
    return case


def _of_dedup(case: Case, expected: Truth, home: Path) -> str:
    found = ns.dedup(**sources_of(case, home), method=case.method, audit=False, **case.asked, **settings_of(case))
    wrong = _removals(case, expected, found)
    if wrong or case.higher is None:
        return wrong
    above = replace(case, recipe={**case.recipe, "threshold": case.higher})
    if "jaccard_floor" in case.recipe and Fraction(case.recipe["jaccard_floor"]) >= Fraction(case.higher):
        return ""
    wrong = _removals(above, truth(above), found.at(threshold=case.higher))
    return wrong and f"at(threshold={case.higher}): {wrong}"


def _removals(case: Case, expected: Truth, found: Any) -> str:
    told = {}
    for line in found.removals.to_pylist():
        row, witness = (row_of(case, line[f"{who}source"], line[f"{who}row"]) for who in ("", "witness_"))
        told[row] = (witness, line["similarity"])
    judged = len(case.documents) - case.first
    counts = (found.stats.documents, found.stats.removed, found.stats.kept)
    if counts != (len(case.documents), len(told), judged - len(told)):
        return f"documents, removed, kept are counted as {counts}"
    if is_free(case, expected):
        return _unfounded(case, expected, told)
    wanted = {row: (witness, float(value)) for row, (witness, value) in expected.removed().items()}
    return _difference("removed", told, wanted)


def is_free(case: Case, expected: Truth) -> bool:
    return not expected.exact or case.recipe.get("verify") == "estimate"


def _unfounded(case: Case, expected: Truth, told: dict[int, tuple[int, float]]) -> str:
    """What contradicts the truth, where a method may miss pairs: a witness that is none."""
    place = {row: number for number, row in enumerate(expected.ranked)}
    keys = expected.keys
    for row, (witness, similarity) in told.items():
        if row < case.first or witness in told or place[witness] >= place[row]:
            return f"{row} is removed for {witness}, which does not stay or does not come before it"
        if not expected.within and witness >= case.first:
            return f"{row} is removed for {witness} of its own side"
        wanted = 1.0 if keys[row] == keys[witness] else _value(expected, row, witness)
        if case.recipe.get("verify") == "estimate":
            wrong = _no_estimate(case, similarity)
            if wrong or not expected.also(row, witness):
                return f"{row} is removed for {witness}: {wrong or 'not confirmed'}"
        elif wanted != similarity:
            return f"{row} is removed for {witness} at {similarity}, which are {wanted}"
    kept = [keys[row] for row in range(case.first, len(keys)) if row not in told and keys[row] is not None]
    several = [key for number, key in enumerate(kept) if key in kept[:number]]
    if several and expected.within:
        return f"of equal documents several are kept: {several[0]!r}"
    return ""


def _value(expected: Truth, a: int, b: int) -> float | None:
    found = expected.similar.get((min(a, b), max(a, b)))
    return None if found is None else float(found)


def _no_estimate(case: Case, similarity: float) -> str:
    """An estimate is a share of the values of a signature, and reaches the threshold."""
    num = case.recipe.get("num_perm", 128)
    share = Fraction(round(similarity * num), num)
    if float(share) != similarity:
        return f"{similarity} is no share of {num} values"
    least = Fraction(case.recipe["threshold"])
    return "" if share >= least else f"{share} is below {least}"


def _of_pairs(case: Case, expected: Truth, home: Path) -> Outcome:
    identical = {"identical": "star"} if case.question == "star" else {}
    found = ns.pairs(**sources_of(case, home), method=case.method, audit=False, **identical, **settings_of(case)).table
    told = {}
    for line in found.to_pylist():
        a, b = (row_of(case, line[f"{who}_source"], line[f"{who}_row"]) for who in "ab")
        if (a, b) in told or a >= b:
            return Outcome(f"the pair {(a, b)} stands twice, or the wrong way round")
        told[a, b] = line["similarity"]
    wanted = {pair: float(value) for pair, value in expected.pairs().items()}
    if case.recipe.get("verify") == "estimate":
        wrong = (_no_estimate(case, similarity) for similarity in told.values())
        wrong_pairs = (f"{pair} is not confirmed" for pair in told if not expected.also(*pair))
        return Outcome(next(filter(None, (*wrong, *wrong_pairs)), ""))
    if expected.exact:
        return Outcome(_difference("pairs", told, wanted))
    false = {pair: value for pair, value in told.items() if wanted.get(pair) != value}
    if false:
        return Outcome(f"pairs that are none: {_difference('pairs', false, wanted)}")
    return _missed(case, expected, told, wanted)


def _missed(case: Case, expected: Truth, told: dict[Any, float], wanted: dict[Any, float]) -> Outcome:
    """Of pairs of distinct documents, those that a method may miss: each with at most the chance that it promises."""
    distinct = {pair for pair in wanted if expected.keys[pair[0]] != expected.keys[pair[1]]}
    if len(wanted) - len(distinct) > sum(pair in told for pair in wanted.keys() - distinct):
        return Outcome("a pair of equal documents is missing")
    recall = case.method.recall if "recall" in type(case.method).model_fields and "bands" not in case.recipe else None
    if recall is None:
        return Outcome()
    missed = sum(pair not in told for pair in distinct)
    return Outcome("", len(distinct), len(distinct) * (1 - recall), missed)


def _difference(what: str, told: dict[Any, Any], wanted: dict[Any, Any]) -> str:
    if told == wanted:
        return ""
    keys = sorted(key for key in told.keys() | wanted.keys() if told.get(key) != wanted.get(key))
    return f"{what}: " + "; ".join(f"{key} is {told.get(key)}, not {wanted.get(key)}" for key in keys[:4])


def row_of(case: Case, source: str, row: int) -> int:
    """The number of a document by what the tables call it."""
    name = Path(source).name.partition(".")[0]
    side, _, number = name.partition("-")
    first = 0 if side == "against" else case.first
    size = case.first if side == "against" else len(case.documents) - case.first
    return first + row + (size // 2 if number == "1" else 0)


def sources_of(case: Case, home: Path) -> dict[str, Any]:
    """What is read: both sides, in memory or in files."""
    both = {"source": _side(case, home, "source", case.first, len(case.documents))}
    if case.num_against is not None:
        both["against"] = _side(case, home, "against", 0, case.num_against)
    return both | ({"features_column": "items"} if case.kind == "items" else {})


def _side(case: Case, home: Path, name: str, start: int, end: int) -> Any:
    columns = {"id": pa.array(case.ids, pa.string()), case.kind: pa.array(case.documents, _TYPES[case.kind])}
    whole = pa.table(columns | {column: pa.array(values, pa.int64()) for column, values in case.columns.items()})
    table = whole.slice(start, end - start)
    if case.layout == "memory" or not len(table):
        return table
    half = len(table) // 2 if case.layout == "two" else 0
    pieces = [table.slice(0, half), table.slice(half)] if half else [table]
    paths = []
    for number, piece in enumerate(pieces):
        suffix = "parquet" if case.layout == "parquet" else "jsonl"
        path = home / f"{name}-{number}.{suffix}"
        if suffix == "parquet":
            pq.write_table(piece, path, row_group_size=3)
        else:
            lines = "".join(json.dumps(record) + "\n" for record in piece.to_pylist())
            path.write_text(lines, "utf-8")
        paths.append(str(path))
    return tuple(paths)


def settings_of(case: Case) -> dict[str, Any]:
    return case.how | ({"memory": _LEAST} if case.tight else {})


@contextlib.contextmanager
def tightly(case: Case) -> Iterator[None]:
    """Next to no memory, where the case wants that: features, keys and large arrays go to files."""
    if not case.tight:
        yield
        return
    names = ("_BASE_BYTES", "_THREAD_BYTES", "_BATCH_BYTES", "_DOCUMENT_BYTES")
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(space, name, 0))
        stack.enter_context(mock.patch.object(space, "CHUNK_BYTES", 3_000))
        yield
