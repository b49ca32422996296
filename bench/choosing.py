"""Choosing: what judged pairs of two real corpora speak for, beside the default and the best of any threshold."""

import argparse
import sys
from pathlib import Path

import report

import nearsame as ns
from nearsame.answers.advice import Advice, Ranged, Tried

PAGE = report.ROOT / "docs" / "quality.md"
PACKAGES = ("nearsame", "numpy", "pyarrow")
CORPORA = {"webis-copycat": 1.0, "turku-paraphrase-fi": 3.0}  # and the least label that is true
HEADER = (
    "corpus",
    "true",
    "false",
    "advised",
    "from",
    "F1 held out",
    "precision",
    "recall",
    "F1 of the default",
    "F1 at most",
)


def main(arguments: list[str]) -> int:
    """Measure, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench choosing", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder of judged corpora: NAME.docs.jsonl.gz and NAME.pairs.tsv.gz"
    )
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    rows, tried = [], {}
    for name, least in CORPORA.items():
        corpus, truth = (str(given.data / f"{name}.{ending}") for ending in ("docs.jsonl.gz", "pairs.tsv.gz"))
        found = ns.evaluate(corpus, methods=["digest"], truth=truth, least_label=least, apart=False)
        if not isinstance(found.advice, Advice) or found.advice.held_out is None:
            print(f"{name}: {found.advice}")
            return 1
        rows.append(row(name, found.advice))
        tried[name] = found.advice.tried
    about = (
        "`advised` is the setting of the greatest F1 on all judged pairs, `from` its threshold. `F1 held out`,"
        " precision and recall are of pairs that a choice was not made by, with the interval that 95 of 100 resamples"
        " have. The default is the exact join of 5-word shingles at 0.8; `F1 at most` is what the best of all settings"
        " and thresholds reaches on the very pairs that it is chosen by."
    )
    of_settings = (
        "What the best single threshold of each setting reaches on the pairs that it is chosen by, and which threshold"
        " that is; settings that were best in no corpus stand there, too."
    )
    header, lines = ("setting", *CORPORA), settings(tried)
    report.show("Choosing", HEADER, rows)
    report.show("Settings", header, lines)
    print(f"{about}\n\n{report.made_by('choosing', PACKAGES)}")
    if not given.no_write and report.has_place(PAGE, "choosing"):
        tables = [about, report.markdown(HEADER, rows), of_settings, report.markdown(header, lines)]
        report.write_between(PAGE, "choosing", "\n\n".join([*tables, report.made_by("choosing", PACKAGES)]))
    return 0


def settings(tried: dict[str, tuple[Tried, ...]]) -> list[tuple[str, ...]]:
    """A line for each setting: its greatest F1 in each corpus, and at which threshold; the best first."""
    found = {name: {one.label: one for one in some} for name, some in tried.items()}
    labels = dict.fromkeys(label for some in found.values() for label in some)
    return [(f"`{label}`", *(reached(some.get(label)) for some in found.values())) for label in labels]


def reached(one: Tried | None) -> str:
    """F1 and threshold; a dash where a setting was not tried."""
    return "–" if one is None or one.note else f"{one.f1:.3f} ({one.cut})"


def row(name: str, advice: Advice) -> tuple[str, ...]:
    """A line of the table."""
    held, best = advice.held_out, advice.best
    default = next(one for one in advice.tried if one.label == "jaccard").at(0.8)
    assert held is not None  # noqa: S101  (main has looked)
    shares = (interval(held.f1), interval(held.precision), interval(held.recall))
    return (
        name, f"{advice.true:,}", f"{advice.false:,}", f"`{best.label}`", best.cut, *shares,
        f"{default.f1:.3f}", f"{best.f1:.3f}",
    )  # fmt: skip


def interval(share: Ranged) -> str:
    """A share with its interval."""
    return f"{share.value:.3f} ({share.low:.3f}-{share.high:.3f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
