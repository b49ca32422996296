"""Pairs of representatives to pairs of documents, as DataFrames: groups of equals stand behind each.

1. `all`: every document of one group with every one of the other, and all pairs within a group; `star`: groups are
   represented by their best document, and within a group only it is paired with the others.
2. Of two sides, only documents of different ones are paired.
3. Numbers are predicted before anything is compared, and known before anything is filled.
"""

from typing import Any

from nearsame.flow.corpus import Question, State
from nearsame.frames.corpus import Frames
from nearsame.frames.foreseeing import foreseen
from nearsame.frames.scoring import scored
from nearsame.kernels.scores import JACCARD, Bound
from nearsame.stages.pairs.expand import PairCount, check_number

__all__ = ["beside", "listed", "require_few"]


def require_few(state: State[Frames], question: Question, most: int, *, star: bool, fewer: list[str]) -> None:
    """Refuse what would be too many pairs, before any work on them.

    Raises:
        TooManyPairsError: There will be more than `most`.
    """
    within = _num_within(state, _pair_count(state, star=star))
    check_number(within, most, known="at least", fewer=fewer)
    more = foreseen(state, question, most - within)
    check_number(within + more, most, known="about", fewer=fewer)


def listed(state: State[Frames], pairs: Any, most: int, *, star: bool, fewer: list[str]) -> tuple[Any, int]:
    """All pairs of documents (a, b, similarity, and what the method says beside), and how many there are.

    Raises:
        TooManyPairsError: There are more than `most`.
    """
    count = _pair_count(state, star=star)
    total = _num_within(state, count) + _num_between(state, pairs, count)
    check_number(total, most, fewer=fewer)
    names = state.step.column_names
    within = _within(state, names, count)
    return _between(state, beside(state, pairs), names, count).union(within), total


def _pair_count(state: State[Frames], *, star: bool) -> PairCount:
    return PairCount(star=star, across=len(state.corpus.sides) > 1)


def _groups(state: State[Frames]) -> Any:
    """By representative: how many documents of each side it stands for."""
    sums = ["sum(if(side = 0, copies, 0)) as against", "sum(if(side = 0, 0, copies)) as others"]
    return state.corpus.engine.aggregated(state.corpus.documents.filter("size > 0"), ["best"], sums)


def _num_within(state: State[Frames], count: PairCount) -> int:
    groups = _groups(state)
    return _sum(groups, count.twice_within(groups["against"], groups["others"])) // 2


def _num_between(state: State[Frames], pairs: Any, count: PairCount) -> int:
    if not count.by_size:
        return int(pairs.count())
    groups = _groups(state)
    joined = pairs.select("a", "b").join(groups.toDF("a", "a_against", "a_others"), "a")
    joined = joined.join(groups.toDF("b", "b_against", "b_others"), "b")
    a, b = ((joined[f"{end}_against"], joined[f"{end}_others"]) for end in "ab")
    return _sum(joined, count.between(a, b))


def _sum(table: Any, column: Any) -> int:
    return int(table.select(column.alias("num")).selectExpr("coalesce(sum(num), 0) as num").first()["num"])


def beside(state: State[Frames], pairs: Any) -> Any:
    """Pairs of representatives (a, b, num, den) with what their method alone says of them."""
    columns = state.step.columns
    if columns is None:
        return pairs
    sizes = state.meeting.lists.selectExpr("number", "cast(size(items) as bigint) as size")
    coverage = pairs.join(sizes.toDF("a", "a_size"), "a").join(sizes.toDF("b", "b_size"), "b")
    coverage = coverage.selectExpr("a", "b", "num", "den", "num / a_size as a_in_b", "num / b_size as b_in_a")
    if not columns.exact:
        return coverage
    rows = state.corpus.documents.select("row", "number").join(
        pairs.selectExpr("a as number").union(pairs.select("b")).distinct(), "number"
    )
    lists = state.corpus.features.select("row", "items").join(rows, "row").select("number", "items")
    lists = lists.dropDuplicates(["number"])
    exact, _ = scored(state.corpus.engine, pairs.select("a", "b"), lists, Bound(JACCARD, 0, 1))
    sizes = state.corpus.documents.select("number", "size")
    exact = exact.join(sizes.toDF("a", "a_size"), "a").join(sizes.toDF("b", "b_size"), "b")
    shares = ["num / den as exact", "num / a_size as exact_a_in_b", "num / b_size as exact_b_in_a"]
    return coverage.join(exact.selectExpr("a", "b", *shares), ["a", "b"])


def _members(state: State[Frames], *, star: bool) -> Any:
    """Each document with its representative; copies of a row are numbered."""
    known = state.corpus.documents.filter("size > 0").select("best", "number", "copies", "side")
    if star:
        return known.filter("number = best").selectExpr("best", "number", "1L as nth", "side")
    return known.selectExpr("best", "number", "explode(sequence(1L, copies)) as nth", "side")


def _between(state: State[Frames], pairs: Any, names: tuple[str, ...], count: PairCount) -> Any:
    one = _members(state, star=count.star)
    ends = pairs.join(one.toDF("a", "one", "one_nth", "one_side"), "a")
    ends = ends.join(one.toDF("b", "other", "other_nth", "other_side"), "b")
    ends = ends.filter("one_side <> other_side") if count.across else ends
    turned = [names[number] for number in state.step.mirror]
    columns = [f"if(one > other, {other}, {name}) as {name}" for name, other in zip(names, turned, strict=True)]
    return ends.selectExpr("least(one, other) as a", "greatest(one, other) as b", "num / den as similarity", *columns)


def _within(state: State[Frames], names: tuple[str, ...], count: PairCount) -> Any:
    """The pairs of documents with equal features: every share is 1."""
    every = _members(state, star=False)
    one, other = every.toDF("best", "a", "a_nth", "a_side"), every.toDF("best", "b", "b_nth", "b_side")
    joined = one.join(other, "best").filter("a < b or (a = b and a_nth < b_nth)")
    if count.across:
        joined = joined.filter("a_side <> b_side")
    elif count.star:
        joined = joined.filter("a = best and a_nth = 1")
    return joined.selectExpr("a", "b", "1.0D as similarity", *(f"1.0D as {name}" for name in names))
