"""One text as its tokens in order, and where each stands: for the eyes, where ShingleSets is for the join."""

import numpy as np

from nearsame import arrow
from nearsame.kernels import shingles as kernel
from nearsame.kernels import spans, unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.named import NamedTuple
from nearsame.stages.features.words import hash_words

__all__ = ["Placed", "located", "place", "runs"]


class Placed(NamedTuple):
    """The tokens of a text."""

    hashes: arrow.UInt64s
    starts: arrow.Int64s  # byte offsets
    ends: arrow.Int64s


def place(text: arrow.Bytes, flags: int, seed: int, stop_words: frozenset[str] = frozenset()) -> Placed:
    """The tokens of a UTF-8 text, as the kernels of `ShingleSets` see them.

    >>> found = place(np.frombuffer(b"The cat!", np.uint8), 0, 0)
    >>> found.starts.tolist(), found.ends.tolist()
    ([0, 4], [3, 7])
    """
    tables = unicode.tables()
    scratch = np.zeros((2, 2 * text.size + 128), np.uint8)
    hashes, places = np.zeros(text.size + 66, np.uint64), np.zeros((text.size + 66, 2), np.int64)
    stops = hash_words(stop_words, flags, seed)
    count = spans.token_spans(
        arrow.frozen(text), 0, text.size, flags, hash_keys(seed), stops, *tables, *scratch, hashes, places
    )
    return Placed(arrow.frozen(hashes[:count]), arrow.frozen(places[:count, 0]), arrow.frozen(places[:count, 1]))


def located(text: arrow.Bytes, flags: int, tokens: arrow.Int64s) -> tuple[arrow.Int64s, arrow.Int64s]:
    """The first byte of each of these tokens (ascending numbers, from 0) of a UTF-8 text, and the one behind its last.

    >>> located(np.frombuffer(b"The cat!", np.uint8), 0, np.array([1]))
    (array([4]), array([7]))
    """
    tables = unicode.tables()
    scratch = np.zeros((2, 2 * text.size + 128), np.uint8)
    places = np.zeros((tokens.size, 2), np.int64)
    spans.token_places(arrow.frozen(text), 0, text.size, flags, *tables, *scratch, arrow.frozen(tokens), places)
    return places[:, 0].copy(), places[:, 1].copy()


def runs(tokens: arrow.UInt64s, size: int, seed: int, *, step: int = 1) -> arrow.UInt64s:
    """The hashes of the shingles, in order and with their repeats; a text of fewer tokens is one shingle.

    Shingle i begins with token i · step.
    """
    out = np.empty(tokens.size + 1, np.uint64)
    return arrow.frozen(out[: kernel.shingle(tokens, tokens.size, size, step, hash_keys(seed), out)])
