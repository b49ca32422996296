"""The texts of all sources of a side stand in columns of one name, where nobody has named it."""

import pyarrow as pa

from nearsame.errors import ColumnError

__all__ = ["COLUMN", "OF_TEXTS", "OneText", "apart"]

OF_TEXTS = ("text", "content")  # hold texts, however those of other sources are called
COLUMN = b"column"  # what a field of RECORDS says: the name of the column that was guessed to hold the texts
_CONTENT = 2  # behind position and id stands what a document is made of


class OneText:
    """Sees that no column is taken for texts beside a source that has others: `year`, where the next has a `text`.

    Columns that are called `text` or `content` hold texts, however those of other sources are called.
    """

    def __init__(self) -> None:
        self._first: dict[bool, tuple[str, str]] = {}

    def require(self, batch: pa.RecordBatch, source: str, *, against: bool = False) -> None:
        """Refuse a batch of RECORDS whose texts stand elsewhere than those of its side before.

        Raises:
            ColumnError: It is such.
        """
        name = dict(batch.schema.field(_CONTENT).metadata or {}).get(COLUMN, b"").decode()
        if not name:
            return
        known, first = self._first.setdefault(against, (name, source))
        if name != known and not {name, known} <= set(OF_TEXTS):
            raise apart(first, known, source, name)


def apart(first: str, known: str | None, source: str, name: str | None) -> ColumnError:
    """What to say of two sources whose texts would be in columns of two names."""
    hint = "Rename one of them, leave files without texts out, or name a column that all have with --text-column."
    return ColumnError(f"the text of {first} would be {known!r}, that of {source} {name!r}", hint=hint)
