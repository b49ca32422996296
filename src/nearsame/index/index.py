"""A persistent index: documents go in, and it says which of them a text resembles, and how much.

1. One call is one transaction: all of it is durable when it returns, or nothing happened. A source is read in batches,
   a transaction each.
2. Everything that takes time is done before a transaction begins; within it there are look-ups, comparisons and writes.
3. What is similar, and by how much, is decided by search.py alone.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import numpy as np

from nearsame import stores
from nearsame.answers.matches import Added
from nearsame.clock import Progress
from nearsame.errors import ConfigError, StoreBusyError
from nearsame.files.inputs import Inputs, is_address
from nearsame.flow.options import SourceOptions
from nearsame.index import adding, building, migrating, removing
from nearsame.index.adding import AddOptions
from nearsame.index.columns import kept_columns
from nearsame.index.documents import ColumnNames, Sourced, at_hand
from nearsame.index.facet import Facets, Input
from nearsame.index.facets import digest_columns
from nearsame.index.questions import Questions, named
from nearsame.index.recipe import facets_of, require_same, written
from nearsame.outputs.apart import require_apart
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import IndexMethodName, StoreKind
from nearsame.recipes.methods import Method
from nearsame.recipes.urls import CanonicalUrl
from nearsame.sources.listed import require_texts
from nearsame.stores.base import Writer

__all__ = ["Index"]

Wanted = Method | CanonicalUrl | IndexMethodName  # of the methods, an index refuses those that it cannot have


@checked
class Index(Questions):
    """An open index. Threads that share it use it in turn; other processes may read, and write in turn.

    `skipped` has what could not be read of the source that was named last, by whichever thread.

    Example:
        >>> import tempfile
        >>> with Index.create(tempfile.mkdtemp() + "/seen.ns") as index:
        ...     _ = index.add({"id": "rose", "text": "a rose is a rose is a rose"})
        ...     [(match.id, match.similarity) for match in index.query("A rose is a rose is a rose!")]
        [('rose', 1.0)]
    """

    @classmethod
    def create(  # noqa: PLR0913  (the place, what is in it, and what may be done for it)
        cls,
        where: str | os.PathLike[str],
        *,
        method: Wanted | Collection[Wanted] | None = None,
        store: StoreKind = "shingles",
        keep_columns: str | Sequence[str] | None = None,
        source: Any = None,
        overwrite: bool = False,
        memory: int | str | None = None,
        timeout_seconds: float = 30.0,
        **options: Unpack[SourceOptions],
    ) -> Self:
        """A new index, empty or of the documents of a source.

        Args:
            where: The path of a file, or `postgresql://…`.
            method: How documents are compared: `MinHash`, `SimHash`, `Digest`, `CanonicalUrl`, their names (`minhash`,
                `simhash`, `digest` for raw and normalised text, `url`), or several of them; default `minhash` and
                `digest`.
            store: What is stored of a text: `shingles`, to compare exactly; `sketch`, to estimate, in about a quarter
                of the space; `text`, shingles and the text, to show passages.
            keep_columns: Names of columns to keep beside each document, a language or a date: a query can choose by
                them.
            source: Whatever `dedup` takes; of documents with the same id the first goes in, the others are skipped.
            overwrite: Whether the new index takes the place of one that is there.
            memory: How much may be held, in bytes or as in "4GB"; default half of what is free. The keys of a source
                that do not fit go to files.
            timeout_seconds: How long to wait for another writer, or for whoever uses what is overwritten.

        Raises:
            ConfigError: The methods are impossible.
            StoreError: There is an index, or it cannot be made.
        """
        facets, room = facets_of(method, store), building.room_for(memory)
        kept = kept_columns(keep_columns, digest_columns(facets))
        _try_out(facets, store)
        place = os.fspath(where)
        if not is_address(place):
            require_apart(place, Path(os.path.realpath(place)), Inputs.of(source), folder=False)
        opened = stores.create_store(
            where, written(facets, store, kept), overwrite=overwrite, timeout_seconds=timeout_seconds
        )
        try:
            index = cls(opened)
            if source is not None:
                documents = Sourced(source, options, index.skipped, kept)
                building.build(opened, facets, store, documents, room)
                documents.require_kept()
            opened.publish()
        except BaseException:
            opened.close()
            raise
        return index

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        read_only: bool = False,
        expect: Wanted | Collection[Wanted] | None = None,
        timeout_seconds: float = 30.0,
    ) -> Self:
        """An index that is there.

        Args:
            where: The path or address with which it was created.
            read_only: Whether nothing will be written.
            expect: The methods that it must have been made by; default: whatever it was.
            timeout_seconds: How long to wait for another writer.

        Raises:
            StoreError: There is none, or it cannot be read.
            IndexMismatchError: It was made by other methods, or the same with other settings.
        """
        store = stores.open_store(where, read_only=read_only, timeout_seconds=timeout_seconds)
        try:
            index = cls(store, read_only=read_only)
            if expect is not None:
                require_same(index._facets, expect, index._kind, store.name)
        except BaseException:
            store.close()
            raise
        return index

    @classmethod
    def migrate(
        cls,
        where: str | os.PathLike[str],
        *,
        timeout_seconds: float = 30.0,
        progress: Progress | None = None,
    ) -> bool:
        """Rebuild an index of another version in its place, from the texts that it stores.

        Settings, ids, URLs, texts and the order of documents stay; what is made of texts is made by this version.

        Args:
            where: The path or address with which it was created. Nobody else may use it meanwhile.
            timeout_seconds: How long to wait for whoever uses it.
            progress: Who watches.

        Returns:
            Whether there was something to do.

        Raises:
            IndexMismatchError: It stores no texts, or its settings cannot be read; the hint says what is needed.
            StoreError: It is of another format, damaged, or in use.
        """
        return migrating.migrate(os.fspath(where), timeout_seconds=timeout_seconds, progress=logged(progress))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(StoreBusyError) if error is not None else nullcontext():  # what happened is not to be hidden
            self.close()

    def close(self) -> None:
        """Let go of the index."""
        with self._turn() if self._store.owner.is_here() else nullcontext():
            self._store.close()

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Several calls in one transaction: durable when the block is left; an exception undoes them all.

        Example:
            >>> import tempfile
            >>> with Index.create(tempfile.mkdtemp() + "/seen.ns") as index, index.transaction():
            ...     added = index.add("one text"), index.add("another")
        """
        with self._writing(None) as writer:
            if self._writer is not None:
                raise ConfigError("a transaction within a transaction", hint="Leave the one before beginning another.")
            self._writer = writer
            try:
                yield self
            finally:
                self._writer = None

    def add(self, documents: Any, **options: Unpack[AddOptions]) -> list[Added]:
        """Add documents, and say what each resembles among those before it.

        Args:
            documents: A text, a dict with `text` (or `html`, `features`, or a `sketch`), `id`, `url` and the columns
                that are kept, a list of them: one transaction. Or whatever `dedup` takes: a transaction for each batch,
                see `add_batches`.

        Raises:
            ConfigError: Something is not a document.
            StoreError: Nothing could be written.
        """
        is_text = isinstance(documents, str)  # whatever it reads like: a path is a Path
        given = [documents] if is_text else documents
        return [added for batch in self._added(given, options, is_text=is_text) for added in batch]

    def add_batches(self, source: Any, **options: Unpack[AddOptions]) -> Iterator[list[Added]]:
        """Like `add`, batch by batch: what is yielded is durable. `skipped` has what could not be read.

        Args:
            source: Whatever `add` takes; a string is the path of a source.
        """
        yield from self._added(source, options)

    def remove(self, ids: str | Iterable[str], *, missing_ok: bool = True) -> int:
        """Take documents out, by id, in one transaction; returns how many were there.

        Args:
            ids: One, or several.
            missing_ok: Whether ids that are not there are passed over; otherwise nothing is removed.

        Raises:
            UnknownIdError: An id is not there.
        """
        wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        with self._writing(None) as writer:
            rows = named(writer, wanted)
            if not missing_ok:
                self._require(wanted, rows)
            removing.remove(writer, self._facets, [row.number for row in rows.values()])
        return len(rows)

    def _added(self, documents: Any, options: AddOptions, *, is_text: bool = False) -> Iterator[list[Added]]:
        self._require_writable()
        adding.require_addable(options)
        self.skipped.clear()
        if not is_text and isinstance(documents, list) and all(isinstance(document, str) for document in documents):
            require_texts(documents)
        inputs = at_hand(documents, ColumnNames(options, self._kept))
        sourced = Sourced(documents, options, self.skipped, self._kept)
        batches: Iterable[list[Input]] = sourced if inputs is None else [inputs]
        for batch in batches:
            asked = [adding.prepared(self._facets, self._kind, some) for some in adding.without_repeats(batch)]
            keys = np.unique(np.concatenate([prepared.lock_keys() for prepared in asked])) if asked else None
            with self._writing(None if options["replace"] else keys) as writer:  # another one's keys change hands
                answers = [
                    added for prepared in asked for added in adding.settle(writer, self._facets, prepared, options)
                ]
            yield answers

    def _require_writable(self) -> None:
        if self._read_only:
            raise ConfigError(f"{self._store.name} was opened read-only", hint="Open it without read_only.")

    @contextmanager
    def _writing(self, keys: Any) -> Iterator[Writer]:
        """A transaction, or that which this thread has begun."""
        self._require_writable()
        with self._turn(), self._store.writing(keys) if self._writer is None else nullcontext(self._writer) as writer:
            yield writer


def _try_out(facets: Facets, store: StoreKind) -> None:
    """Fail before anything is made if a method needs what is not installed, or can make no keys."""
    adding.prepared(facets, store, [Input("", "https://example.org/", b"a")]).lock_keys()
