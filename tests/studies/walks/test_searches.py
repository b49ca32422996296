"""ns.explain_codes: who is compared with whom, and what is missed, against plain Python integers."""

import json
from itertools import combinations, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns

EIGHT = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
NEAR = [[2, 4, 2], [3, 6, 1], [5, 8, 2]]


def near_pairs(codes: list[int], k: int) -> list[list[int]]:
    """All pairs within k bits, from 1, with their distances."""
    named = list(enumerate(codes, 1))
    return [[a, b, d] for (a, x), (b, y) in combinations(named, 2) if (d := (x ^ y).bit_count()) <= k]


def rows(walk: ns.Explanation, title: str) -> list[tuple[Any, ...]]:
    """Those of the step of that title."""
    [step] = [step for step in walk.steps if step.title == title]
    return [*step.rows]


def pairs_of_run(codes: list[int], **settings: Any) -> set[tuple[int, int]]:
    """What ns.pairs finds, from 1."""
    digits = [f"{code:0{-(-settings['bits'] // 4)}x}" for code in codes]
    rows = ns.pairs(pa.table({"code": digits}), method=ns.Codes(**settings)).table.to_pylist()
    return {(min(pair) + 1, max(pair) + 1) for row in rows for pair in [(row["a_row"], row["b_row"])]}


@st.composite
def searches(draw: st.DrawFn) -> dict[str, Any]:
    """A few codes of some length, many near each other, and a search."""
    bits = draw(st.sampled_from([4, 8, 16, 32, 64, 65, 128]))
    k = draw(st.integers(0, min(4, bits - 1)))
    codes = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=5))
    for code in draw(st.lists(st.sampled_from(codes), min_size=1, max_size=5)):
        codes.append(code ^ draw(st.sampled_from([0, 1 << draw(st.integers(0, bits - 1))])))
    search = draw(st.sampled_from(["blocks", "rotations", "adjacent", "brute"]))
    blocks = draw(st.integers(k + 1, min(bits, k + 3))) if search == "blocks" and draw(st.booleans()) else None
    return {"codes": codes, "bits": bits, "k": k, "search": search, "blocks": blocks}


@given(settings=searches())
def test_what_is_found_and_what_is_missed_is_all_that_is_near(settings):
    """What is found is what a run finds, equal codes among it; only neighbours miss any."""
    walk = ns.explain_codes(**settings)
    found, missed = walk.answer["found"], walk.answer["missed"]
    assert near_pairs(settings["codes"], settings["k"]) == sorted(found + missed)
    assert settings["search"] == "adjacent" or not missed
    assert pairs_of_run(**settings) == {(a, b) for a, b, _ in found}
    json.dumps(walk.record())


@given(settings=searches())
def test_neighbours_are_those_of_sorted_turned_codes(settings):
    """Each turn's order, its distances, and what it finds, by Python's own sort."""
    codes, bits, k = settings["codes"], settings["bits"], settings["k"]
    walk = ns.explain_codes(codes, bits=bits, k=k, search="adjacent")
    shown = rows(walk, "Each turn brings others together")
    assert bits == len(shown)
    met = set()
    for turn, order, distances, found in shown:
        turned = [(code << turn | code >> bits - turn) & (1 << bits) - 1 for code in codes]
        firsts = {code: name for name, code in reversed([*enumerate(turned, 1)])}
        names = [name for _, name in sorted(firsts.items())]
        apart = [(turned[a - 1] ^ turned[b - 1]).bit_count() for a, b in pairwise(names)]
        pairs = [tuple(sorted(pair)) for pair in pairwise(names)]
        assert (" ".join(map(str, names)), " ".join(map(str, apart))) == (order, distances)
        near = [pair for pair, distance in zip(pairs, apart, strict=True) if distance <= k]
        assert ", ".join(f"{a}-{b}" for a, b in near) == found
        met.update(near)
    named = [codes.index(code) + 1 for code in codes]
    found = [sorted({named[a - 1], named[b - 1]}) for a, b, _ in walk.answer["found"]]
    assert met == {tuple(pair) for pair in found if len(pair) > 1}


