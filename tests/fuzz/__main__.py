"""`scripts/fuzz`: many cases, or one again."""

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.cases import METHODS, made
from tests.fuzz.holding import held, shrunk

__all__ = ["Tally", "main", "run"]

_TOLD_EVERY = 250


@dataclass
class Tally:
    """What came of many cases.

    Attributes:
        next: the seed to go on with.
        cases: that were held to the truth.
        failed: seeds of those that were wrong.
        chances: pairs of distinct documents that a method may miss, by method.
        expected: of these, how many may be missing at most, on average.
        missed: how many were.
    """

    next: int = 0
    cases: int = 0
    failed: list[int] = field(default_factory=list)
    chances: dict[str, int] = field(default_factory=dict)
    expected: dict[str, float] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)

    def below_recall(self) -> list[str]:
        """Methods that missed more than they promise: five standard deviations, twice over for pairs of one group."""
        return [
            f"{name} missed {missed} of {self.chances[name]} pairs, where {self.expected[name]:.1f} are expected"
            for name, missed in self.missed.items()
            if missed > self.expected[name] + 10 * self.expected[name] ** 0.5 + 5
        ]


def run(tally: Tally, cases: int, *, seconds: float | None = None, names: tuple[str, ...] = METHODS) -> list[str]:
    """Go through cases from where a tally stands; what is wrong, in words."""
    began, told = time.monotonic(), []
    for _ in range(cases):
        if seconds is not None and time.monotonic() - began > seconds:
            break
        case = made(tally.next, names)
        outcome = held(case)
        tally.next += 1
        tally.cases += 1
        tally.chances[case.name] = tally.chances.get(case.name, 0) + outcome.chances
        tally.expected[case.name] = tally.expected.get(case.name, 0.0) + outcome.expected
        tally.missed[case.name] = tally.missed.get(case.name, 0) + outcome.missed
        if outcome.wrong:
            tally.failed.append(case.seed)
            told.append(_told(case.seed, names))
            print(told[-1], flush=True)
        if not tally.cases % _TOLD_EVERY:
            print(f"{tally.cases:,} cases, {len(tally.failed)} wrong", flush=True)
    return told + tally.below_recall()


def _told(seed: int, names: tuple[str, ...] = METHODS) -> str:
    """A failure, with as few documents as it takes, and how to see it again."""
    case = shrunk(made(seed, names))
    chosen = "" if names == METHODS else f" --method {','.join(names)}"
    return f"case {seed}: {held(case).wrong}\n{case.described()}\n  again: scripts/fuzz --case {seed}{chosen}"


def main() -> int:
    """Read the options, and run."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Whole runs held to brute force.")
    parser.add_argument("--cases", type=int, default=2_000, metavar="N", help="how many [2000]")
    parser.add_argument("--minutes", type=float, metavar="N", help="stop after so many [when all are done]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first one [0]")
    parser.add_argument("--case", type=int, metavar="SEED", help="one again, with all that is known of it")
    parser.add_argument("--method", default=",".join(METHODS), metavar="LIST", help="only these [all]")
    parser.add_argument("--state", type=Path, metavar="FILE", help="go on where this file says, and write it [none]")
    given = parser.parse_args()
    names = tuple(given.method.split(","))
    if not set(names) <= set(METHODS):
        parser.error(f"--method {given.method}: choose from {', '.join(METHODS)}")
    if given.case is not None:
        return _one(given.case, names)
    tally = Tally(next=given.seed)
    if given.state and given.state.exists():
        tally = Tally(**json.loads(given.state.read_text("utf-8")))
    seconds = None if given.minutes is None else 60 * given.minutes
    wrong = run(tally, given.cases, seconds=seconds, names=names)
    if given.state:
        given.state.write_text(json.dumps(vars(tally), indent=2) + "\n", "utf-8")
    print(f"{tally.cases:,} cases up to seed {tally.next - 1}: {len(tally.failed)} wrong {tally.failed or ''}".rstrip())
    for name, chances in tally.chances.items():
        if chances:
            print(
                f"  {name}: missed {tally.missed[name]} of {chances} pairs, at most {tally.expected[name]:.1f} expected"
            )
    for line in tally.below_recall():
        print(line)
    return 1 if wrong or tally.failed else 0


def _one(seed: int, names: tuple[str, ...]) -> int:
    case = made(seed, names)
    wrong = held(case).wrong
    print(_told(seed, names) if wrong else f"case {seed} holds\n{case.described()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
