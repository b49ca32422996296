"""Which items stand in too many documents: counted a part of them at a time, so that memory is bounded."""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from nearsame.proofs.features import Cut, Raw

__all__ = ["boilerplate"]

_FILES, _BYTES = 64, 16


def boilerplate(contents: Iterable[Any], cut: Cut, most: int, again: Iterable[Any]) -> tuple[frozenset[Any], int]:
    """The items that stand in more than `most` documents, and in how many each stands, summed.

    Args:
        contents: The documents.
        cut: How they are cut up.
        most: Documents.
        again: The documents once more: digests are counted, and then their items are looked for.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(_FILES)]
        for digest in _digests(contents, cut):
            files[digest[0] % _FILES].write(digest)
        many: set[bytes] = set()
        occurrences = 0
        for file in files:
            file.seek(0)
            counts = Counter(iter(lambda file=file: file.read(_BYTES), b""))  # type: ignore[misc]
            many |= {digest for digest, times in counts.items() if times > most}
            occurrences += sum(times for times in counts.values() if times > most)
    if not many:
        return frozenset(), 0
    items = (item for content in again for item in cut.bare(content))
    return frozenset(item for item in items if not isinstance(item, Raw) and _digest(item) in many), occurrences


def _digests(contents: Iterable[Any], cut: Cut) -> Iterator[bytes]:
    for content in contents:
        yield from (_digest(item) for item in cut.bare(content) if not isinstance(item, Raw))


def _digest(item: Any) -> bytes:
    return hashlib.blake2b(repr(item).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
