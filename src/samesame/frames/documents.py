"""DataFrames of any columns to documents that can be told apart: which columns count, and what a row is called.

1. A DataFrame has no order and its partitions may be computed again, so a row is called by its content: 63 bits of a
   hash of its side and all its columns. Another hash beside it shows if two different rows got one name; then
   all are named anew with another salt.
2. Rows that are the same in every column are one document with a number of copies.
3. Columns that Spark cannot hash (maps, variants) do not tell rows apart.
"""

from dataclasses import dataclass, replace
from typing import Any

from samesame.errors import SourceError
from samesame.sources import Columns
from samesame.sources.columns import choose

__all__ = ["CARRIED", "Side", "content_of", "require_one_length"]

CARRIED = ("fp", "side", "id", "ord")  # beside the features of a document; ord only where an order is asked for
_UNHASHED = ("map<", "variant", "interval", "void", "geometry")


@dataclass(frozen=True, eq=False)
class Side:
    """The documents of one side.

    Attributes:
        number: 0 for the `against` side, else 1.
        frame: as it was given.
        columns: which columns count.
    """

    number: int
    frame: Any
    columns: Columns

    def named(self, salt: int) -> Any:
        """The frame with `samesame_row` and `samesame_fp`, the hashes of each row's content."""
        names = [_quoted(name) for name, kind in self.frame.dtypes if not any(part in kind for part in _UNHASHED)]
        told = ", ".join([*names, *(f"{name} is null" for name in names)])
        row = f"xxhash64({salt}, {self.number}, {told}) & 9223372036854775807 as samesame_row"
        return self.frame.selectExpr("*", row, f"xxhash64({salt + 1}, {self.number}, {told}) as samesame_fp")

    def documents(self, salt: int) -> Any:
        """What the stages need of each row: row, content, and CARRIED."""
        types = dict(self.frame.dtypes)
        strings = [name for name, kind in types.items() if kind.startswith(("string", "varchar", "char"))]
        without = self.number == 0 and self.columns.order not in self.frame.columns  # they all stay
        columns = replace(self.columns, order=None) if without else self.columns
        chosen = choose(columns, self.frame.columns, strings, "the DataFrame")
        name, kind = content_of(self.columns)
        found = f"cast({_quoted(chosen.vectors or chosen.items or chosen.text or '')} as {kind})"
        if name == "vector":  # one that holds something else than finite numbers says nothing
            found = f"if(exists({found}, x -> x is null or isnan(x) or abs(x) = double('inf')), null, {found})"
        return self.named(salt).selectExpr(
            "samesame_row as row",
            f"{found} as {name}",
            "samesame_fp as fp",
            f"{self.number} as side",
            "cast(null as string) as id" if chosen.id is None else f"cast({_quoted(chosen.id)} as string) as id",
            *([] if self.columns.order is None else [f"{_quoted(chosen.order) if chosen.order else 'null'} as ord"]),
        )


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


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
