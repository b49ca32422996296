"""The frames that a side is made of, before they are one: what is wrong with them, and which columns count.

1. Each frame is looked at on its own: columns that one machine refuses are refused here, by the same errors.
2. Records that could not be read are not documents: they are counted by file, and left out.
3. A text of CSV with U+FFFD was not UTF-8: it is null, so its document stays. Numbers of CSV are numbers where all are.
4. Columns of one name but of several types become strings; the order has to have one type.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.spark.crossing import taken
from nearsame.engines.spark.failures import require_running
from nearsame.engines.spark.files import require_apart
from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.places import as_path
from nearsame.engines.spark.plans import changing, with_file
from nearsame.engines.spark.reading import FILE, Given, is_frame
from nearsame.engines.spark.strings import UNREAD
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ColumnError, SourceError
from nearsame.files.inputs import several
from nearsame.frames.pages import FOUND
from nearsame.frames.types import INTEGERS, NO_TYPE, NUMBERS, as_type, common_type
from nearsame.sources import Columns
from nearsame.sources.columns import Chosen, choose, option_of
from nearsame.sources.delimited_types import DIGITS, LEAST, NO_DIGITS
from nearsame.sources.jsonvalues import WIDE, rounded
from nearsame.sources.memory import in_memory
from nearsame.sources.one_text import apart

__all__ = [
    "ORDERED",
    "SOURCE",
    "FramePart",
    "frames_of",
    "not_finite",
    "part_of",
    "require_one_choice",
    "unread_files",
    "unreadable",
    "widened",
    "with_source",
]

_BESIDE = (UNREAD, FILE)  # what stands beside the columns of a source
_OWN = "nearsame_"  # names that begin with it are ours
SOURCE = "nearsame_source"  # the file that a row stands in
ORDERED = "nearsame_ordered"  # a number that records of archives are in order by
_MOJIBAKE = "\N{REPLACEMENT CHARACTER}"
_NO_SCALARS = ("array<", "map<", "struct<", "vari")
_SPELT = (*NUMBERS, "timestamp", "binary", "interval")  # in another way than one machine does
_UNSIGNED = "decimal(20,0)"  # what Spark makes of unsigned numbers of 64 bits
_PLAIN_SCALE = 6  # of decimals: smaller ones are written with an exponent on one machine


@dataclass(frozen=True, eq=False)
class FramePart:
    """One frame of a side.

    Attributes:
        name: what messages call it.
        frame: its documents, without what could not be read.
        chosen: the columns that count.
        orders: of columns that --keep goes by, the types of their values; void where there are none.
        delimited: whether it comes from CSV.
        unread: of which file how many records could not be read, and why.
        mended: how many texts of CSV are not UTF-8, or vectors are not all of finite numbers.
        ignored: how many files of its folder are of no known format.
        broken: files that cannot be read, and why.
        files: of records of web archives what they stand in: file, size_bytes, mtime_ms.
        paths: these files, in order.
        pages: the same rows where they are pages of archives: with `text` and FOUND, or before layers with the page
            itself as `text`.
        aside: what archives hold that is no document, by what it is, and pages that were `cut`.
    """

    name: str
    frame: Any
    chosen: Chosen
    orders: Mapping[str, str] = field(default_factory=dict)
    delimited: bool = False
    unread: tuple[tuple[str, int, str], ...] = ()
    mended: int = 0
    ignored: int = 0
    broken: tuple[tuple[str, str], ...] = ()
    files: Any = None
    paths: tuple[str, ...] = ()
    pages: Any = None
    aside: Counter[str] = field(default_factory=Counter)

    @property
    def is_archive(self) -> bool:
        """Whether its rows are records of web archives."""
        return self.files is not None

    @property
    def is_of_numbers(self) -> bool:
        """Whether its documents are lists of whole numbers."""
        items = self.chosen.items
        return items is not None and _element(dict(self.frame.dtypes)[items]) in INTEGERS

    @property
    def as_they_came(self) -> bool:
        """Whether these are pages whose texts have still to be taken out."""
        return self.pages is not None and FOUND[0] not in self.pages.columns


def frames_of(session: Any, source: Any, *, strict: bool) -> Iterator[Any]:
    """What of some sources Spark can read: frames, names, and what is in memory here, as frames.

    Raises:
        SourceError: Nothing can be made of one.
    """
    for one in several(source):
        if is_frame(one) or isinstance(one, (str, os.PathLike)):
            if is_frame(one):
                require_running(one.sparkSession)
            yield one
            continue
        for part in in_memory(one, None, strict=strict):
            yield taken(session, part.table, part.name)


def part_of(given: Given, columns: Columns, *, numbers: Collection[str] = (), strict: bool = False) -> FramePart:
    """A frame, looked at.

    Args:
        given: The frame.
        columns: The columns that are asked for.
        numbers: Columns of --keep that hold numbers where their texts are all numbers.
        strict: Whether a text that cannot be read is an error.

    Raises:
        ColumnError: It lacks a column, or has one of a type that cannot be read, or names that cannot be told apart.
        SourceError: With `strict`, a text was not UTF-8; or the frame has no end, or other rows each time.
    """
    _require_steady(given)
    types = {name: kind for name, kind in given.frame.dtypes if name not in _BESIDE or not given.kind}
    _require_names(list(types), given.name)
    strings = [name for name, kind in types.items() if _is_text(kind)]
    chosen = choose(columns, list(types), strings, given.name)
    given, types = _typed(given, chosen, types)
    _require_types(chosen, types, given.name, columns)
    orders = {name: types[name] for name in chosen.order}
    part = FramePart(given.name, given.frame, chosen, orders, given.delimited)
    part = replace(part, ignored=given.ignored, broken=given.broken)
    if chosen.vectors is not None:
        part = replace(part, mended=given.frame.filter(not_finite(quoted(chosen.vectors))).count())
    part = _counted(part, numbers, columns.exact) if UNREAD in given.frame.columns or given.delimited else part
    if given.kind == "jsonl" and orders.get(columns.exact or "") == "double":
        _require_exact(given, str(columns.exact))
    if strict and part.mended:
        raise SourceError(f"{given.name}: {unreadable(part)}", hint="Fix them, or leave out strict.")
    if UNREAD in given.frame.columns:
        part = replace(part, frame=given.frame.filter(f"{UNREAD} is null").drop(*_BESIDE))
    return part


def _typed(given: Given, chosen: Chosen, types: dict[str, str]) -> tuple[Given, dict[str, str]]:
    """The same, where texts or ids of a wrong type have none if there are none: pandas calls such columns numbers."""
    for name, odd in ((chosen.text, lambda kind: not _holds_texts(kind)), (chosen.id, _is_spelt)):
        if name is not None and odd(types[name]) and given.frame.filter(f"{quoted(name)} is not null").isEmpty():
            given = replace(given, frame=given.frame.withColumn(name, Verbs.expression("null")))
            types = types | {name: NO_TYPE}
    return given, types


def _require_steady(given: Given) -> None:
    """Refuse a stream, and rows that are others when they are read again."""
    if given.frame.isStreaming:
        hint = "Decide about what has come so far: write it to files, or use foreachBatch with an index."
        raise SourceError(f"{given.name} is a stream, which has no end", hint=hint)
    what = changing(given.frame)
    if what is not None:
        message = f"{given.name} has {what}, so its rows differ each time they are read"
        raise SourceError(message, hint="Persist it, write it to files first, or add that column to what stays.")


def _require_exact(given: Given, name: str) -> None:
    """Refuse groups of numbers in JSON that are rounded as they come."""
    if not given.frame.filter(f"abs({quoted(name)}) >= {WIDE}D").isEmpty():
        raise rounded(name, given.name)


def unreadable(part: FramePart) -> str:
    """What is wrong with documents that stay because they say nothing."""
    if part.chosen.vectors is not None:
        return f"{part.mended:,} vectors hold null, NaN or infinity"
    return f"{part.mended:,} texts are not UTF-8"


def unread_files(part: FramePart) -> Iterator[tuple[str, int, str]]:
    """Files of which something was left out: how many records, and why; a file that cannot be read at all is one."""
    yield from part.unread
    for name, reason in part.broken:
        yield name, 1, reason


def not_finite(vector: str) -> str:
    """Whether a vector holds something else than finite numbers, in SQL."""
    return f"exists({vector}, x -> x is null or isnan(x) or abs(x) = double('inf'))"


def _counted(part: FramePart, numbers: Collection[str], exact: str | None) -> FramePart:
    """What one must read all of a file to know: what in it is unreadable, and which orders are of numbers."""
    readable = f"{UNREAD} is null" if UNREAD in part.frame.columns else "true"
    another = next((name for name in part.frame.columns if name not in _BESIDE), None)  # Spark wants it beside UNREAD
    sums = [f"count({UNREAD})" if UNREAD in part.frame.columns else "0L"]
    sums.append("count(1)" if another is None else f"count({quoted(another)})")
    text = part.chosen.text if part.delimited else None
    sums.append("0L" if text is None else f"count_if({readable} and contains({quoted(text)}, '{_MOJIBAKE}'))")
    texts = [name for name in part.chosen.order if part.delimited and part.orders[name] == "string"]
    orders = [name for name in texts if name in numbers]  # what names of folders say has a type
    for name in orders:
        given = f"{readable} and {quoted(name)} <> ''"
        tests = (_GROUPS if name == exact else _TYPES).values()
        others = [f"{given} and not coalesce({test.format(quoted(name))}, false)" for test in tests]
        sums += [f"count_if({condition})" for condition in (given, *others)]
    told = FILE in part.frame.columns
    frame, plain = (part.frame, str) if told else (with_file(part.frame, FILE), as_path)
    rows = [tuple(row) for row in Verbs.aggregated(frame, [FILE], sums).collect()]
    totals = [sum(column) for column in list(zip(*rows, strict=True))[1:]] or [0] * len(sums)
    unread = tuple(sorted((plain(row[0]) if row[0] else part.name, row[1], _said(row[1])) for row in rows if row[1]))
    kinds, each = dict(part.orders), 1 + len(_TYPES)
    for at, name in enumerate(orders):
        given_values, *others = totals[3 + each * at : 3 + each * (at + 1)]
        number = next((kind for kind, failed in zip(_TYPES, others, strict=True) if not failed), kinds[name])
        kinds[name] = number if given_values else NO_TYPE
    return replace(part, unread=unread, mended=totals[2], orders=kinds)


_DOUBLE, _WHOLE = "try_cast({0} as double)", "try_cast({0} as decimal(20,0))"
_NUMBER = (  # in SQL, as one machine reads it: Java takes 5d, 0x1p3 and a blank before for one, too
    f"{_DOUBLE} is not null and instr({{0}}, chr(10)) = 0"
    " and {0} rlike '^[-+]?([A-Za-z]+|([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?)$'"
)
_SIGNIFICANT = reduce(lambda text, pattern: f"regexp_replace({text}, '{pattern}', '')", NO_DIGITS, "{0}")
_TOLD_APART = (  # as `are_told_apart` of one machine has it
    f"length({_SIGNIFICANT}) <= {DIGITS}"
    f" and ({_SIGNIFICANT} = '' or (abs({_DOUBLE}) >= {LEAST}D and abs({_DOUBLE}) < double('inf')))"
)
_TYPES = {  # of the cells of a file without types the type of the first condition that all fulfil
    "bigint": "try_cast({0} as bigint) is not null and {0} rlike '^-?[0-9]+$' and instr({0}, chr(10)) = 0",
    "decimal(20,0)": f"{_WHOLE} <= 18446744073709551615 and {{0}} rlike '^[0-9]+$' and instr({{0}}, chr(10)) = 0",
    "double": _NUMBER,
}
_GROUPS = {**_TYPES, "double": f"{_NUMBER} and {_TOLD_APART}"}


def _said(number: int) -> str:
    return f"{number:,} {'record is' if number == 1 else 'records are'} not readable"


def _require_names(names: Sequence[str], source: str) -> None:
    """Refuse names that Spark takes for one, and those that are ours."""
    require_apart(names, source)
    variables = [name for name in names if "${" in name]
    if variables:
        message = f"{source} has a column {variables[0]!r}, in whose name Spark's SQL sees a variable"
        raise ColumnError(message, hint="Rename it.")
    ours = [name for name in names if name.lower().startswith(_OWN)]
    if ours:
        message = f"{source} has a column {ours[0]!r}: names that begin with {_OWN} are nearsame's own"
        raise ColumnError(message, hint="Rename it.")


def _is_text(kind: str) -> bool:
    return kind.startswith(("string", "varchar", "char"))


def _require_types(chosen: Chosen, types: dict[str, str], source: str, columns: Columns) -> None:
    """Refuse columns of types that cannot be read as what they are named for."""
    for name, option, what, fits in (
        (chosen.text, option_of(columns, "text"), "text", _holds_texts),
        (chosen.id, option_of(columns, "id"), "a scalar", lambda kind: not kind.startswith(_NO_SCALARS)),
        (chosen.items, "--features-column", "a list of strings or integers", _holds_items),
        (chosen.vectors, "--vector-column", "a list of numbers", _holds_numbers),
    ):
        if name is not None and not fits(types[name]):
            hint = {"text": f"Choose a string column with {option}.", "a scalar": f"Choose another {option}."}
            message = f"{source}: column {name!r} is {types[name]}, not {what}"
            raise ColumnError(message, hint=hint.get(what, f"Choose a list column with {option}."))
    if chosen.id is not None and _is_spelt(types[chosen.id]):
        message = f"{source}: column {chosen.id!r} is {types[chosen.id]}, which Spark spells in its own way"
        raise ColumnError(message, hint=f"Cast it to string first, or choose another {option_of(columns, 'id')}.")


def _is_spelt(kind: str) -> bool:
    """Whether Spark writes values in another way than one machine does, or may."""
    if kind.startswith("decimal"):
        return int(kind.partition(",")[2].rstrip(")") or 0) > _PLAIN_SCALE
    return kind.startswith(_SPELT)


def _holds_texts(kind: str) -> bool:
    return _is_text(kind) or kind in ("binary", NO_TYPE)


def _holds_items(kind: str) -> bool:
    inner = _element(kind)
    return _is_text(inner) or inner in (*INTEGERS, _UNSIGNED, NO_TYPE)


def _holds_numbers(kind: str) -> bool:
    return kind == NO_TYPE or _element(kind) in (*INTEGERS, *NUMBERS)


def _element(kind: str) -> str:
    return kind.removeprefix("array<").removesuffix(">") if kind.startswith("array<") else ""


def require_one_choice(parts: Sequence[FramePart]) -> None:
    """Refuse frames of one side whose texts stand in columns of different names.

    Raises:
        ColumnError: They do.
    """
    first = parts[0]
    for part in parts[1:]:
        if part.chosen.text != first.chosen.text:
            raise apart(first.name, first.chosen.text, part.name, part.chosen.text)


def widened(parts: Sequence[FramePart], columns: Columns) -> list[FramePart]:
    """The parts with the same columns of the same types, so that they can be one frame."""
    lists = {columns.items: "array<string>", columns.vectors: "array<double>"}
    types: dict[str, list[str]] = {}
    for part in parts:
        for name, kind in part.frame.dtypes:
            types.setdefault(name, []).append(kind)
    _require_names(
        [name for name in types if name != ORDERED], " and ".join(dict.fromkeys(part.name for part in parts))
    )
    common = {
        name: lists[name]
        if name in lists and len(set(kinds)) > 1
        else common_type(kinds, is_order=name in columns.order)
        for name, kinds in types.items()
    }
    if all(dict(part.frame.dtypes) == common for part in parts):
        return [replace(part, frame=part.frame.selectExpr(*map(quoted, common))) for part in parts]
    return [replace(part, frame=part.frame.selectExpr(*_selected(part, common))) for part in parts]


def _selected(part: FramePart, common: dict[str, str]) -> list[str]:
    there = dict(part.frame.dtypes)
    values = {name: as_type(quoted(name), there[name], kind) for name, kind in common.items() if name in there}
    return [
        quoted(name) if there.get(name) == kind else f"{values.get(name, f'cast(null as {kind})')} as {quoted(name)}"
        for name, kind in common.items()
    ]


def with_source(frame: Any, *, is_archive: bool) -> Any:
    """The frame of a part, and in SOURCE the file that each row stands in; null where Spark does not tell."""
    return frame.withColumn(SOURCE, frame["file"]) if is_archive else with_file(frame, SOURCE)
