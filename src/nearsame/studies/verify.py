"""`verify`: an output proved again from its sources, by `proofs/`, which shares no code with the run.

1. Here the product hands the proof what it has no reader for: archives, web pages, Arrow files; and canonical URLs.
2. Nothing is decided here.
"""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.clock import Progress
from nearsame.engines.space import num_bytes
from nearsame.errors import ConfigError, MissingExtraError, SourceError
from nearsame.files.inputs import several
from nearsame.files.remote import at_hand, is_remote
from nearsame.flow.asked import Known, documents_of, similarity_of
from nearsame.flow.calls import names_again
from nearsame.flow.stored import index_name, stored
from nearsame.outputs.steps import logged
from nearsame.proofs.claims import Claims
from nearsame.proofs.leaks import is_leaks
from nearsame.proofs.learnt import is_learnt, learnt_form
from nearsame.proofs.proof import Effort, prove, unreadable
from nearsame.proofs.records import Reader
from nearsame.proofs.verdict import Findings, Verification
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.urls import DEGREES, CanonicalUrl, Degree
from nearsame.sources import Columns
from nearsame.sources.footers import why_not_readable
from nearsame.sources.memory import Memory, in_memory
from nearsame.stages.keys.urls import Canonical
from nearsame.studies.handed_in import Product

__all__ = ["Verification", "verify"]

_MEMORY = 256 << 20


