"""DataFrames of any columns to documents that can be told apart: which columns count, and what a row is called.

1. A DataFrame has no order and its partitions may be computed again, so a row is called by its content: 63 bits of a
   hash of its side and all its columns. Another hash beside it shows if two different rows got one name; then
   all are named anew with another salt.
2. Rows that are the same in every column are one document with a number of copies.
3. What Spark's hash cannot tell apart (nulls and limits within nested values) is hashed as what tells it: JSON, sizes.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from nearsame.errors import SourceError
from nearsame.frames.parts import Part, not_finite, quoted
from nearsame.sources import Columns

__all__ = ["CARRIED", "STAY", "Side", "content_of", "require_one_length"]

CARRIED = ("fp", "side", "bad", "id", "ord")  # beside a document's features; ord only where an order is asked for
STAY = "these documents stay, and are compared with nothing"
_PLAIN = frozenset(
    {"byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "binary", "date"}
    | {"timestamp", "timestamp_ntz", "char", "varchar", "tinyint", "smallint", "int", "bigint"}
)
_JSON = "map('ignoreNullFields', 'false')"


@dataclass(frozen=True, eq=False)
class Side:
    """The documents of one side.

    Attributes:
        number: 0 for the `against` side, else 1.
        parts: the frames that were given, with the same columns.
        columns: which columns count.
        order: the type in which the order is compared; None: as it is.
    """

    number: int
    parts: tuple[Part, ...]
    columns: Columns
    order: str | None = None

    @cached_property
    def frame(self) -> Any:
        """All parts as one."""
        return reduce(lambda one, other: one.union(other), (part.frame for part in self.parts))

    def named(self, salt: int) -> Any:
        """The frame with `nearsame_row` and `nearsame_fp`, the hashes of each row's content."""
        return self._named(self.frame, salt)

    def documents(self, salt: int) -> Any:
        """What the stages need of each row: row, content, and CARRIED."""
        return reduce(lambda one, other: one.union(other), (self._documents(part, salt) for part in self.parts))

    def _named(self, frame: Any, salt: int) -> Any:
        told = ", ".join(each for field in frame.schema.fields for each in _told(quoted(field.name), field.dataType))
        row = f"xxhash64({salt}, {self.number}, {told}) & 9223372036854775807 as nearsame_row"
        return frame.selectExpr("*", row, f"xxhash64({salt + 1}, {self.number}, {told}) as nearsame_fp")

    def _documents(self, part: Part, salt: int) -> Any:
        chosen = part.chosen
        return self._named(part.frame, salt).selectExpr(
            "nearsame_row as row",
            f"{_content(part, self.columns)} as {content_of(self.columns)[0]}",
            "nearsame_fp as fp",
            f"{self.number} as side",
            f"{_is_bad(part, self.columns)} as bad",
            "cast(null as string) as id" if chosen.id is None else f"cast({quoted(chosen.id)} as string) as id",
            *([] if self.columns.order is None else [f"{self._order(part)} as ord"]),
        )

    def _order(self, part: Part) -> str:
        if part.chosen.order is None:
            return f"cast(null as {self.order or 'bigint'})"
        value, kind = quoted(part.chosen.order), dict(part.frame.dtypes)[part.chosen.order]
        if self.order is not None and self.order != kind:
            value, kind = f"try_cast({value} as {self.order})", self.order
        return f"if(isnan({value}), null, {value})" if kind in ("float", "double") else value  # NaN has no place


def _content(part: Part, columns: Columns) -> str:
    """What a document is made of, null where it cannot be read."""
    chosen, (name, kind) = part.chosen, content_of(columns)
    column = quoted(chosen.vectors or chosen.items or chosen.text or "")
    found = f"cast({column} as {kind})"
    if name == "vector":  # one that holds something else than finite numbers says nothing
        return f"if({not_finite(found)}, null, {found})"
    if name == "items":  # an item that is null says nothing about its document
        return f"array_compact({found})"
    readable = f"is_valid_utf8({found})"
    if part.delimited:  # Spark has put this in the place of what was none
        readable = f"not contains({found}, '\N{REPLACEMENT CHARACTER}')"
    return f"if({readable} and octet_length({found}) <= {columns.max_record}, {found}, null)"


def _is_bad(part: Part, columns: Columns) -> str:
    """Whether a text is too long, or no UTF-8 where nobody has counted that."""
    if content_of(columns)[0] != "text":
        return "false"
    text = f"cast({quoted(part.chosen.text or '')} as string)"
    broken = "false" if part.delimited else f"not is_valid_utf8({text})"
    return f"coalesce({broken} or octet_length({text}) > {columns.max_record}, false)"


def _told(name: str, kind: Any) -> list[str]:
    """What is hashed of a column, so that values that differ do so there, too."""
    what, null = kind.typeName(), f"{name} is null"
    if what == "void":
        return [null]
    if what == "array" and kind.elementType.typeName() == "void":
        return [f"size({name})", null]
    if what == "array" and _is_plain(kind.elementType):
        return [name, f"size({name})", f"transform({name}, x -> x is null)", null]
    if _is_plain(kind):
        return [name, null]
    if what == "string":  # of a collation: what is equal there is not the same
        return [f"cast({name} as binary)", null]
    return [f"cast({name} as string)" if what.endswith("interval") else f"to_json(struct({name}), {_JSON})", null]


def _is_plain(kind: Any) -> bool:
    """Whether Spark's hash tells its values apart."""
    return kind.typeName() in _PLAIN or kind.simpleString() == "string"


def require_one_length(documents: Any) -> None:
    """Refuse vectors of several lengths.

    Raises:
        SourceError: There are some.
    """
    lengths = documents.filter("size(vector) > 0").selectExpr("min(size(vector)) as least", "max(size(vector)) as most")
    least, most = lengths.first()
    if least != most:
        message = f"the DataFrame has vectors of {least} and of {most} numbers"
        raise SourceError(message, hint="Give vectors of one length, from one model.")


def content_of(columns: Columns) -> tuple[str, str]:
    """What documents are made of: the column that stages read, and its type."""
    if columns.vectors is not None:
        return "vector", "array<double>"
    return ("items", "array<string>") if columns.items is not None else ("text", "string")
