"""Entries of buckets to pairs of documents that could be similar, each once.

1. A bucket with very many documents is cut into blocks, and every two blocks meet in a task of their own: no task holds
   a hot key whole. Where few meet many, there is one block of the few: nothing is copied but they.
2. What the places of the first shared key rule out is not compared: the filters of kernels/deciding.py, in SQL.
3. Of a bucket whose documents mostly belong together already, only the others meet all of it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from nearsame.kernels.cosine import SHARE
from nearsame.kernels.scores import CONTAINER, CONTAINMENT, COSINE, JACCARD, WEIGHTED, Bound

__all__ = ["BLOCK", "meeting_pairs", "split_by_main"]

_SLACK = 1e-9
BLOCK = 4096  # documents of one bucket that meet those of another block in one task


def meeting_pairs(  # noqa: PLR0913  (who meets whom, by what, and what is known of it)
    verbs: Any, sides: Sequence[tuple[Any, Any]], bound: Bound, *, hot: bool, placed: bool, apart: bool = False
) -> Any:
    """Pairs (a, b), a before b in priority, of two documents that share a bucket, one of each side.

    Args:
        verbs: the engine's.
        sides: entries (key, number, place, size, one_side), and those that they meet; of several such, all pairs once.
        bound: the measure and the threshold.
        hot: whether some bucket has more documents than a block.
        placed: whether sizes are those of what is compared, so that places say something.
        apart: whether entries have a `root`, and those of one root do not meet.
    """
    names = ["number", "place", "size", "one_side", *(["root"] if apart else [])]
    first, *others = (_met(verbs, *side, names, hot=hot) for side in sides)
    for other in others:
        first = first.unionByName(other)
    met = first.filter("a_root <> b_root") if apart else first
    for condition in _roles(bound):
        met = met.filter(condition)
    sums = [f"min({name}) as {name}" for name in ("a_place", "b_place", "a_size", "b_size")]
    pairs = verbs.aggregated(met, ["a", "b"], sums)
    return (pairs.filter(_reach(bound)) if placed and bound.measure in _REACH else pairs).select("a", "b")


def split_by_main(verbs: Any, entries: Any) -> list[tuple[Any, Any]]:
    """The sides of all pairs of a bucket but those within the root of its best document, to which most may belong.

    Args:
        verbs: the engine's.
        entries: with `root`; buckets of one root alone are left out.
    """
    sums = ["min_by(root, number) as main", "min(root) as least", "max(root) as greatest"]
    mixed = verbs.aggregated(entries, ["key"], sums).filter("least < greatest").select("key", "main")
    members = verbs.keep(entries.join(mixed, "key"))
    rest, main = members.filter("root <> main"), members.filter("root = main")
    return [(rest, members), (main, rest)]


def _met(verbs: Any, firsts: Any, others: Any, names: Sequence[str], *, hot: bool) -> Any:
    """Every entry of the firsts beside every one of the others of its bucket, of lower priority."""
    left = firsts.selectExpr("key", *(f"{name} as a{'' if name == 'number' else '_' + name}" for name in names))
    right = others.selectExpr("key", *(f"{name} as b{'' if name == 'number' else '_' + name}" for name in names))
    by = ["key"]
    if hot:
        by = ["key", "i", "j"]
        blocks = _blocks(verbs, firsts, "i_blocks"), _blocks(verbs, others, "j_blocks")
        left, right = _dealt(left, blocks, "a", "i", "j"), _dealt(right, blocks, "b", "j", "i")
    return left.join(right, by).filter("a < b and not (a_one_side and b_one_side)")


def _blocks(verbs: Any, entries: Any, name: str) -> Any:
    """The keys with more entries than a block has, and in how many blocks they are dealt."""
    counted = verbs.aggregated(entries, ["key"], [f"cast(ceil(count(1) / {BLOCK}) as bigint) as {name}"])
    return counted.filter(f"{name} > 1").hint("broadcast")  # few: each has more than a block of entries


def _dealt(entries: Any, blocks: tuple[Any, Any], number: str, own: str, other: str) -> Any:
    """Each entry in one of its side's blocks, once for each block of the other side."""
    for num_blocks in blocks:
        entries = entries.join(num_blocks, "key", "left")
    mine, theirs = (f"coalesce({name}_blocks, 1L)" for name in (own, other))
    met = f"explode(sequence(0L, {theirs} - 1)) as {other}"
    return entries.selectExpr("*", f"pmod(xxhash64({number}), {mine}) as {own}", met).drop("i_blocks", "j_blocks")


def _roles(bound: Bound) -> list[str]:
    """Containment: the contained side meets by its prefix alone."""
    if bound.measure not in (CONTAINMENT, CONTAINER):
        return []
    side = "b" if bound.measure == CONTAINMENT else "a"
    return [f"{side}_place < {side}_size - ({bound.p}L * {side}_size + {bound.q - 1}L) div {bound.q}L + 1"]


def _reach_jaccard(bound: Bound, rest: str) -> str:
    p, q = f"{bound.p}L", bound.p + bound.q
    least = {side: f"{side}_size - (2 * {p} * {side}_size + {q - 1}L) div {q}L" for side in "ab"}
    smaller = [
        f"not ({one}_size <= {other}_size and {one}_place > {least[one]})" for one, other in (("a", "b"), ("b", "a"))
    ]
    return " and ".join([*smaller, f"{rest} * {q}L >= {p} * (a_size + b_size)"])


def _reach_cosine(bound: Bound, rest: str) -> str:
    least = bound.p / bound.q * (1 - _SLACK)  # floats, with a slack that is 10**6 times their error: a kernel decides
    return f"{rest} >= {least!r}D * sqrt(cast(a_size as double) * b_size)"


def _reach_weighted(bound: Bound, _: str) -> str:
    least = -(-(bound.p**2 * SHARE**2) // bound.q**2)  # of two shares of a sum of squares: their product is an integer
    return f"({SHARE}L - a_place) * ({SHARE}L - b_place) >= {least}L"


# Whether sets of these sizes that first meet at these places can still reach a similarity: of `rest` items at most.
_REACH: dict[int, Callable[[Bound, str], str]] = {
    COSINE: _reach_cosine,
    JACCARD: _reach_jaccard,
    WEIGHTED: _reach_weighted,
}


def _reach(bound: Bound) -> str:
    """Whether documents that first meet at these places can be similar; a place of -1 says nothing."""
    known = _REACH[bound.measure](bound, "(1 + least(a_size - a_place - 1, b_size - b_place - 1))")
    return f"a_place < 0 or b_place < 0 or ({known})"
