"""What a user calls: dedup and pairs, and the results to be questioned.

1. The first argument is what to read; everything else goes by keyword.
2. A list is documents; several sources are a tuple: `dedup(("a.jsonl", "b.parquet"))`.
3. Results are immutable: asking for another threshold gives another result.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from nearsame.clock import Clock, Progress
from nearsame.engines.checkpoints import Checkpoints
from nearsame.engines.local import Local
from nearsame.engines.space import num_bytes
from nearsame.errors import ConfigError, SourceError
from nearsame.flow import audits, costs, layers, pipeline
from nearsame.flow.arrays import Arrays
from nearsame.flow.checks import (
    chosen_recipe,
    chosen_ties,
    chosen_vectors,
    chosen_within,
    is_audited,
    require_clusters,
    require_columns,
    with_method_hint,
)
from nearsame.flow.corpus import Question
from nearsame.flow.evidence import BESIDE, OneForm, PageFacts
from nearsame.flow.guesses import comparing
from nearsame.flow.identities import identity, with_kept_seed
from nearsame.flow.layers import Layers, chosen_layers, needs_bare, with_guesses
from nearsame.flow.page_reading import require_pages, with_max_record, with_pages
from nearsame.flow.removals import Removals
from nearsame.flow.requirements import Requirements
from nearsame.flow.results import Pairs, Result
from nearsame.flow.runs import Run, inputs_of
from nearsame.recipes.arguments import checked, refuse_on_spark, require_number
from nearsame.recipes.methods import Digest, Method
from nearsame.recipes.urls import CanonicalUrl
from nearsame.sources import Columns, Part, open_parts
from nearsame.sources.memory import Memory
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.pairs.expand import Groups, Listed
from nearsame.stats import Audit

__all__ = ["Pairs", "Result", "dedup", "pairs"]


@with_method_hint
@checked
def dedup(  # noqa: PLR0913  (each is a choice of the caller's, and all but one go by keyword)
    source: Any,
    *,
    method: Method | str | None = None,
    keep: str = "first",
    against: Any = None,
    within: bool | None = None,
    clusters: str = "greedy",
    ties: str | None = None,
    order_column: str | None = None,
    engine: Any = None,
    text_column: str | None = None,
    id_column: str | None = None,
    features_column: str | None = None,
    vector_column: str | None = None,
    html_column: str | None = None,
    extract: str | None = None,
    max_document: int | str | None = None,
    max_record: int | str | None = None,
    strict: bool = False,
    audit: bool | None = None,
    require_recall: float | None = None,
    max_residual: float | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    workdir: str | os.PathLike[str] | None = None,
    batch_rows: int | None = None,
    progress: Progress | None = None,
    use: str | Sequence[str] | None = None,
    url_column: str | None = None,
    urls: CanonicalUrl | OneForm | None = None,
) -> "Result":
    """Find near-duplicates and decide which documents stay.

    Args:
        source: A path, glob or URL; a list of texts or of dicts; a 2-D array; anything with
            `__arrow_c_stream__`; a tuple of such.
        method: A recipe, or the name of one with its defaults; `Jaccard()` if None.
        keep: first, last, longest, shortest, or newest|oldest|max|min:COLUMN: which of two similar documents stays.
        against: Documents that are all kept and that `source` is compared with: training data, yesterday's crawl.
        within: Whether documents of `source` are compared with each other as well. Default: yes, but for methods that
            compare across the sides only (`Containment(remove="container")`).
        clusters: `greedy`: what resembles a kept document goes. `components`: of all that chains of similar pairs join
            one document stays, however little the ends resemble each other; `stats.component` tells how little.
        ties: What decides between documents of equal value: `reading`: the first that was read; `content`: the order
            column, then the id, then the 128-bit hash of the text, so that any engine gives the same answer. Default:
            `reading`; `content` with an order column or a Spark engine, since a DataFrame has no order.
        order_column: A column whose values take the place of the order of reading, ascending, nulls last.
        engine: `Spark(session)` runs the work on Spark: sources are DataFrames or paths that Spark can read, and the
            answer is DataFrames. Default: this machine.
        text_column: The column of texts; default `text`, else `content`, else the only one of strings.
        id_column: The column of ids; default `id`, else `source:row`.
        features_column: A list column of ready items that takes the place of the text.
        vector_column: With `Hyperplane`, the list column of numbers; default `vector`, as a 2-D array has it.
        html_column: In place of the text, a column of web pages as markup.
        extract: How web pages become texts: `main` content (all visible text where a page has none), all visible
            `text`, `none` (the markup itself), or the main content as `trafilatura` sees it. Default main.
        max_document: Bytes of a web page that are read, decompressed, as a number or as in "10MB"; the rest is cut.
            Default 10MB.
        max_record: A record (a line, a file, a text of a table) of more bytes is not compared: it stays as it is, and
            is told with its place. As a number or as in "64MB", which is the default.
        strict: Whether a record that cannot be read is an error.
        audit: Whether recall, residual duplicates and precision are measured on a sample of the run itself; default for
            methods that may miss pairs.
        require_recall: The least measured recall: of the documents that had to go, the share that went.
        max_residual: The most measured residual duplicates: of the kept documents, the share with a kept one like it.
        threads: How many; default one for each processor. The answer does not depend on it.
        memory: How much the run may hold, in bytes or as in "4GB"; default half of what is free. What does not fit
            goes to files. The answer does not depend on it.
        workdir: A folder that keeps finished steps: the same call continues there where it was stopped. Sources must be
            files; a changed one, or another recipe or version, is an error.
        batch_rows: At most so many documents in a batch. The answer does not depend on it.
        progress: Who watches.
        use: Layers that remove documents one after the other, cheapest first, as in "url,digest,text": those of one
            canonical URL (`url`; where that is a guess, only those with similar texts), of one page by a `redirect`, by
            rel=`canonical` or by a WARC `revisit`, those of the same text (`digest`), and those that the method finds
            (`text`). Default: the method alone.
        url_column: The column of URLs; default `url`, where there is one. Then every removed document says on what
            `evidence`, and whether its witness is of the same host.
        urls: How URLs are made canonical: `CanonicalUrl()` if None, or rules that `UrlRules.load` has read.

    Raises:
        ConfigError: The recipe cannot be.
        SourceError: A source cannot be read.
        RequirementError: The answer is not as good as required; the error has it as `found`.

    Example:
        >>> found = dedup(["a rose is a rose is a rose", "A rose is a rose is a rose.", "a daisy"])
        >>> found.stats.removed
        1
    """
    required = Requirements(require_recall, max_residual)
    how = _How(strict, required.audit(audit), threads, batch_rows, progress, memory, workdir)
    policy = Keep.parse(keep, chosen_ties(ties, order_column, engine), order_column)
    chosen = None if use is None else chosen_layers(use, method, features_column)
    method = chosen_recipe(method) if chosen is None or "text" in chosen else Digest()
    within = chosen_within(method, against, within)
    require_clusters(clusters, method)
    if method.of_vectors and policy.policy in ("longest", "shortest"):
        raise ConfigError(f"keep={keep!r} says nothing about vectors of one length", hint="Choose another policy.")
    beside, vectors = (url_column or "url", *BESIDE), chosen_vectors(method, vector_column)
    columns = Columns(text_column, id_column, policy.reads, features_column, vectors, beside)
    columns = with_max_record(with_pages(columns, html_column, extract, max_document), max_record)
    columns = replace(columns, bare=chosen is not None and needs_bare(chosen))
    settings = {"keep": keep, "within": within, "clusters": clusters, "ties": policy.ties, "order_column": order_column}
    if engine is not None:
        pages = {"html_column": html_column, "extract": extract, "max_document": max_document}
        refuse_on_spark(use=use, url_column=url_column, urls=urls, **pages)
        found: Result = _on_spark(engine, how, columns, method).dedup(source, against, policy, settings)
        return required.met_by(found)
    if chosen is not None:
        chosen = with_guesses(chosen, urls or CanonicalUrl())
        settings |= {"use": list(chosen), "urls": (urls or CanonicalUrl()).record()}
    elif urls is not None:
        settings |= {"urls": urls.record()}  # evidence goes by it
    about = _About(url_column, urls or CanonicalUrl(), chosen, within)
    recipe, run = _prepared((source, against), method, policy, columns, how, settings, about=about)
    _require_urls(run, url_column, urls)
    question = Question(recipe.least, clusters, within)
    run = costs.foretold(run, lambda state, *by: state.corpus.rule(state.step, question).decide(*by, 1).num_compared)
    decided = pipeline.decide(run.state, question, run.clock)
    audited = _audited(run, recipe, how, audits.audit_decision, decided, within=within)
    return required.met_by(Result(Removals(run.without_features(), recipe, decided), audited))


@with_method_hint
@checked
def pairs(  # noqa: PLR0913  (as above)
    source: Any,
    *,
    method: Method | str | None = None,
    against: Any = None,
    identical: str = "all",
    max_pairs: int = 100_000_000,
    ties: str | None = None,
    order_column: str | None = None,
    engine: Any = None,
    text_column: str | None = None,
    id_column: str | None = None,
    features_column: str | None = None,
    vector_column: str | None = None,
    html_column: str | None = None,
    extract: str | None = None,
    max_document: int | str | None = None,
    max_record: int | str | None = None,
    strict: bool = False,
    audit: bool | None = None,
    require_recall: float | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    workdir: str | os.PathLike[str] | None = None,
    batch_rows: int | None = None,
    progress: Progress | None = None,
    url_column: str | None = None,
) -> "Pairs":
    """Find every verified pair.

    Args:
        source: As in `dedup`.
        method: As in `dedup`.
        against: Documents of another side: only pairs of one document of each side are given.
        identical: `all` pairs of documents with the same features, or a `star` from the first of each such group (which
            then stands for the group in pairs with others, too).
        max_pairs: More than so many are refused before they fill the memory.
        ties: Which of two documents comes first, in a pair and in a star: as in `dedup`.
        order_column: As in `dedup`.
        engine: As in `dedup`.
        text_column: As in `dedup`.
        id_column: As in `dedup`.
        features_column: As in `dedup`.
        vector_column: As in `dedup`.
        html_column: As in `dedup`.
        extract: As in `dedup`.
        max_document: As in `dedup`.
        max_record: As in `dedup`.
        strict: As in `dedup`.
        audit: As in `dedup`; what is measured is the share of the true pairs of distinct texts that are listed.
        require_recall: The least that this share may be.
        threads: As in `dedup`.
        memory: As in `dedup`.
        workdir: As in `dedup`.
        batch_rows: As in `dedup`.
        progress: As in `dedup`.
        url_column: As in `dedup`; `stats` counts the pairs of one host and of two.

    Raises:
        TooManyPairsError: There are more than `max_pairs`.
        RequirementError: As in `dedup`.

    Example:
        >>> pairs(["a rose is a rose", "a rose is a rose", "a daisy"]).table.num_rows
        1
    """
    require_number("max_pairs", max_pairs, 0)
    if identical not in ("all", "star"):
        raise ConfigError(f"identical={identical!r} is not 'all' or 'star'", hint="Choose one of the two.")
    if identical == "star" and against is not None:
        raise ConfigError("identical='star' and against: a star would hide which sides meet", hint="Leave one out.")
    method = chosen_recipe(method)
    if method.across_only:
        raise ConfigError("remove='container' does nothing to pairs: they say both directions", hint="Leave it out.")
    required = Requirements(require_recall)
    how = _How(strict, required.audit(audit), threads, batch_rows, progress, memory, workdir)
    beside = (url_column or "url",)
    policy = Keep.parse("first", chosen_ties(ties, order_column, engine), order_column)
    vectors = chosen_vectors(method, vector_column)
    columns = Columns(text_column, id_column, policy.reads, features_column, vectors, beside)
    columns = with_max_record(with_pages(columns, html_column, extract, max_document), max_record)
    settings = {"identical": identical, "ties": policy.ties, "order_column": order_column}
    if engine is not None:
        refuse_on_spark(html_column=html_column, extract=extract, max_document=max_document, url_column=url_column)
        listed: Pairs = _on_spark(engine, how, columns, method).pairs(source, against, policy, settings, max_pairs)
        return required.met_by(listed)
    about = _About(url_column, CanonicalUrl(), None, within=True)
    recipe, run = _prepared((source, against), method, policy, columns, how, settings, listing=True, about=about)
    _require_urls(run, url_column)
    across = None if against is None else run.state.corpus.num_against
    groups = Groups(run.state.corpus.best, identical == "star", run.state.step.mirror, across)
    question = Question(recipe.least, "pairs")
    joining = partial(pipeline.joining, question=question, groups=groups)
    run = costs.foretold(run, lambda state, *by: sum(part.num_verified for part in joining(state).join(*by, 1)))
    with run.clock("joining"):
        found = Listed.joined(list(pipeline.join(run.state, question, groups, max_pairs)))
    audited = _audited(run, recipe, how, audits.audit_pairs, found, across=across is not None)
    return required.met_by(Pairs(run.without_features(), recipe, found, audited))


def _require_urls(run: Run, *given: Any) -> None:
    """Refuse what is said of URLs where there are none."""
    if any(each is not None for each in given) and run.reading.num_documents and not run.have_urls:
        message = f"no document has anything in the column {run.reading.columns.beside[0]!r}"
        raise ConfigError(message, hint="Name the column of URLs with url_column (--url-column).")


@dataclass(frozen=True)
class _How:
    """What changes nothing in the answer."""

    strict: bool
    audit: bool | None
    threads: int | None
    batch_rows: int | None
    progress: Progress | None
    memory: int | str | None
    workdir: str | os.PathLike[str] | None

    def __post_init__(self) -> None:
        for name in ("threads", "batch_rows"):
            if getattr(self, name) is not None:
                require_number(name, getattr(self, name), 1)


def _prepared(  # noqa: PLR0913, PLR0917  (all that a run is made of)
    sides: tuple[Any, Any], recipe: Method, keep: Keep, columns: Columns, how: _How,
    settings: dict[str, Any], *, listing: bool = False, about: "_About | None" = None,
) -> tuple[Method, Run]:  # fmt: skip
    """Read both sides, and bring together what could be similar."""
    recipe = with_kept_seed(recipe, how.workdir)
    require_columns(columns, recipe)
    if sides[0] is None:
        raise SourceError("source=None is nothing to read", hint="Give a path, a list of texts, a table or a matrix.")
    clock = Clock(how.progress)
    judged, other = sides
    parts = [
        open_parts(_several(judged), columns=columns),
        open_parts(_several(other), columns=replace(columns, order=None)),
    ]
    parts[1][:] = _named_apart(parts[1])
    layered = about is not None and about.layers is not None
    reading = Reading(
        parts[0], columns, parts[1], how.batch_rows, clock.progress, strict=how.strict,
        raw_bytes=recipe.raw_bytes and not layered,
    )  # fmt: skip
    require_pages(reading)
    ready = columns.items is not None
    before = json.dumps([settings["use"], settings["urls"]]) if layered else None
    guesses = comparing(recipe, has_text="text" in settings.get("use", ()))
    settings |= {"guesses": guesses.record()} if layers.GUESSED in settings.get("use", ()) else {}
    known = {} if how.workdir is None else identity(reading, recipe, keep, listing=listing, layers=before)
    inputs = inputs_of(sides, parts, recipe, how.workdir)
    engine = _engine(how, known, recipe.stored_ratio)
    try:
        pages = None if about is None else PageFacts(reading, about.urls, required=layered)
        found = (
            None if about is None or pages is None else _first_layers(pages, about, guesses, keep, how, clock, engine)
        )
        if found is None:
            corpus = Arrays(reading, engine, keep)
            state = pipeline.prepare(corpus, recipe, clock, ready_items=ready, listing=listing)
        else:
            state = found.then(reading, recipe, engine, clock)
    finally:
        if engine.checkpoints:
            engine.checkpoints.close()
    return recipe, Run(reading, state, clock, settings, inputs, pages, found)


@dataclass(frozen=True)
class _About:
    """How documents are pages."""

    url_column: str | None
    urls: CanonicalUrl | OneForm
    layers: tuple[str, ...] | None
    within: bool


def _first_layers(  # noqa: PLR0913, PLR0917  (what is known, by what it is judged, and how)
    pages: PageFacts, about: _About, guesses: Method, keep: Keep, how: _How, clock: Clock, kept: Local
) -> Layers | None:
    """What runs before the method, by an engine of its own: the other one keeps texts and the steps of the method."""
    if about.layers is None:
        return None
    engine = _engine(replace(how, workdir=None), {}, 1)
    try:
        return layers.first(pages, about.layers, keep, (engine, kept), clock, within=about.within, guesses=guesses)
    finally:
        engine.close()


def _on_spark(engine: Any, how: "_How", columns: Columns, recipe: Method) -> Any:
    """The same on Spark; what is about one machine alone is refused."""
    from nearsame.engines.spark import Spark  # noqa: PLC0415  (only those who ask for it)
    from nearsame.frames.request import Request  # noqa: PLC0415

    if not isinstance(engine, Spark):
        raise ConfigError(
            f"engine={engine!r} is not an engine", hint="Give one, as in Spark(session), or leave it out."
        )
    refuse_on_spark(threads=how.threads, memory=how.memory, workdir=how.workdir, batch_rows=how.batch_rows)
    require_columns(columns, recipe)
    return Request(engine, recipe, columns, Clock(how.progress), how.strict, is_audited(recipe, wanted=how.audit))


def _named_apart(parts: list[Part]) -> list[Part]:
    """Tables of the against side under another name than those of the other."""
    names = ("against" if number == 1 else f"against-{number}" for number in count(1))
    return [replace(part, name=next(names)) if isinstance(part, Memory) else part for part in parts]


def _audited(run: Run, recipe: Method, how: _How, law: Callable[..., Audit], answer: Any, **settings: bool) -> Any:
    """What the audit found; None where none is wanted, or there is no document."""
    if not is_audited(recipe, wanted=how.audit) or not run.state.corpus.best.size:
        return None
    with run.clock("audit"):
        return law(run.state, run.reading.origins, answer, recipe.least, **settings)


def _several(source: Any) -> list[Any]:
    if source is None:
        return []
    return list(source) if isinstance(source, tuple) else [source]


def _engine(how: _How, identity: dict[str, Any], growth: float) -> Local:
    memory = None if how.memory is None else num_bytes(how.memory)
    engine = Local(how.threads or 0, memory, None if how.workdir is None else Path(how.workdir), growth=growth)
    if engine.workdir is not None:
        engine.checkpoints = Checkpoints(engine.workdir, identity)
    return engine
