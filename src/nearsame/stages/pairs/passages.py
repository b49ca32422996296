"""The passages that two texts share: runs of equal tokens.

1. Every common run of at least `least` tokens is covered, on both sides, by the passages that are given, and each of
   them is such a run. It is as long as it can be, except in texts that repeat themselves so much that this would take
   more than STEPS comparisons a token: there some end where another one begins.
2. What only repeats others is left out: a sentence that stands in `a` once and in `b` three times gives three passages,
   a line repeated a thousand times in both does not give a million.
3. What is in no passage is held against what the other text has between the same passages (`unmatched`).
"""

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from nearsame import arrow
from nearsame.arrow import Int64s, UInt64s
from nearsame.errors import ConfigError
from nearsame.kernels import passages as kernel

__all__ = ["STEPS", "shared_passages", "unmatched"]

STEPS = 16  # comparisons of tokens that are in a passage already, for each token of both texts
_TRIES = 16  # equal places of the other text of which the one with the longest passage is taken
_K0, _K1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
_HALF = np.uint64(32)
_MOST_CELLS = 10**8  # of the table in which tokens outside of passages are aligned: tenths of a second


def shared_passages(a: UInt64s, b: UInt64s, least: int) -> npt.NDArray[np.int64]:
    """[n, 3]: first token in a, first token in b, tokens; by their order in a.

    Args:
        a: The tokens of one text, as their hashes.
        b: Those of the other.
        least: Tokens of the shortest passage.

    Raises:
        ConfigError: `least` is below 1.
    """
    if least < 1:
        raise ConfigError(f"passage={least} is below 1 token", hint="Choose a length such as 8.")
    if min(a.size, b.size) < least:
        return np.zeros((0, 3), np.int64)
    windows = _windows(a, least), _windows(b, least)
    covered = np.zeros(a.size, np.bool_), np.zeros(b.size, np.bool_)
    runs = np.empty((a.size + b.size, 3), np.int64)
    steps = STEPS * (a.size + b.size)
    steps, half = kernel.shared_runs(a, b, *_met(*windows), least, _TRIES, *covered, steps, 0, runs)
    _, count = kernel.shared_runs(b, a, *_met(*windows[::-1]), least, _TRIES, *covered[::-1], steps, half, runs)
    runs[half:count, :2] = runs[half:count, 1::-1]
    return _needed(runs[:count], a.size, b.size)


def unmatched(a: UInt64s, b: UInt64s, passages: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Of each text [n, 2]: first token, tokens of the runs that the other does not have at that place.

    A longest common subsequence is taken of what is in no passage, with each passage as one token. Of texts that have
    too many tokens outside of passages for that, all of these are given.
    """
    sides = [_folded(tokens, passages[:, [side, 2]]) for side, tokens in enumerate((a, b))]
    (_, x), (_, y) = sides
    alone = [np.ones(folded.size, np.bool_) for _, folded in sides]
    if x.size * y.size <= _MOST_CELLS:
        for block in Indel.editops(x.tolist(), y.tolist()).as_matching_blocks():
            alone[0][block.a : block.a + block.size] = alone[1][block.b : block.b + block.size] = False
    return [_runs(at[mine & (at >= 0)]) for (at, _), mine in zip(sides, alone, strict=True)]


def _folded(tokens: UInt64s, passages: npt.NDArray[np.int64]) -> tuple[Int64s, UInt64s]:
    """Where each token outside of passages stands, -1 for a passage; and their hashes, of a passage its number."""
    owner = np.zeros(tokens.size, np.int64)
    for number in range(len(passages), 0, -1):  # the first one has what several cover
        first, size = passages[number - 1]
        owner[first : first + size] = number
    stays = (owner == 0) | (np.diff(owner, prepend=0) != 0)
    at, own = np.flatnonzero(stays), owner[stays]
    return np.where(own > 0, -1, at), np.where(own > 0, own.astype(np.uint64), tokens[stays])


def _runs(ascending: Int64s) -> npt.NDArray[np.int64]:
    """[n, 2]: first, length of the runs of successive numbers."""
    starts = np.flatnonzero(np.diff(ascending, prepend=-2) != 1)
    return np.stack([ascending[starts], np.diff(starts, append=ascending.size)], axis=1)


def _windows(tokens: UInt64s, size: int) -> UInt64s:
    """A hash of each `size` tokens in a row: of two halves, each of two halves; the last two may overlap."""
    hashes, width = tokens, 1
    while width < size:
        step = min(width, size - width)
        mixed = (hashes[: hashes.size - step] * _K0) ^ (hashes[step:] + _K1)
        mixed ^= mixed >> _HALF
        hashes, width = mixed * _K1, width + step
    return hashes


def _met(hashes: UInt64s, others: UInt64s) -> tuple[Int64s, Int64s, Int64s]:
    """For each window the first of its equals on the other side, the one behind the last, and where those are."""
    order = np.argsort(others, kind="stable")
    ascending = others[order]
    sides: tuple[Int64s, ...] = tuple(np.searchsorted(ascending, hashes, side) for side in ("left", "right"))
    return arrow.frozen(sides[0]), arrow.frozen(sides[1]), arrow.frozen(order)


def _needed(runs: npt.NDArray[np.int64], a_size: int, b_size: int) -> npt.NDArray[np.int64]:
    """The longest first, those that add nothing to longer ones left out."""
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0], -runs[:, 2]))]
    needed = np.empty(len(runs), np.bool_)
    kernel.needed_runs(runs, np.arange(a_size + 1), np.arange(b_size + 1), needed)
    kept = runs[needed]
    return kept[np.lexsort((kept[:, 2], kept[:, 1], kept[:, 0]))]
