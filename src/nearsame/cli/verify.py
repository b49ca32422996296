"""`nearsame verify`: an output proved again from its sources."""

import sys

import click

from nearsame.cli import options

__all__ = ["verify"]

_WRONG = 1
_SHOWN = 20


@click.command(cls=options.Command, short_help="Prove an output again from its sources, by other code.")
@click.argument("directory", cls=options.Argument, metavar="DIR", reads=True)
@options.section(
    "Deciding",
    options.spec(
        "--sample",
        type=click.IntRange(0),
        default=200,
        metavar="N",
        help="Compare N kept documents with all others that are kept.",
        stands="200",
    ),
    options.spec(
        "--seed", type=click.IntRange(0), default=0, metavar="N", help="Of the choice of these documents.", stands="0"
    ),
)
@options.output(
    options.spec(
        "--all", "everything", is_flag=True, help="Show all that does not hold.", stands=f"the first {_SHOWN}"
    ),
    options.in_json("All of it", "for people"),
)
@options.section(
    "Running",
    options.spec(
        "--memory", metavar="SIZE", help="Hold this much of the documents; more goes to a file.", stands="256MB"
    ),
    options.spec("-q", "--quiet", is_flag=True, help="Print only what is wrong.", stands="progress and summary"),
)
@options.running_plainly
def verify(  # noqa: PLR0917  (click passes options by name)
    directory: str, sample: int, seed: int, everything: bool, as_json: bool, memory: str | None, quiet: bool
) -> int:
    """Prove what `nearsame dedup` or `leaks` wrote again from its sources, with code that shares nothing with the run.

    Checked are: that every removed document has a kept witness with the similarity that is said; that kept and removed
    together are what was read, in order and byte for byte; that counts and tables agree; and of a sample of kept
    documents that none is similar to another that stays. Where a method only estimates, the true similarities are
    shown; what cannot be proven is named. Of leaks every document is looked through for every text, and the tables must
    say what that finds (--sample 0: only documents of which something is said). Exit code 1: something does not hold,
    or is damaged or missing. The file of `nearsame pairs` and what Spark wrote cannot be verified. Defaults stand in
    brackets.
    """
    from nearsame.outputs import console, proofs
    from nearsame.studies.verify import verify as prove

    with console.watched(quiet=quiet) as progress:
        proof = prove(directory, sample=sample, seed=seed, memory=memory, progress=progress)
    if as_json:
        console.print_json(proof.record())
    else:
        shown = proofs.lines(proof.record(), most=None if everything else _SHOWN, quiet=quiet)
        report = console.Report(sys.stdout)
        for line in shown:
            report.line(line)
    return 0 if proof.holds else _WRONG
