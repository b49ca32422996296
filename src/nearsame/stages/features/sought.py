"""Texts that are looked for inside of others: what of each is asked for, and why some are not looked for at all.

1. A shingle lies within one piece of a text: the choices of a question do not run into each other. Texts of one
   benchmark with the same words in the same pieces are one text. Words are those of `plain` texts, as of documents.
2. A shingle that too many texts of its benchmark have is boilerplate, and counts for none of them.
3. A text with at least as many shingles as a shingle has words is found by its share of them (`SHARE`). One with fewer
   has to stand there word for word (`WHOLE`), since a share of so little is chance; it must be one piece.
4. What is left is not looked for, for a reason that is told: it has no shingle, or too few in several pieces (`SHORT`);
   its words say too little (`PLAIN`); or all of it is boilerplate (`COMMON`).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Int64s, Mask, UInt64s
from nearsame.dataclass import dataclass
from nearsame.forms.plain import plain
from nearsame.kernels import leaks as kernel
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.named import NamedTuple
from nearsame.recipes.leaks import LeakRule
from nearsame.stages.features.words import join_words

__all__ = ["COMMON", "FLAGS", "KEYS", "PLAIN", "REASONS", "SHARE", "SHORT", "WHOLE", "SoughtTexts", "Words"]

FLAGS, KEYS = 0, hash_keys(0)  # words, whatever their case; which hash it is does not matter, words decide
SHARE, WHOLE, SHORT, PLAIN, COMMON = range(5)
REASONS = {SHORT: "short", PLAIN: "plain", COMMON: "boilerplate"}

_FILTER_BITS = 3  # bits of the filter for each shingle, as a power of two: at most one in twenty of all others passes

Words = tuple[bytes, ...]  # folded, in UTF-8


class CommonShingle(NamedTuple):
    """A shingle that too many texts of a benchmark have."""

    benchmark: int
    words: Words
    texts: int


class _Shingles(NamedTuple):
    """Shingles of texts: each text's distinct ones, by where they first stand in it, one text after the other."""

    texts: Int64s
    places: Int64s
    hashes: UInt64s

    def only(self, chosen: Mask) -> "_Shingles":
        return _Shingles(self.texts[chosen], self.places[chosen], self.hashes[chosen])


@dataclass(frozen=True, eq=False)
class SoughtTexts:
    """Different texts, and the tables by which they are found.

    Attributes:
        rule: when one is found.
        of: of each text that was given its number here; -1 for one without a word.
        benchmarks: by number.
        folded: by number: the folded words of each piece, with a space between.
        kinds: by number: SHARE, WHOLE, or why it is not looked for.
        sizes: by number: its distinct shingles without boilerplate.
        boilerplate: what was left out.
        table: what the kernel asks.
    """

    rule: LeakRule
    of: Int64s
    benchmarks: Int64s
    folded: Sequence[tuple[bytes, ...]]
    kinds: Int64s
    sizes: Int64s
    boilerplate: tuple[CommonShingle, ...]
    table: kernel.Sought
    _kept: _Shingles
    _ends: Int64s  # where the kept shingles of each text begin, and end

    @classmethod
    def made(cls, texts: Sequence[Sequence[str]], benchmarks: Sequence[int], rule: LeakRule) -> "SoughtTexts":
        """Of texts, each in pieces, and the number of the benchmark of each.

        >>> sought = SoughtTexts.made([["Seven wise wallabies waltz with Wendy on Wednesdays."]], [0], LeakRule())
        >>> sought.kinds.tolist() == [WHOLE], sought.sizes.tolist()
        (True, [4])
        """
        cut = _Cut.of(texts, rule.shingle_size)
        of, first = _distinct(cut, benchmarks)
        own = np.asarray([benchmarks[text] for text in first], np.int64)
        every = _first_places(cut, first)
        common, boilerplate = _common(every, own, rule.boilerplate)
        kept = every.only(~common)
        sizes = np.bincount(kept.texts, minlength=len(first)).astype(np.int64)
        folded = [cut.folded_pieces(text) for text in first]
        before = np.bincount(every.texts, minlength=len(first))
        kinds = np.array(
            [_kind(*one, rule) for one in zip(folded, sizes.tolist(), before.tolist(), strict=True)], np.int64
        )
        named = tuple(
            CommonShingle(int(own[text]), _shingles(_split(folded[text]), rule)[place], count)
            for text, place, count in boilerplate
        )
        table = _table(cut, first, kinds, kept, rule)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return cls(rule, of, arrow.frozen(own), folded, arrow.frozen(kinds), arrow.frozen(sizes), named, table,
                   kept, arrow.frozen(ends))  # fmt: skip

    def asked(self, text: int) -> dict[Words, int]:
        """The shingles of a text that are looked for, each with its first token, where all pieces are one row."""
        size, starts, at = self.rule.shingle_size, list[int](), 0
        pieces = _split(self.folded[text])
        for piece in pieces:
            starts += range(at, at + len(piece) - size + 1)
            at += len(piece)
        shingles = _shingles(pieces, self.rule)
        places = self._kept.places[self._ends[text] : self._ends[text + 1]]
        return {shingles[place]: starts[place] for place in places.tolist()}

    def words(self, text: int) -> Words:
        """All words of a text, in one row."""
        return tuple(word for piece in _split(self.folded[text]) for word in piece)