@given(settings=searches().filter(lambda settings: settings["search"] != "adjacent"))
def test_whoever_agrees_on_a_header_meets_once(settings):
    """In every table those with the same bits under its ones; a pair is compared in the first."""
    codes, bits = settings["codes"], settings["bits"]
    walk, seen = ns.explain_codes(**settings), set()
    for _, header, groups, compared, _ in rows(walk, "Each table brings others together"):
        mask = int(header, 2 if bits <= 32 else 16)
        named = [(name, code) for name, code in enumerate(codes, 1) if code not in codes[: name - 1]]
        meeting = {(a, b) for (a, x), (b, y) in combinations(named, 2) if x & mask == y & mask}
        assert meeting == {pair for group in groups.split(" | ") for pair in combinations(map(int, group.split()), 2)}
        assert len(meeting - seen) == compared
        seen |= meeting
    assert len(seen) == walk.answer["comparisons"]


def test_the_eight_numbers_in_the_three_tables():
    """As given 7 11 9 9 9 7 4; sorted 9 1 5 6 2 9 9; turned by two 2 11 1 5 6 2 6, and nothing is missed."""
    walk = ns.explain_codes(EIGHT, bits=16, k=2, search="adjacent", turns=[0, 2])
    assert [7, 11, 9, 9, 9, 7, 4] == [row[-1] for row in walk.steps[0].rows][1:]
    placed = [rows(walk, title) for title in ("Sorted as they are", "Turned left by 2 and sorted")]
    assert [[4, 3, 6, 1, 8, 5, 2, 7], [4, 2, 3, 6, 1, 8, 5, 7]] == [[row[1] for row in table] for table in placed]
    assert [[9, 1, 5, 6, 2, 9, 9], [2, 11, 1, 5, 6, 2, 6]] == [[row[4] for row in table][1:] for table in placed]
    turned = [3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295]
    assert turned == [int(row[2]) for row in placed[1]]
    assert (NEAR, []) == (walk.answer["found"], walk.answer["missed"])
    sorted_only = ns.explain_codes(EIGHT, bits=16, k=2, search="adjacent", turns=[0]).answer
    assert (NEAR[1:], NEAR[:1]) == (sorted_only["found"], sorted_only["missed"])


def test_eight_blocks_with_headers_of_three_are_56_tables():
    """C(8, 3), and each header is three of the eight blocks."""
    walk = ns.explain_codes([code * 2**48 + code for code in EIGHT], k=3, search="blocks", blocks=8, header=3)
    assert 56 == len(rows(walk, "Each table brings others together"))
    cut = rows(walk, "The codes are cut into blocks")
    assert (8, 64) == (len(cut), sum(row[2] for row in cut))
    assert "C(8, 3) = 56" in walk.steps[1].note


def test_codes_are_numbers_bits_or_prefixed_digits():
    """Of 4 bits 1101 is 13; of 16 bits it is eleven hundred and one."""
    forms: list[int | str] = [13, "13", "0b1101", "0xd", "1101", "0XD", " 0b11_01 "]
    assert {"13"} == {str(row[1]) for row in ns.explain_codes(forms, bits=4, k=0).steps[0].rows}
    assert ["1101", "3"] == [row[1] for row in ns.explain_codes(["1101", "0b11"], bits=16).steps[0].rows]
    eight = ns.explain_codes(["01100001", "97"], bits=8, k=0).answer
    assert [[1, 2, 0]] == eight["found"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(codes=[16, 1]), "16 is not a code of 4 bits"),
        (dict(codes=["0b11111", 1]), "'0b11111' is not a code of 4 bits"),
        (dict(codes=["", 1]), "'' is not a code"),
        (dict(codes=["-9", 1]), "'-9' is not a code"),
        (dict(codes=["²", 1]), "is not a code"),
        (dict(codes=[1]), "a walk is for 2 to 1,000 codes, and 1 are given"),
        (dict(codes=[1, 2], turns=[0]), r"turns=\[0\] do nothing to search=blocks"),
        (dict(codes=[1, 2], search="brute", blocks=4), "blocks=4 does nothing with search=brute"),
        (dict(codes=[1, 2], k=4), "k=4 is not below bits=4"),
    ],
)
def test_what_cannot_be_is_named(settings, message):
    """Codes that do not fit, settings that contradict each other."""
    with pytest.raises(ns.ConfigError, match=message):
        ns.explain_codes(**{"bits": 4, "k": 1, **settings})
