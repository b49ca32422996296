"""Block-permuted tables: into how many blocks codes are cut, and which of them make a table's header.

1. Codes within k bits that are cut into G blocks agree on at least G - k of them (Manku, Jain and Das Sarma,
   WWW 2007). Any g ≤ G - k blocks may be the header: one table for each of the C(G, g) choices finds every pair.
2. The cost model, in seconds, for n codes whose g header blocks agree by chance with probability p_S in table S:
   sum over S of (n · deal + n²/2 · p_S · compare), where p_S = 2^-(weight of the header's bits), a fair bit weighing 1.
   Comparing everything is the case of one block and no header, which deals nothing. With m queries it is (n + m) · deal
   and n · m in place of n²/2.
3. Only G = g + k is worth trying: more blocks with the same g make shorter headers in more tables.
"""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from nearsame.arrow import UInt64s, frozen
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.kernels.hamming_blocks import cut, ranges_mask, weigh_bits

__all__ = ["MEETING", "SEARCH", "BlockPlan", "CodeCounts", "Costs", "choices", "plan", "recall", "tables", "weigh_bits"]

_MAX_TABLES = 2000  # more are tried only where they are asked for


@dataclass(frozen=True)
class Costs:
    """What the steps of a search cost."""

    deal_seconds: float  # for one code into one table, sorting included
    compare_seconds: float  # for two codes of a full bucket


# Measured on a server core of 2024 that counts bits in vectors; one that does not compares at a quarter of the speed.
SEARCH = Costs(20e-9, 0.05e-9)  # codes in memory order (kernels/hamming_search.py)
MEETING = Costs(600e-9, 40e-9)  # through keys and buckets, document by document


@dataclass(frozen=True)
class CodeCounts:
    """What is searched, as far as the cost depends on it."""

    num_codes: int  # distinct ones
    bits: int
    num_queries: int = 0  # codes to search for; 0: a self-join
    weights: npt.NDArray[np.float64] | None = None  # float64[bits] from `weigh_bits`; None: every bit is fair


@dataclass(frozen=True)
class BlockPlan:
    """How codes are cut, and what the search is expected to cost."""

    bits: int
    k: int
    num_blocks: int
    header_blocks: int
    blocks: tuple[tuple[int, int], ...]  # the bits (start, stop) of each, about equal in weight
    expected_comparisons: float
    expected_seconds: float

    @property
    def num_tables(self) -> int:
        """One for each choice of the header's blocks; one without a header where all pairs are compared."""
        return math.comb(self.num_blocks, self.header_blocks)


def plan(
    codes: CodeCounts, k: int, *, num_blocks: int | None = None, header_blocks: int | None = None, costs: Costs = SEARCH
) -> BlockPlan:
    """The cheapest way to find every pair within k bits.

    Args:
        codes: how many codes there are, and of what kind.
        k: the greatest distance.
        num_blocks: G, above k and at most bits; default: chosen by the cost model.
        header_blocks: g, at most G - k; default: chosen by the cost model.
        costs: of the way that codes are searched.

    Raises:
        ConfigError: a k, G or g that cannot find every pair.

    Example:
        >>> plan(CodeCounts(1_000_000, 64), 3).num_blocks
        4
    """
    _check(codes.bits, k, num_blocks, header_blocks)
    is_free = num_blocks is None and header_blocks is None
    first, *others = _choices(codes.bits, k) if is_free else _given(codes.bits, k, num_blocks, header_blocks)
    best = _plan(codes, k, first, costs)
    for pair in others:
        if _dealing(codes, pair, costs) < best.expected_seconds:  # else it takes longer, whatever it compares
            best = min(best, _plan(codes, k, pair, costs), key=lambda offer: offer.expected_seconds)
    return best


def choices(codes: CodeCounts, k: int, *, costs: Costs = SEARCH) -> list[BlockPlan]:
    """The plans that `plan` chooses from, by number of blocks; comparing everything is the first.

    Example:
        >>> [offer.num_tables for offer in choices(CodeCounts(1_000_000, 64), 3)][:4]
        [1, 4, 10, 20]
    """
    _check(codes.bits, k, None, None)
    return [_plan(codes, k, pair, costs) for pair in _choices(codes.bits, k)]