def _split(pieces: tuple[bytes, ...]) -> list[Words]:
    return [tuple(piece.split()) for piece in pieces]


def _shingles(pieces: list[Words], rule: LeakRule) -> list[Words]:
    size = rule.shingle_size
    return [piece[at : at + size] for piece in pieces for at in range(len(piece) - size + 1)]


@dataclass(frozen=True, eq=False)
class _Cut:
    """All texts, cut up: the tokens of text i are tokens[token_ends[i]:token_ends[i + 1]], and so on."""

    tokens: UInt64s
    token_ends: Int64s
    shingles: UInt64s
    shingle_ends: Int64s
    folded: bytes
    folded_ends: Int64s
    pieces: Int64s  # the pieces of text i are pieces[i] to pieces[i + 1]

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]], size: int) -> "_Cut":
        column = arrow.strings(plain(pa.array([piece for text in texts for piece in text], pa.large_string())))
        pieces = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(text) for text in texts], dtype=np.int64)])
        lengths = np.diff(column.offsets)
        longest, room = int(lengths.max(initial=0)), int(lengths.sum()) + 66
        tokens, shingles = np.empty(room, np.uint64), np.empty(room, np.uint64)
        token_ends, shingle_ends = np.zeros(lengths.size + 1, np.int64), np.zeros(lengths.size + 1, np.int64)
        kernel.pieces(
            column.data, column.offsets, size, FLAGS, KEYS, arrow.NO_HASHES, *unicode.tables(),
            np.zeros((2, 2 * longest + 128), np.uint8), tokens, token_ends, shingles, shingle_ends,
        )  # fmt: skip
        folded, folded_ends = join_words(column, FLAGS, arrow.NO_HASHES)
        return cls(tokens, token_ends[pieces], shingles, shingle_ends[pieces], folded.tobytes(), folded_ends, pieces)

    def folded_pieces(self, text: int) -> tuple[bytes, ...]:
        """The words of each piece of a text that has some."""
        ends = self.folded_ends[self.pieces[text] : self.pieces[text + 1] + 1].tolist()
        return tuple(self.folded[a:b] for a, b in pairwise(ends) if a < b)


def _distinct(cut: _Cut, benchmarks: Sequence[int]) -> tuple[Int64s, list[int]]:
    """Of each text the number of those that it is one with, and of each number the first text."""
    numbers: dict[tuple[int, tuple[bytes, ...]], int] = {}
    first: list[int] = []
    of = np.full(len(benchmarks), -1, np.int64)
    for text, benchmark in enumerate(benchmarks):
        key = benchmark, cut.folded_pieces(text)
        if key[1]:
            if key not in numbers:
                first.append(text)
            of[text] = numbers.setdefault(key, len(numbers))
    return arrow.frozen(of), first


