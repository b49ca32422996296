"""What is counted of the documents on the way, besides what is proven of each: the counts of stats.json, made anew.

1. Different documents and ids are told by 128 bits of BLAKE2b, kept in a file: memory holds them once, at the end.
"""

import hashlib
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import numpy as np

from nearsame.proofs.features import Raw
from nearsame.proofs.measures import Judge

__all__ = ["Different", "Tally"]

_BYTES = 16
_RAW_ITEMS = 2  # a text without tokens is two items to the run: the halves of a digest


class Different:
    """Counts how many different things were added."""

    def __init__(self) -> None:
        self.num_added = 0
        self._file = tempfile.SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115  (closed by whoever made it)

    def add(self, thing: str, size: int = 0) -> None:
        """Add a thing, and a number that belongs to it."""
        digest = hashlib.blake2b(thing.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
        self._file.write(digest + size.to_bytes(8, "little"))
        self.num_added += 1

    def totals(self) -> tuple[int, int]:
        """How many there are, and the sum of their numbers."""
        self._file.seek(0)
        kind = np.dtype([("digest", f"V{_BYTES}"), ("size", "<i8")])
        records = np.frombuffer(self._file.read(), kind)
        _, first = np.unique(
            np.ascontiguousarray(records["digest"]).view("<u8").reshape(-1, 2), axis=0, return_index=True
        )
        return first.size, int(records["size"][first].sum())

    def close(self) -> None:
        """Give back what it holds."""
        self._file.close()


@dataclass
class Tally:
    """Counts of all documents.

    Attributes:
        documents: all of them.
        against: of the other side.
        text_bytes: of their texts.
        left_bytes: likewise, of those that no layer before the method removed.
        empty: without a text.
        left_empty: likewise of those that are left.
        emptied: of whose items all stand in too many documents.
        bare: with a text that has no token.
        items: of all that are left.
        gone: removed by a layer before the method.
        gone_empty: by layer, how many of those that it removed are empty.
        other_texts: by layer, how many of these have another text than their witness there.
        urls: whether any has a URL.
        texts: whether all contents are texts.
        ids: different ids.
        distinct: different contents.
    """

    documents: int = 0
    against: int = 0
    text_bytes: int = 0
    left_bytes: int = 0
    empty: int = 0
    left_empty: int = 0
    emptied: int = 0
    bare: int = 0
    items: int = 0
    gone: int = 0
    gone_empty: Counter[str] = field(default_factory=Counter)
    other_texts: Counter[str] = field(default_factory=Counter)
    urls: bool = False
    texts: bool = True
    ids: Different = field(default_factory=Different)
    distinct: Different = field(default_factory=Different)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.ids.close()
        self.distinct.close()

    def see(self, content: Any, name: str | None, url: str | None, *, against: bool) -> None:
        """Count a document as it was read."""
        self.documents += 1
        self.against += against
        self.empty += not content
        self.urls |= bool(url)
        if isinstance(content, str):
            self.text_bytes += len(content.encode("utf-8", "surrogatepass"))
        elif content is not None:
            self.texts = False
        if name is not None:
            self.ids.add(name)

    def compare(self, content: Any, judge: Judge, group: Any = None) -> None:
        """Count what a document is compared by, which no layer has removed before; of two groups nothing is one."""
        if isinstance(content, str):
            self.left_bytes += len(content.encode("utf-8", "surrogatepass"))
        items = judge.items(content) if content else frozenset()
        if not items:
            self.left_empty += 1
            return
        is_raw = any(isinstance(item, Raw) for item in items)
        is_bare = judge.is_bare(content, is_raw=is_raw)
        self.bare += is_bare
        self.emptied += is_raw and not is_bare
        size = _RAW_ITEMS if is_raw else len(items)
        self.items += size
        self.distinct.add("\n".join([repr(group), *sorted(map(repr, items)), judge.letters(content)]), size)

    def leave_out(self, layer: str, content: Any) -> None:
        """Count what a layer before the method has removed."""
        self.gone += 1
        self.gone_empty[layer] += not content

    def note_other(self, layer: str, content: Any, other: Any) -> None:
        """Count what has another text than its witness in its layer."""
        self.other_texts[layer] += bool(content) and content != other
