"""The texts of all sources of a side stand in columns of one name, where nobody has named it."""

import pyarrow as pa

from nearsame.errors import ColumnError

__all__ = ["COLUMN", "OF_TEXTS", "ONE_TEXT", "OneText"]

OF_TEXTS = ("text", "content")  # hold texts, however those of other sources are called
COLUMN = b"column"  # what a field of RECORDS says: the name of the column that was guessed to hold the texts
ONE_TEXT = "Rename one of them, leave files without texts out, or name a column that all have with --text-column."
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
            message = f"the text of {first} would be {known!r}, that of {source} {name!r}"
            raise ColumnError(message, hint=ONE_TEXT)
