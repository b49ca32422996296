"""`verify` of what `leaks` wrote: the product hands the proof what it reads again, and decides nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nearsame.errors import SourceError
from nearsame.files.inputs import several
from nearsame.flow.calls import names_again
from nearsame.proofs import tables
from nearsame.proofs.claims import Skips
from nearsame.proofs.leak_texts import Benchmark
from nearsame.proofs.leaks import LeakClaims, prove_leaks, read_record
from nearsame.proofs.parts import part_problems, parts_of
from nearsame.proofs.proof import unreadable
from nearsame.proofs.records import Reader
from nearsame.proofs.verdict import Findings, Verification
from nearsame.sources import Columns, Parts, Wanted
from nearsame.sources.footers import why_not_readable
from nearsame.sources.memory import in_memory
from nearsame.studies.benchmarks import named_sources, open_benchmark
from nearsame.studies.handed_in import Product

__all__ = ["proven"]


def proven(home: Path, train: Any, evals: Any, findings: Findings, *, everything: bool) -> Verification:
    """Prove an output of `leaks` again.

    Args:
        home: The folder.
        train: Training data that were in memory.
        evals: Benchmarks, where some were.
        findings: What is found on the way.
        everything: Whether documents of which nothing is said are looked through, too.

    Raises:
        SourceError: What was in memory is not given, or came from standard input.
    """
    listed = tables.read(home, "sources.parquet", tables.SOURCES, findings, why_not_readable)
    record = read_record(home, findings)
    about = None if listed is None else tables.metadata(listed)
    problems = [] if listed is None else [*part_problems(listed)]
    findings.wrong_all("sources.parquet", problems)
    if listed is None or record is None or about is None or problems:
        return unreadable(home, findings)
    parts = parts_of(listed, about.get("encodings", {}))
    opened = _benchmarks(home, about["call"], evals, record["settings"])
    names = {part.name for part in parts} | {part.name for found in opened.values() for part in found}
    skips = Skips.read(home, Findings(), why_not_readable, names)  # a file may be on both sides, and its records twice
    if skips.number is None:
        findings.wrong("skipped.parquet", "it cannot be read")
    memory = _memory(home, parts, train)
    product = Product(about["columns"], skips.positions, memory)
    reader = Reader(
        about["columns"], product.documents, product.labels, why_not_readable, memory, skips.positions, skips.unread
    )
    columns = Columns(encoding=record["settings"].get("encoding"))
    benchmarks = [Benchmark(name, _records(found, columns)) for name, found in opened.items()]
    return prove_leaks(LeakClaims(home, record, parts), benchmarks, reader, findings, everything=everything)


def _benchmarks(home: Path, call: Mapping[str, Any], evals: Any, settings: Mapping[str, Any]) -> dict[str, Parts]:
    """The benchmarks, as they are given now or by the names that they had."""
    if evals is not None:
        named = dict(named_sources(evals))
        if named.keys() != call["evals"].keys():
            message = f"{home} is about the benchmarks {', '.join(call['evals'])}, not {', '.join(named)}"
            raise SourceError(message, hint="Give these, by their names.")
    elif any(None in names for names in call["evals"].values()):
        message = f"{home} was made with benchmarks in memory"
        raise SourceError(message, hint="Give them again: verify(…, against={name: …}).")
    else:
        named = {name: tuple(names_again(names, call["folder"])) for name, names in call["evals"].items()}
    kinds = Wanted.of(read_as=settings.get("read_as")).kinds
    return {name: open_benchmark(source, kinds, settings.get("encoding")) for name, source in named.items()}


def _memory(home: Path, parts: Any, train: Any) -> dict[str, Any]:
    """The tables that were in memory, by what the output calls them."""
    waiting = [name for part in parts if part.format in ("memory", "stdin") for name in [part.name]]
    if any(part.format == "stdin" for part in parts):
        raise SourceError(f"{home} was made from standard input", hint="Write the output again, from files.")
    given = (
        [] if train is None else [part.table for one in several(train) for part in in_memory(one, None, strict=False)]
    )
    if len(given) < len(waiting):
        message = f"{home} was made from documents in memory ({waiting[0]})"
        raise SourceError(message, hint="Give them again: verify(…, source=…).")
    return dict(zip(waiting, given, strict=False))


def _records(parts: Parts, columns: Columns) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for part in parts:
        for position, record in part.objects(columns, lambda _: None):  # type: ignore[attr-defined]
            yield part.name, position, record