def tables(plan: BlockPlan) -> UInt64s:
    """The header mask of each table, in the order of `itertools.combinations`: uint64[num_tables, ceil(bits / 64)].

    Example:
        >>> [hex(int(mask[0])) for mask in tables(plan(CodeCounts(1_000_000, 64), 3))]
        ['0xffff', '0xffff0000', '0xffff00000000', '0xffff000000000000']
    """
    num_words = -(-plan.bits // 64)
    headers = combinations(plan.blocks, plan.header_blocks)
    return frozen(np.stack([ranges_mask(header, num_words) for header in headers]))


def recall(plan: BlockPlan, distance: int) -> float:
    """The chance that two codes at a distance, whichever bits differ, agree on all blocks of some header.

    Example:
        >>> [recall(plan(CodeCounts(1_000_000, 64), 3, num_blocks=4, header_blocks=1), bits) for bits in (3, 64)]
        [1.0, 0.0]
    """
    ways = {(0, 0): 1}  # (blocks that agree, bits that differ) of the blocks so far, in how many ways
    for start, stop in plan.blocks:
        longer: dict[tuple[int, int], int] = {}
        for (agreeing, differing), number in ways.items():
            for more in range(min(stop - start, distance - differing) + 1):
                key = agreeing + (more == 0), differing + more
                longer[key] = longer.get(key, 0) + number * math.comb(stop - start, more)
        ways = longer
    found = sum(n for (agreeing, bits), n in ways.items() if bits == distance and agreeing >= plan.header_blocks)
    return found / math.comb(plan.bits, distance)


def _choices(bits: int, k: int) -> Iterator[tuple[int, int]]:
    """(number of blocks, of them in the header)."""
    yield 1, 0
    for header_blocks in range(1, (1 if k == 0 else bits - k) + 1):
        if math.comb(header_blocks + k, k) > _MAX_TABLES:
            return
        yield header_blocks + k, header_blocks


def _given(bits: int, k: int, num_blocks: int | None, header_blocks: int | None) -> Iterator[tuple[int, int]]:
    if num_blocks is None:
        yield (header_blocks or 0) + k, header_blocks or 0
    elif header_blocks is not None:
        yield num_blocks, header_blocks
    else:
        yield from ((num_blocks, size) for size in range(1, min(num_blocks - k, bits) + 1))


def _plan(codes: CodeCounts, k: int, pair: tuple[int, int], costs: Costs) -> BlockPlan:
    num_blocks, header_blocks = pair
    weights = np.ones(codes.bits) if codes.weights is None else codes.weights
    blocks = tuple(cut(weights, num_blocks))
    all_pairs = codes.num_codes * codes.num_queries if codes.num_queries else math.comb(codes.num_codes, 2)
    agree = [float(2.0 ** -weights[start:stop].sum()) for start, stop in blocks]
    compared = all_pairs * _sum_of_products(agree, header_blocks)
    seconds = _dealing(codes, pair, costs) + compared * costs.compare_seconds
    return BlockPlan(codes.bits, k, num_blocks, header_blocks, blocks, compared, seconds)


def _dealing(codes: CodeCounts, pair: tuple[int, int], costs: Costs) -> float:
    """The seconds of the tables alone."""
    num_tables = math.comb(*pair) if pair[1] else 0
    return (codes.num_codes + codes.num_queries) * num_tables * costs.deal_seconds


def _sum_of_products(factors: list[float], size: int) -> float:
    """Of each choice of `size` factors the product, summed."""
    sums = np.zeros(size + 1)
    sums[0] = 1.0
    for factor in factors:
        sums[1:] += sums[:-1] * factor
    return float(sums[size])


def _check(bits: int, k: int, num_blocks: int | None, header_blocks: int | None) -> None:
    if bits < 1:
        raise ConfigError(f"bits={bits} is below 1", hint="Give the length of a code.")
    if not 0 <= k < bits:
        raise ConfigError(f"k={k} is not at least 0 and below bits={bits}", hint="Choose a smaller distance.")
    if num_blocks is not None and not k < num_blocks <= bits:
        raise ConfigError(
            f"num_blocks={num_blocks} is not above k={k} and at most bits={bits}",
            hint="Cut codes into more blocks than bits may differ.",
        )
    most = (bits if num_blocks is None else num_blocks) - k
    if header_blocks is not None and not 1 <= header_blocks <= most:
        cut_into = f"num_blocks={num_blocks}" if num_blocks is not None else f"bits={bits}"
        raise ConfigError(
            f"header_blocks={header_blocks} is not from 1 to {most}, which is {cut_into} less k={k}",
            hint="Let the header have at most as many blocks as must agree.",
        )
