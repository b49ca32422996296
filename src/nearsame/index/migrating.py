"""An index of another version, rebuilt by this one in its place, from the texts that it stores.

1. The settings stay what they were, but for the versions of how texts are cut and hashed.
2. Ids, URLs, columns, texts and the order of documents stay. Whom a document resembles is decided again.
3. Nobody else may write meanwhile; that somebody did is noticed, and then nothing is replaced.
"""

import zlib
from collections.abc import Iterator
from contextlib import closing

from nearsame import stores
from nearsame.clock import Progress
from nearsame.dataclass import dataclass
from nearsame.errors import IndexMismatchError, StoreBusyError
from nearsame.index.building import build, room_for
from nearsame.index.columns import read_kept
from nearsame.index.documents import BATCH_ROWS
from nearsame.index.facet import Facets, Input
from nearsame.index.recipe import is_current, shown_recipes, updated, written
from nearsame.index.shelves import behind
from nearsame.stores.base import Reader, Row, Store

__all__ = ["migrate"]


@dataclass(frozen=True)
class _Stored:
    """The documents of an index, as a source of another."""

    store: Store
    facets: Facets
    progress: Progress

    def __iter__(self) -> Iterator[list[Input]]:
        after = 0
        while rows := self._page(after):
            after = rows[-1].number
            inputs = [self._input(row) for row in rows]
            self.progress.add(len(inputs), sum(len(document.text or b"") for document in inputs))
            yield inputs

    def _page(self, after: int) -> list[Row]:
        with self.store.reading() as reader:  # each alone: a server ends a transaction that does nothing for long
            return reader.page(after, BATCH_ROWS, text=True)

    def _input(self, row: Row) -> Input:
        return Input(row.id, row.url, zlib.decompress(row.text or b""), columns=behind(self.facets, row.items))

    def skip_repeated(self, id_: str) -> None:
        """No id is there twice."""


def migrate(where: str, *, timeout_seconds: float, progress: Progress) -> bool:
    """Rebuild an index if another version made it; returns whether one did.

    Raises:
        IndexMismatchError: It stores no texts, or its settings cannot be read.
        StoreBusyError: Somebody else writes to it.
    """
    with closing(stores.open_store(where, read_only=True, timeout_seconds=timeout_seconds)) as old:
        if is_current(old.settings, old.name):
            return False
        facets, kind = updated(old.settings, old.name)
        if kind != "text":
            message = f"{old.name} stores {kind}, and it can be rebuilt from stored texts only"
            hint = f"Create it again from its source (--from SOURCE --overwrite), with {shown_recipes(facets, kind)}."
            raise IndexMismatchError(message, hint=hint)
        settings = written(facets, kind, read_kept(old.settings))
        new = stores.create_store(where, settings, overwrite=True, timeout_seconds=timeout_seconds)
        with closing(new):
            settled = old.settled()
            with old.reading() as reader:
                before, which = reader.counts(), reader.which()
            _require(old.name, is_same=settled in (None, before["next"] - 1))  # else somebody is writing
            build(new, facets, kind, _Stored(old, facets, progress), room_for(None))
            old.close()

            def require_same(reader: Reader) -> None:
                _require(old.name, is_same=(reader.counts(), reader.which()) == (before, which))

            new.publish(require_same)
    return True


def _require(name: str, *, is_same: bool) -> None:
    if not is_same:
        message = f"{name} changed while it was rebuilt; nothing was replaced"
        raise StoreBusyError(message, hint="Run it again while nothing writes to it.")
