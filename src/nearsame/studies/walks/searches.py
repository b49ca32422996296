"""Searches for near codes walked through: who meets whom at each turn or in each table, and what is missed.

1. Tables, orders and distances are those of a run; here they are only laid out.
2. Codes are numbered from 1, as they are given. Of equal ones the first is searched for all, as a run does.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.answers.comparisons import Explanation, Step
from nearsame.errors import ConfigError
from nearsame.kernels import hamming_rotations, hamming_search
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Codes
from nearsame.shares import counted
from nearsame.sources.codes import read_code, words_of
from nearsame.stages.keys.blocks import SEARCH
from nearsame.stages.keys.headers import HeaderKeys, choose_tables, plan_blocks

__all__ = ["walk", "walk_two"]

_MOST_CODES = 1000
_MISSED = "missed"
_NARROW = 32  # bits of a code that is shown as a number and as bits
_Pair = tuple[int, int]


class _Found(NamedTuple):
    """What a search of different codes did.

    Attributes:
        steps: its tables.
        where: where each pair that was compared met first.
        comparisons: how many there were.
    """

    steps: list[Step]
    where: dict[_Pair, str]
    comparisons: int


def walk_two(given: Sequence[Any], recipe: Codes) -> Explanation:
    """The same of two codes, as of two documents."""
    if len(given) < 2 or not all(isinstance(code, str) for code in given):
        raise ConfigError("method=codes takes two codes, as texts", hint="Give two, or use explain_codes.")
    return walk(given, recipe, None)


def walk(given: Sequence[int | str], recipe: Codes, turns: Sequence[int] | None) -> Explanation:
    """The codes, how they meet, and which near pairs were compared."""
    numbers = [read_code(code, recipe.bits, decimal=recipe.decimal) for code in given]
    if not 2 <= len(numbers) <= _MOST_CODES:
        message = f"a walk is for 2 to {_MOST_CODES:,} codes, and {len(numbers):,} are given"
        raise ConfigError(message, hint="Give a few of them.")
    if turns is not None and recipe.search != "adjacent":
        raise ConfigError(f"turns={list(turns)} do nothing to search={recipe.search}", hint="Choose search=adjacent.")
    codes = arrow.frozen(np.array([words_of(number, recipe.bits) for number in numbers], np.uint64))
    named: dict[int, int] = {}
    names = [named.setdefault(number, name) for name, number in enumerate(numbers, 1)]
    first = np.array([*named.values()])
    alone = arrow.frozen(codes[first - 1])
    found = _adjacent(alone, first, recipe, turns) if recipe.search == "adjacent" else _by_tables(alone, first, recipe)
    near = hamming_search.brute_force(codes, recipe.k)
    met = [_met(names, found, a, b, d) for a, b, d in zip(*(column.tolist() for column in near), strict=True)]
    answer: dict[str, Any] = {
        "found": [[a, b, distance] for a, b, distance, where in met if where != _MISSED],
        "missed": [[a, b, distance] for a, b, distance, where in met if where == _MISSED],
        "comparisons": found.comparisons,
        "all_pairs": comb(len(alone), 2),
    }
    steps = (_given(codes, numbers, recipe), *found.steps, _verdict(recipe, met, answer))
    return Explanation(recipe.name, steps, answer, recipe.record())


def _met(names: Sequence[int], found: _Found, a: int, b: int, distance: int) -> tuple[int, int, int, str]:
    """Two near codes, from 1, their distance, and where they met: copies meet where the first of each do."""
    pair = min(names[a], names[b]), max(names[a], names[b])
    return a + 1, b + 1, distance, found.where.get(pair, _MISSED) if distance else "equal"


def _given(codes: arrow.UInt64s, numbers: Sequence[int], recipe: Codes) -> Step:
    apart = ["", *hamming_search.distances(codes[:-1], codes[1:]).tolist()]
    rows = tuple(
        (i, *_shown(number, recipe.bits), distance)
        for i, (number, distance) in enumerate(zip(numbers, apart, strict=True), 1)
    )
    columns = ("#", *_headings(recipe.bits), "distance")
    equal = " Of equal codes the first is searched, and what it meets, all of them meet."
    note = f"The distance is that to the code before.{equal if len({*numbers}) < len(numbers) else ''}"
    return Step(f"The codes of {recipe.bits} bits", columns, rows, note)


def _adjacent(
    codes: arrow.UInt64s, numbered: npt.NDArray[np.int64], recipe: Codes, turns: Sequence[int] | None
) -> _Found:
    """Neighbours in each sorted order: in every rotation, as a run does, or in the given ones."""
    bits, summary, steps = recipe.bits, [], []
    where: dict[_Pair, str] = {}
    every = range(bits) if turns is None else [turn % bits for turn in turns]
    for turn in every:
        order = hamming_rotations.rotated_order(codes, bits, turn)
        apart = hamming_search.distances(codes[order[:-1]], codes[order[1:]]).tolist()
        names = numbered[order].tolist()
        met = [(min(pair), max(pair)) for pair in pairwise(names)]
        near = [pair for pair, distance in zip(met, apart, strict=True) if distance <= recipe.k]
        for pair in met:
            where.setdefault(pair, f"turn {turn}")
        summary.append((turn, " ".join(map(str, names)), " ".join(map(str, apart)), _listed(near)))
        if turns is not None:
            steps.append(_turned(codes[order], recipe, turn, names, apart))
    note = (
        f"Codes are turned left and sorted; neighbours are compared, and found within {counted(recipe.k, 'bit')}."
        " Distances are those of neighbours."
    )
    columns = ("turn", "order", "distances", "found")
    return _Found(
        [*steps, Step("Each turn brings others together", columns, tuple(summary), note)],
        where,
        len(every) * (len(codes) - 1),
    )


def _turned(codes: arrow.UInt64s, recipe: Codes, turn: int, names: list[int], apart: list[int]) -> Step:
    turned = hamming_rotations.rotate(codes, recipe.bits, turn)
    values = [sum(int(word) << 64 * at for at, word in enumerate(words)) for words in turned]
    beside: list[tuple[str | int, str]] = [("", ""), *((d, "yes" if d <= recipe.k else "") for d in apart)]
    rows = tuple(
        (place, name, *_shown(value, recipe.bits), *distance)
        for place, (name, value, distance) in enumerate(zip(names, values, beside, strict=True), 1)
    )
    title = f"Turned left by {turn} and sorted" if turn else "Sorted as they are"
    return Step(title, ("place", "#", *_headings(recipe.bits), "distance", "found"), rows)


def _by_tables(codes: arrow.UInt64s, numbered: npt.NDArray[np.int64], recipe: Codes) -> _Found:
    """Whoever shares the header of a table, as a run chooses the tables."""
    sample = [(len(codes), codes)]
    tables = choose_tables(recipe, sample, SEARCH)
    starts, rows = np.arange(len(codes)) * codes.shape[1], np.arange(len(codes))
    keys, _ = HeaderKeys(tables).keys(arrow.frozen(codes.ravel()), arrow.frozen(starts), arrow.frozen(rows))
    near = hamming_search.self_join(codes, recipe.k, tables)
    similar = {*zip(numbered[near.a].tolist(), numbered[near.b].tolist(), strict=True)}
    where: dict[_Pair, str] = {}
    shown = []
    for number, (mask, column) in enumerate(zip(tables, keys.reshape(len(codes), -1).T, strict=True), 1):
        groups: dict[int, list[int]] = {}
        for name, key in zip(numbered.tolist(), column.tolist(), strict=True):
            groups.setdefault(key, []).append(name)
        meeting = [group for group in groups.values() if len(group) > 1]
        fresh = [pair for group in meeting for pair in combinations(group, 2) if pair not in where]
        where.update(dict.fromkeys(fresh, f"table {number}"))
        found = _listed(pair for pair in fresh if pair in similar)
        header = sum(int(word) << 64 * at for at, word in enumerate(mask))
        met = " | ".join(" ".join(map(str, group)) for group in meeting)
        shown.append((number, _bits(header, recipe.bits), met, len(fresh), found))
    note = (
        f"{len(tables)} {'table' if len(tables) == 1 else 'tables'}, each with a header (its bits are 1 here): codes"
        " that agree on it are compared, each two once."
    )
    columns = ("table", "header", "who meets", "compared", "found")
    steps = [Step("Each table brings others together", columns, tuple(shown), note)]
    cut = _CUTS.get(recipe.search)
    return _Found([*([cut(recipe, sample)] if cut else []), *steps], where, len(where))


def _blocks(recipe: Codes, sample: list[tuple[int, Any]]) -> Step:
    """How the codes are cut into blocks, the highest bits first."""
    plan = plan_blocks(recipe, sample, SEARCH)
    rows = tuple((i, f"{stop - 1}-{start}", stop - start) for i, (start, stop) in enumerate(plan.blocks[::-1], 1))
    g, of = plan.header_blocks, plan.num_blocks
    note = "So few codes are compared all with all: no table would pay."
    if g:
        note = (
            f"Codes within {counted(recipe.k, 'bit')} that are cut into {of} blocks agree on {of - recipe.k} at least."
            f" A header of {g} of them can be chosen in C({of}, {g}) = {plan.num_tables} ways. Blocks are cut to tell"
            " these codes apart equally well."
        )
    return Step("The codes are cut into blocks", ("block", "bits", "wide"), rows, note)


_CUTS: dict[str, Callable[[Codes, list[tuple[int, Any]]], Step]] = {"blocks": _blocks}


def _verdict(recipe: Codes, met: list[tuple[int, int, int, str]], answer: dict[str, Any]) -> Step:
    rows = tuple((f"{a}-{b}", distance, where) for a, b, distance, where in met)
    note = (
        f"{len(rows)} {'pair is' if len(rows) == 1 else 'pairs are'} within {counted(recipe.k, 'bit')},"
        f" {len(answer['missed'])} of them missed. {counted(answer['comparisons'], 'comparison')}; to compare all with"
        f" all takes {answer['all_pairs']:,}."
    )
    return Step("What was found, and what was missed", ("pair", "distance", "met"), rows, note)


def _listed(pairs: Iterable[_Pair]) -> str:
    return ", ".join(f"{a}-{b}" for a, b in pairs)


def _headings(bits: int) -> tuple[str, ...]:
    return ("number", "bits") if bits <= _NARROW else ("hex",)


def _shown(value: int, bits: int) -> tuple[str, ...]:
    return (str(value), _bits(value, bits)) if bits <= _NARROW else (_bits(value, bits),)


def _bits(value: int, bits: int) -> str:
    """A code of few bits as these, a long one in hexadecimal digits."""
    return f"{value:0{bits}b}" if bits <= _NARROW else f"{value:0{-(-bits // 4)}x}"
