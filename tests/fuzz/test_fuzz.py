"""The fuzzing itself: what it finds, that it would find something, and that what it found can be seen again."""

import json
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from nearsame.stages.clusters import policies
from tests.fuzz.__main__ import Tally, run
from tests.fuzz.cases import METHODS, made
from tests.fuzz.deciding import decided, wrong_with
from tests.fuzz.filters import FILTERS
from tests.fuzz.holding import held, shrunk


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_few_random_runs_answer_as_brute_force_does(name: str) -> None:
    """A few of each method; the slow test has hundreds of all, the long one thousands."""
    assert [] == run(Tally(next=10**6), 12, names=(name,))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "cases", [pytest.param(600, marks=pytest.mark.slow), pytest.param(2_000, marks=pytest.mark.long)]
)
def test_random_runs_answer_as_brute_force_does(cases: int) -> None:
    """All options of all methods; none is wrong, and what may be missed is missed as seldom as promised."""
    assert [] == run(Tally(), cases)


@pytest.mark.parametrize(
    "cases", [80, pytest.param(300, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.long)]
)
@pytest.mark.timeout(600)
def test_random_runs_obey_decisions_as_the_rule_says(cases: int) -> None:
    """All methods; sides, groups, components, copies and circles; who goes, what is counted, `at`, and the proof."""
    told = {seed: decided(seed) for seed in range(cases)}
    wrong = {seed: wrong for seed, given in told.items() if (wrong := wrong_with(given))}
    assert {} == wrong
    assert sum(len(given.apart) for given in told.values()) > cases / 2
    assert sum(len(given.chosen) for given in told.values()) > cases / 2


def test_a_case_is_its_seed() -> None:
    """The same number makes the same case, whatever was made before."""
    assert [made(seed).described() for seed in range(40)] == [made(seed).described() for seed in range(40)]
    assert 40 == len({made(seed).described() for seed in range(40)})


def test_all_options_come_up() -> None:
    """No setting of a method is left out."""
    cases = [made(seed) for seed in range(3_000)]
    for name in METHODS:
        mine = [case for case in cases if case.name == name]
        unasked = {"unicode", "tokeniser", "table", "frequencies", "boilerplate_per_host"}  # no case has URLs
        known = set(type(mine[0].method).model_fields) - unasked
        unmade = {"drop_boilerplate"} if name == "modp" else set()  # see cases._modp
        assert unmade == known - {setting for case in mine for setting in case.recipe}
        assert {"dedup", "pairs", "star"} == {case.question for case in mine}
    for option in ("within", "clusters", "use"):
        assert any(option in case.asked for case in cases)
    assert {False, True} == {case.tight for case in cases}
    assert {"memory", "jsonl", "parquet", "two"} == {case.layout for case in cases}
    assert {(), FILTERS, *((one,) for one in FILTERS)} == {case.off for case in cases}


@pytest.mark.slow
def test_a_wrong_answer_is_found_cut_down_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Here priority goes backwards: soon a case says so, with no document too many, and how to see it again."""
    plain = policies.ranks

    def backwards(*given: Any, **more: Any) -> Any:
        found = plain(*given, **more)
        return found.max(initial=0) - found

    with mock.patch("nearsame.flow.arrays.ranks", backwards):
        tally = Tally()
        run(tally, 40, names=("jaccard",))
        assert tally.failed
        seed = tally.failed[0]
        case = shrunk(made(seed, ("jaccard",)))
        assert held(case).wrong
        assert [] == [row for row in range(len(case.documents)) if held(case.without(row)).wrong]
    assert f"again: scripts/fuzz --case {seed} --method jaccard" in capsys.readouterr().out
    assert not held(case).wrong


def test_a_method_that_misses_too_much_is_told() -> None:
    """One miss more than chance allows is none; a hundred are."""
    tally = Tally(chances={"minhash": 1_000}, expected={"minhash": 10.0}, missed={"minhash": 11})
    assert [] == tally.below_recall()
    tally.missed["minhash"] = 110
    assert ["minhash missed 110 of 1000 pairs, where 10.0 are expected"] == tally.below_recall()


@pytest.mark.slow
def test_the_script_goes_on_where_it_was(root: Path, tmp_path: Path) -> None:
    """A file of its state; one case again by its seed."""
    state = tmp_path / "state.json"
    for cases in (3, 6):
        command = [root / "scripts" / "fuzz", "--cases", "3", "--state", state]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"{cases} cases up to seed {cases - 1}: 0 wrong" in done.stdout
    assert 6 == json.loads(state.read_text("utf-8"))["next"]
    again = subprocess.run([root / "scripts" / "fuzz", "--case", "5"], capture_output=True, text=True, check=True)
    assert again.stdout.startswith("case 5 holds\n  method: ")
