"""What people read when an output was verified: what was checked, what is true of estimates, what does not hold."""

from collections.abc import Iterator, Mapping
from typing import Any

from nearsame.printable import printable
from nearsame.shares import cut

__all__ = ["lines"]


def lines(record: Mapping[str, Any], *, most: int | None, quiet: bool) -> Iterator[str]:
    """The record of a verification, line by line, with at most so many of the things that do not hold."""
    if not quiet:
        yield from _checked(record)
    shown = record["problems"] if most is None else record["problems"][:most]
    for problem in shown:
        yield printable(f"wrong: {problem['place']}: {problem['what']}")
    left = record["num_problems"] - len(shown)
    if left:
        more = " (--all shows more)" if most is not None else ""
        yield f"and {left:,} more{more}"
    if not quiet:
        number = record["num_problems"]
        wrong = "One thing does not hold." if number == 1 else f"{number:,} things do not hold."
        yield "Everything holds." if record["holds"] else wrong


def _checked(record: Mapping[str, Any]) -> Iterator[str]:
    checked = ", ".join(f"{count:,} {what}" for what, count in record["checked"].items())
    yield printable(f"{record['directory']}: checked {checked or 'nothing'}.")
    estimates, residual = record["estimates"], record["residual"]
    if estimates:
        yield (
            f"The {estimates['rows']:,} similarities that say {estimates['measure']} are estimates. The true Jaccard"
            f" similarities: least {cut(estimates['least'], 3)}, median {cut(estimates['median'], 3)},"
            f" {100 * estimates['reached']:.1f} % at or above {estimates['threshold']:g}."
        )
    if residual:
        sentence = (
            f"{residual['similar']:,} of {residual['sampled']:,} sampled kept documents are similar to another of the"
        )
        may = ", which the method may miss" if residual["may_miss"] and residual["similar"] else ""
        yield f"{sentence} {residual['compared']:,} that stay{may}."
    for note in record["notes"]:
        yield printable(f"note: {note}")
    if record["unproven"]:
        yield f"Not proven, only held to the rest: of stats.json {', '.join(record['unproven'])}."