@checked
def verify(  # noqa: PLR0913  (each is a choice of the caller's)
    directory: str | os.PathLike[str],
    *,
    source: Any = None,
    against: Any = None,
    sample: int = 200,
    seed: int = 0,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Prove an output of `dedup` or `leaks` again from its sources, with code that shares nothing with what made it.

    Every removed document must have a kept witness with the similarity that is said; kept and removed together must be
    what was read, in order and byte for byte; the recipe, the counts and the tables must agree with the sources and
    each other; and of a sample of kept documents none may be similar to another that stays. Where a method only
    estimates, the true similarities are reported; so is what is damaged or missing, like anything else that is wrong.
    Of `leaks` every document is looked through for every text, and the tables must say what that finds.

    Args:
        directory: What `dedup -o`, `leaks -o`, `Result.write` or `Leaks.write` wrote.
        source: Documents that were in memory for the run, as they were given to it. Files are found by themselves.
        against: Likewise those of the other side, or the benchmarks.
        sample: How many of the kept documents are compared with all that stay; 0: none. Of `leaks`, 0 leaves out the
            documents of which nothing is said.
        seed: Of the choice of the sample.
        memory: How many bytes of documents to hold, as in "1GB"; more goes to a file. Default 256 MB.
        progress: Who watches.

    Raises:
        SourceError: The folder is not such an output, or documents that were in memory are not given.

    Example:
        >>> import tempfile
        >>> texts = ["a rose is a rose is a rose", "A rose is a rose is a rose.", "a daisy"]
        >>> with tempfile.TemporaryDirectory() as home:
        ...     stats = dedup(texts).write(home + "/clean")
        ...     verify(home + "/clean", source=texts).holds
        True
    """
    require_number("sample", sample, 0)
    require_number("seed", seed, 0)
    with at_hand(directory) as home:
        effort = Effort(sample, seed, _MEMORY if memory is None else num_bytes(memory))
        proof = _proof(home, (source, against), effort, logged(progress))
    return replace(proof, directory=os.fspath(directory)) if is_remote(os.fspath(directory)) else proof


def _proof(home: Path, given: tuple[Any, Any], effort: Effort, progress: Progress) -> Verification:
    """What holds of a folder, with what was in memory of both sides."""
    findings = Findings()
    if is_leaks(home):
        from nearsame.studies.leak_proof import proven  # noqa: PLC0415  (only those who ask for it)

        return proven(home, *given, findings, everything=effort.sample > 0)
    claims = Claims.read(home, findings, why_not_readable)
    if claims is None:
        return unreadable(home, findings)
    tables = _tables(claims, *given)
    product = Product(claims.columns, claims.skipped, tables)
    reader = Reader(
        claims.columns,
        product.documents,
        product.labels,
        why_not_readable,
        tables,
        claims.skipped,
        claims.skips.unread,
    )
    with ExitStack() as stack:
        known = _known(claims, tables, findings, stack)
        return prove(claims, reader, progress, findings, effort, canonical=_canonical(claims), known=known)


def _tables(claims: Claims, source: Any, against: Any) -> Mapping[str, pa.Table]:
    """The tables that were in memory, by what the output calls them."""
    given = {
        side: [part.table for documents in _in_memory(value) for part in in_memory(documents, None, strict=False)]
        for side, value in ((False, source), (True, against))
    }
    tables: dict[str, pa.Table] = _of_indexes(claims)
    for part in claims.parts:
        if part.format == "memory" and part.name not in tables:
            if not given[part.against]:
                side = "against" if part.against else "source"
                message = f"{claims.home} was made from documents in memory ({part.name})"
                raise SourceError(message, hint=f"Give them again: verify(…, {side}=…).")
            tables[part.name] = given[part.against].pop(0)
    return tables


def _of_indexes(claims: Claims) -> dict[str, pa.Table]:
    """The documents of the indexes that were compared with, as far as they were read."""
    lists = {name: tuple(claims.columns[name]) for name in ("beside", "asked_of_pages", "order")}
    columns = Columns(**{**claims.columns, **lists})
    tables = {}
    for name, upto in claims.call.get("indexes", {}).items():
        (where,) = names_again([name], claims.call["folder"])
        tables[index_name(name)] = stored(where, columns, upto).table
    return tables


def _known(claims: Claims, tables: Mapping[str, pa.Table], findings: Findings, stack: ExitStack) -> Any:
    """What asks again the indexes that were asked, by their names; None: none was."""
    records = {record["name"]: record for record in claims.recipe.get("indexes", ())}
    if not records:
        return None
    named = {index_name(name): name for name in claims.call.get("indexes", {})}
    indexes, folder = {}, claims.call["folder"]
    for name in records.keys() & named.keys():
        part, (where,) = Memory(tables[name], name), names_again([named[name]], folder)
        index = Known.of(where, part, claims.method)
        if json.loads(json.dumps(index.record)) != records[name]:
            findings.wrong("stats.json", f"recipe.indexes says of {name} what it is not")
        indexes[name] = index, stack.enter_context(index.asking())

    def answer(source: str, witness: str, text: str, url: str | None) -> tuple[float, str] | None:
        if source not in indexes:
            return None
        known, index = indexes[source]
        ((match, _),) = known.matches(index, documents_of([text], [url]), lambda match: match.id == witness)
        if match is None:
            return None
        similarity, measure = similarity_of(match)
        return float(similarity), measure

    return answer


def _in_memory(value: Any) -> list[Any]:
    """The sources that are not files."""
    sources = [] if value is None else several(value)
    return [source for source in sources if not isinstance(source, (str, os.PathLike))]


def _canonical(claims: Claims) -> Any:
    """What makes URLs one, by degree, where the run knew such a rule and says what it was."""
    settings = claims.recipe.get("urls") or CanonicalUrl().record()
    if any(note.startswith("URLs were compared as they are") for note in claims.stats.get("notes", ())):
        return dict.fromkeys(DEGREES, lambda url: url)
    own = settings
    if settings.get("method") != CanonicalUrl.name:
        if not is_learnt(settings):
            return None
        own = settings["recipe"]
    try:
        recipe = CanonicalUrl(**{name: value for name, value in own.items() if name != "method"})
        forms: dict[Degree, Any] = {degree: Canonical(recipe.at_most(degree)) for degree in DEGREES}
        forms["usual"]("")
    except (ConfigError, MissingExtraError):
        return None
    if settings is not own:
        forms["guess"] = learnt_form(settings, Canonical(recipe))
    return forms