def _first_places(cut: _Cut, first: Sequence[int]) -> _Shingles:
    """The distinct shingles of each different text, by where they first stand in it."""
    ends = cut.shingle_ends
    sizes = np.array([ends[text + 1] - ends[text] for text in first], np.int64)
    starts = np.array([ends[text] for text in first], np.int64)
    texts = np.repeat(np.arange(len(first)), sizes)
    places = np.arange(texts.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    hashes = cut.shingles[np.repeat(starts, sizes) + places]
    order = np.lexsort((places, hashes, texts))
    is_first = _changes(texts[order], hashes[order])
    chosen = np.sort(order[is_first])
    return _Shingles(texts[chosen], places[chosen], hashes[chosen])


def _changes(*columns: arrow.Int64s | UInt64s) -> Mask:
    """Which rows are not as the one before."""
    changed = np.ones(columns[0].size, np.bool_)
    if changed.size:
        changed[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return changed


def _common(every: _Shingles, benchmarks: Int64s, most: int) -> tuple[Mask, list[tuple[int, int, int]]]:
    """Which are boilerplate; and of each different one a text, its place there, and how many have it, most first."""
    owners = benchmarks[every.texts]
    order = np.lexsort((every.hashes, owners))
    starts = np.flatnonzero(_changes(owners[order], every.hashes[order]))
    counts = np.diff(np.append(starts, order.size))
    common = np.zeros(order.size, np.bool_)
    common[order[np.repeat(counts > most, counts)]] = True
    # within equal rows the sort keeps the order, so that the first text comes first
    chosen = [(int(order[start]), int(count)) for start, count in zip(starts, counts, strict=True) if count > most]
    chosen.sort(key=lambda pair: (owners[pair[0]], -pair[1], pair[0]))
    return common, [(int(every.texts[at]), int(every.places[at]), count) for at, count in chosen]


def _kind(pieces: tuple[bytes, ...], size: int, num_shingles: int, rule: LeakRule) -> int:
    """How a text of so many shingles, with boilerplate and without, is found, or why it is not looked for."""
    if not num_shingles:
        return SHORT
    if sum(map(len, {word for piece in pieces for word in piece.split()})) < rule.least_bytes:
        return PLAIN
    if not size:
        return COMMON
    if size >= rule.shingle_size:
        return SHARE
    return WHOLE if len(pieces) == 1 else SHORT


def _table(cut: _Cut, first: Sequence[int], kinds: Int64s, kept: _Shingles, rule: LeakRule) -> kernel.Sought:
    """The tables of the kernel: only what is looked for is in them."""
    sizes = np.bincount(kept.texts, minlength=len(first))
    numbers = np.arange(kept.texts.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sought = kinds[kept.texts] <= WHOLE
    texts, numbers, hashes = kept.texts[sought], numbers[sought], kept.hashes[sought]
    order = np.argsort(hashes, kind="stable")
    is_first = _changes(hashes[order])
    distinct = arrow.frozen(hashes[order][is_first])
    bits = max(int(distinct.size).bit_length() + _FILTER_BITS - 6, 1)
    shift, marks = np.uint64(64 - bits), np.zeros(1 << bits, np.uint64)
    kernel.mark_words(distinct, shift, marks)
    slots = np.zeros(2 << int(distinct.size).bit_length(), np.int32)
    kernel.fill_slots(distinct, slots)
    num_tokens = np.array([cut.token_ends[text + 1] - cut.token_ends[text] for text in first], np.int64)
    runs = [cut.tokens[cut.token_ends[text] : cut.token_ends[text + 1]] if kind == WHOLE else arrow.NO_HASHES
            for text, kind in zip(first, kinds.tolist(), strict=True)]  # fmt: skip
    anchors = np.zeros(len(first), np.int64)
    anchors[kept.texts[::-1]] = kept.places[::-1]  # the first of each is written last
    least = [size if kind == WHOLE else rule.least(size)
             for size, kind in zip(sizes.tolist(), kinds.tolist(), strict=True)]  # fmt: skip
    return kernel.Sought(
        shift,
        arrow.frozen(marks),
        arrow.frozen(slots),
        distinct,
        arrow.frozen(np.append(np.flatnonzero(is_first), order.size)),
        arrow.frozen(texts[order]),
        arrow.frozen(numbers[order]),
        arrow.frozen(np.array(least, np.int64)),
        arrow.frozen(np.array([rule.width(number) for number in num_tokens.tolist()], np.int64)),
        arrow.frozen(anchors),
        arrow.frozen(np.cumsum([0, *map(len, runs)], dtype=np.int64)),
        arrow.frozen(np.concatenate([arrow.NO_HASHES, *runs])),
    )
