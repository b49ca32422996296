"""What a user calls: dedup and pairs, and the results to be questioned.

1. The first argument is what to read; everything else goes by keyword.
2. A list is documents; several sources are a tuple: `dedup(("a.jsonl", "b.parquet"))`, or a list of `Path`s.
3. Results are immutable: asking for another threshold gives another result.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from nearsame.answers.stats import Audit
from nearsame.clock import Clock
from nearsame.engines.local import Local
from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import Inputs, several
from nearsame.flow import costs, pipeline, templates
from nearsame.flow.arrays import HOST, Arrays
from nearsame.flow.calls import call_record
from nearsame.flow.checks import (
    chosen_recipe,
    chosen_spark,
    chosen_within,
    is_audited,
    require_clusters,
    require_columns,
    with_method_hint,
)
from nearsame.flow.corpus import Question
from nearsame.flow.decisions import Decisions, Given
from nearsame.flow.evidence import BESIDE, OneForm, PageFacts
from nearsame.flow.forecasts import foretelling, shares_of
from nearsame.flow.identities import identity, with_kept_seed
from nearsame.flow.inquiry import Inquiry, columns_of, priority
from nearsame.flow.layer_names import GUESSED, chosen_layers, needs_bare, with_guesses
from nearsame.flow.options import RunOptions
from nearsame.flow.page_reading import require_pages
from nearsame.flow.removals import Removals
from nearsame.flow.requirements import Requirements
from nearsame.flow.results import Pairs, Result
from nearsame.flow.runs import Run, inputs_of
from nearsame.flow.stored import extent, has_texts, is_index, remark, stored
from nearsame.kernels.deciding import Work
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked, not_on_spark, refuse_on_spark, require_number
from nearsame.recipes.choices import ClusterKind, Identical, KeepPlain, LayerName, MethodName
from nearsame.recipes.counterparts import for_guesses
from nearsame.recipes.methods import Digest, Method
from nearsame.recipes.signatures import Default, Doc
from nearsame.recipes.urls import CanonicalUrl
from nearsame.sources import Columns, Parts, Wanted, open_parts
from nearsame.sources.kinds import require_distinct
from nearsame.sources.memory import Memory
from nearsame.sources.reading import Reading
from nearsame.sources.targets import named_apart
from nearsame.stages.pairs.expand import Groups, Listed

if TYPE_CHECKING:
    from nearsame.flow.asked import Known
    from nearsame.flow.layers import Layers
    from nearsame.frames.request import Request

__all__ = ["DedupOptions", "Pairs", "Result", "dedup", "pairs"]


class DedupOptions(RunOptions, total=False):
    """What only `dedup` takes: who goes, and how much may stay."""

    clusters: Annotated[
        ClusterKind,
        Doc(
            "`greedy`: what resembles a kept document goes. `components`: of all that chains of similar pairs join one"
            " document stays, however little the ends resemble each other; `stats.component` says how little."
        ),
        Default("greedy"),
    ]
    max_residual: Annotated[
        float | None,
        Doc("The most measured residual duplicates: of the kept documents, the share with a kept one like it."),
    ]
    use: Annotated[
        str | Sequence[LayerName] | None,
        Doc(
            'Layers that remove documents one after the other, cheapest first, as in "url,digest,text": those of one'
            " canonical URL (`url`; where that is a guess, only those with similar texts), of one page by a `redirect`,"
            " by rel=`canonical` or by a WARC `revisit`, those of the same text (`digest`), and those that the method"
            " finds (`text`). Default: the method alone."
        ),
    ]
    group_by: Annotated[
        str | None,
        Doc(
            "Duplicates are only sought among documents of one value: of a column, of a name of folders as in"
            " `lang=en/`, or of the `host` of their URLs. Those without a value are a group, too. Boilerplate and the"
            " frequencies of TF-IDF are counted in all documents together."
        ),
    ]
    decisions: Annotated[
        Given | None,
        Doc(
            "What people have decided about pairs: files as a report saves and `nearsame review` writes them, or"
            " records with `id1`, `id2`, `label` and `keep`. Two with the label `no` are not removed for each other,"
            " and the one that `keep` names comes before all others. See docs/decide.md."
        ),
    ]
    urls: Annotated[
        CanonicalUrl | OneForm | None,
        Doc("How URLs are made canonical: `CanonicalUrl()` if None, or rules that `UrlRules.load` has read."),
    ]


@with_method_hint
@checked
def dedup(
    source: Any,
    *,
    method: Method | MethodName | None = None,
    keep: KeepPlain | str | Sequence[str] = "first",
    against: Any = None,
    within: bool | None = None,
    **options: Unpack[DedupOptions],
) -> "Result":
    """Find near-duplicates and decide which documents stay.

    Args:
        source: A path, glob or URL; a list or iterator of texts, of dicts or of pairs (id, text); a dict of id to text;
            a table of pandas, polars, DuckDB, Arrow or Hugging Face; a 2-D array; a tuple of such. See docs/inputs.md.
        method: A recipe, or the name of one with its defaults; `Jaccard()` if None.
        keep: first, last, longest, shortest, or newest|oldest|max|min:COLUMN: which of two similar documents stays; of
            several, as in "max:quality, longest" or a list of them, a later one decides ties.
        against: Documents that are all kept and that `source` is compared with: training data, yesterday's crawl.
        within: Whether documents of `source` are compared with each other as well. Default: yes, but for methods that
            compare across the sides only (`Containment(remove="container")`).

    Raises:
        ConfigError: The recipe is impossible.
        SourceError: A source cannot be read.
        RequirementError: The answer is not as good as required; the error has it as `found`.

    Example:
        >>> found = dedup(["a rose is a rose is a rose", "A rose is a rose is a rose.", "a daisy"])
        >>> found.stats.removed
        1
    """
    required = Requirements(options["require_recall"], options["max_residual"])
    options["audit"] = required.audit(options["audit"])
    policy, clusters = priority(keep, options), options["clusters"]
    use, urls = options["use"], options["urls"] or CanonicalUrl()
    chosen = None if use is None else chosen_layers(use, method, options["features_column"])
    method = chosen_recipe(method, options["codes_column"]) if chosen is None or "text" in chosen else Digest()
    within = chosen_within(method, against, within)
    require_clusters(clusters, method)
    if method.is_textless and any(one.by_length for one in policy.policies):
        what = "vectors" if method.of_vectors else "codes"
        raise ConfigError(f"keep={keep!r} cannot rank {what} of one length", hint="Choose another policy.")
    columns = replace(columns_of(options, method, policy, BESIDE), bare=chosen is not None and needs_bare(chosen))
    group_by = options["group_by"]
    if group_by is not None and group_by != HOST:
        columns = replace(columns, order=tuple(dict.fromkeys((*columns.order, group_by))), exact=group_by)
    decisions = None if options["decisions"] is None else Decisions.of(options["decisions"])
    settings: dict[str, Any] = {
        **({} if group_by is None else {"group_by": group_by}),
        **({} if decisions is None else {"decisions": decisions.record()}),
        "keep": keep if isinstance(keep, str) else list(keep), "within": within, "clusters": clusters,
        "ties": policy.ties, "order_column": options["order_column"],
    }  # fmt: skip
    named = None if chosen is None else with_guesses(chosen, urls)
    asked = Inquiry(method, policy, columns, options, settings, named, urls, within, decisions=decisions)
    if named is not None:
        settings |= {"use": list(named), "urls": urls.record()}
    elif options["urls"] is not None:
        settings |= {"urls": urls.record()}  # evidence goes by it
    if options["engine"] is not None:
        refuse_on_spark(urls=None if named else options["urls"])
        request = _on_spark(asked, _deduplicated, (source, against))
        return required.met_by(request.dedup(source, against, policy, settings))
    return required.met_by(_deduplicated((source, against), asked))


def _deduplicated(sides: tuple[Any, Any], asked: Inquiry) -> "Result":
    """Who stays, on one machine."""
    run = _prepared(sides, asked)
    _require_urls(run, asked.options["url_column"], asked.options.get("urls"))
    method, question = run.state.method, Question.of_run(run.state.method, asked.settings)
    with run.ending():
        run = costs.predicted(run, lambda state, *by: state.corpus.rule(state.step, question).decide(*by, 1).work)
        decided = pipeline.decide(run.state, question, run.clock)
        run = templates.looked_for(run, decided)
        audited = _audited(run, asked, decided, within=asked.within)
    return Result(Removals(run.without_features(), method, decided), audited)


@with_method_hint
@checked
def pairs(
    source: Any,
    *,
    method: Method | MethodName | None = None,
    against: Any = None,
    identical: Identical = "all",
    max_pairs: int = 100_000_000,
    **options: Unpack[RunOptions],
) -> "Pairs":
    """Find every verified pair.

    Args:
        source: Whatever `dedup` takes.
        method: A recipe, or the name of one with its defaults; `Jaccard()` if None.
        against: Documents of another side: only pairs of one document of each side are given.
        identical: `all` pairs of documents with the same features, or a `star` from the first of each such group (which
            then stands for the group in pairs with others, too).
        max_pairs: More pairs than this are refused before they fill the memory.

    Raises:
        TooManyPairsError: There are more than `max_pairs`.
        RequirementError: The answer is not as good as required; the error has it as `found`.

    Example:
        >>> pairs(["a rose is a rose", "a rose is a rose", "a daisy"]).table.num_rows
        1
    """
    require_number("max_pairs", max_pairs, 0)
    if identical == "star" and against is not None:
        raise ConfigError("identical='star' and against: a star would hide which sides meet", hint="Leave one out.")
    method = chosen_recipe(method, options["codes_column"])
    if method.across_only:
        raise ConfigError("remove='container' does nothing to pairs: they say both directions", hint="Leave it out.")
    required = Requirements(options["require_recall"])
    options["audit"] = required.audit(options["audit"])
    policy = priority("first", options)
    settings = {"identical": identical, "ties": policy.ties, "order_column": options["order_column"]}
    bounded: Any = {**options, "max_pairs": max_pairs}
    asked = Inquiry(method, policy, columns_of(options, method, policy), bounded, settings, listing=True)
    listing = partial(_listed, identical=identical, max_pairs=max_pairs)
    if options["engine"] is not None:
        request = _on_spark(asked, listing, (source, against))
        return required.met_by(request.pairs(source, against, policy, settings, max_pairs))
    return required.met_by(listing((source, against), asked))


def _listed(sides: tuple[Any, Any], asked: Inquiry, *, identical: Identical, max_pairs: int) -> "Pairs":
    """All pairs, on one machine."""
    run = _prepared(sides, asked)
    _require_urls(run, asked.options["url_column"])
    across = None if sides[1] is None else run.state.corpus.num_against
    groups = Groups(run.state.corpus.best, identical == "star", run.state.step.mirror, across)
    method, question = run.state.method, Question(run.state.method.least, "pairs")
    joining = partial(pipeline.joining, question=question, groups=groups)
    with run.ending():
        run = costs.predicted(run, lambda state, *by: Work.total(part.work for part in joining(state).join(*by, 1)))
        with run.clock("joining"):
            listed_pairs = Listed.joined(list(pipeline.join(run.state, question, groups, max_pairs)))
        audited = _audited(run, asked, listed_pairs, across=across is not None)
    return Pairs(run.without_features(), method, listed_pairs, audited)


def _require_urls(run: Run, *given: Any) -> None:
    """Refuse what is said of URLs where there are none."""
    if any(setting is not None for setting in given) and run.reading.num_documents and not run.have_urls:
        message = f"no document has anything in the column {run.reading.columns.beside[0]!r}"
        raise ConfigError(message, hint="Name the column of URLs with url_column (--url-column).")


def _prepared(sides: tuple[Any, Any], asked: Inquiry) -> Run:
    """Read both sides, and bring together what could be similar."""
    options, workdir = asked.options, asked.options["workdir"]
    recipe = with_kept_seed(asked.method, workdir)
    require_columns(asked.columns, recipe)
    if sides[0] is None:
        raise SourceError("source=None is nothing to read", hint="Give a path, a list of texts, a table or a matrix.")
    clock, indexes = asked.clock or Clock(logged(options["progress"])), list[str]()
    judged, other = sides
    require_distinct([*several(judged), *([] if other is None else several(other))])
    lenient = not options["strict"]  # the summary names what is passed over
    wanted = Wanted.of(options["include"], options["exclude"], options["read_as"])
    parts = [open_parts(several(judged), columns=asked.columns, without_extras=lenient, wanted=wanted)]
    if other is None:
        parts.append(Parts())
        if asked.columns.against_text or asked.columns.against_id:
            raise ConfigError("columns of the against side are named, and there is none", hint="Give against.")
    else:
        columns = replace(asked.columns, order=())
        indexes = [os.fspath(one) for one in several(other) if is_index(one)]
        others = [one for one in several(other) if not is_index(one)]
        parts.append(open_parts(others, columns=columns, without_extras=lenient, wanted=wanted) if others else Parts())
    read = {name: stored(name, asked.columns) for name in indexes}
    parts[1][:] = [*named_apart(parts[1], parts[0]), *read.values()]
    compared_by = None if asked.layers is not None and "text" not in asked.layers else recipe
    known_by = _known_by({name: part for name, part in read.items() if not has_texts(part)}, compared_by)
    asked, layered = asked.asking(known_by), asked.layers is not None or bool(known_by)
    reading = Reading(
        parts[0], asked.columns, parts[1], options["batch_rows"], clock.progress, strict=options["strict"],
        raw_bytes=recipe.raw_bytes and not layered and asked.columns.encoding is None,
    )  # fmt: skip
    require_pages(reading)
    ready, settings, used = asked.columns.items is not None, asked.settings, asked.layers or ()
    before = json.dumps([settings["use"], settings["urls"]]) if layered else None
    group_by = settings.get("group_by")
    guesses = for_guesses(recipe, has_text="text" in used)
    settings |= {"guesses": guesses.record()} if GUESSED in used else {}
    known = {} if workdir is None else identity(reading, recipe, asked.keep, listing=asked.listing, layers=before)
    known |= {} if group_by is None else {"group_by": group_by}
    known |= {} if asked.decisions is None else asked.decisions.identity(layered=layered)
    inputs = inputs_of(sides, parts, recipe, workdir) + Inputs.of(
        () if asked.decisions is None else asked.decisions.files
    )
    engine = asked.engine(known, recipe.stored_ratio)
    foretelling(clock, reading, engine, shares_of(recipe, layered=layered, listing=asked.listing), growth=engine.growth)
    with engine.preparing():
        pages = PageFacts(reading, asked.urls, required=layered)
        first_layers = _first_layers(pages, asked, guesses, clock, engine) if layered else None
        if first_layers is None:
            corpus = Arrays(reading, engine, asked.keep, group_by=group_by)
            corpus = replace(corpus, decisions=asked.decisions, called=asked.called)
            state = pipeline.prepare(corpus, recipe, clock, ready_items=ready, listing=asked.listing)
        else:
            state = first_layers.then(reading, recipe, engine, clock)
    call = call_record(_command(asked), sides, settings, options, {name: extent(part) for name, part in read.items()})
    notes = [remark(part) for part in read.values() if has_texts(part)] + [known.remark for known in known_by]
    return Run(reading, state, clock, settings, inputs, pages, first_layers, call, tuple(notes))


def _known_by(indexes: dict[str, Memory], compared_by: Method | None) -> "list[Known]":
    """What indexes that keep no texts are asked."""
    if not indexes:
        return []
    from nearsame.flow.asked import Known  # noqa: PLC0415  (few ask an index)

    return [Known.of(name, part, compared_by) for name, part in indexes.items()]


def _first_layers(pages: PageFacts, asked: Inquiry, guesses: Method, clock: Clock, kept: Local) -> "Layers":
    """What runs before the method, by an engine of its own: the other one keeps texts and the steps of the method."""
    from nearsame.flow import layers  # noqa: PLC0415  (as large as all the rest of the flow, for those who ask for them)

    engine = asked.engine()
    try:
        told, group_by = (asked.decisions, asked.called), asked.settings.get("group_by")
        use, keep, within = asked.layers or (), asked.keep, asked.within
        how = layers.Layering(use, keep, within, guesses, group_by, asked.indexes, *told)
        return layers.first(pages, how, (engine, kept), clock)
    finally:
        engine.close()


def _command(asked: Inquiry) -> str:
    return "pairs" if asked.listing else ""


def _on_spark(asked: Inquiry, law: Callable[[tuple[Any, Any], Inquiry], Any], sides: tuple[Any, Any]) -> "Request":
    """The same on Spark; what is about one machine alone is refused. Few documents are judged by the law here."""
    from nearsame.frames.request import Request  # noqa: PLC0415  (only those who ask for it)

    options = asked.options
    engine = chosen_spark(options)
    if (share := asked.method.get("boilerplate_per_host")) is not None:
        raise not_on_spark("boilerplate_per_host", float(share))
    if asked.settings.get("group_by") != HOST and asked.layers is None and options["url_column"] is not None:
        message = f"url_column={options['url_column']!r}: on Spark URLs are read for layers alone"
        hint = (
            "Leave it out." if asked.listing else "Add the layer use='text' (--use text), beside which evidence stands."
        )
        raise ConfigError(message, hint=hint)
    if asked.method.of_codes:
        raise not_on_spark("method", asked.method.name)
    for one in () if sides[1] is None else several(sides[1]):
        if is_index(one):
            raise not_on_spark("against", os.fspath(one))
    require_columns(asked.columns, asked.method)
    audited = is_audited(asked.method, wanted=options["audit"])

    def here(sides: tuple[Any, Any], columns: Columns, clock: Clock, called: Callable[..., Any]) -> Any:
        own: RunOptions = {**options, "engine": None, "url_column": None, "workdir": None}
        return law(sides, replace(asked, columns=columns, clock=clock, options=own, called=called))

    clock = Clock(logged(options["progress"]))
    call = {**call_record(_command(asked), sides, asked.settings, options), "engine": "spark"}
    return Request(
        engine,
        asked.method,
        asked.columns,
        clock,
        options["strict"],
        audited,
        here,
        call,
        None if asked.layers is None else (asked.layers, asked.urls),
        options["workdir"],
        asked.decisions,
    )


def _audited(run: Run, asked: Inquiry, answer: Any, **settings: bool) -> "Audit | None":
    """What the audit found; None where none is wanted, or there is no document."""
    recipe = run.state.method
    if not is_audited(recipe, wanted=asked.options["audit"]) or not run.state.corpus.best.size:
        return None
    from nearsame.flow import audits  # noqa: PLC0415  (where there is one)

    law = audits.audit_pairs if asked.listing else audits.audit_decision
    with run.clock("audit"):
        sampling = audits.Sampling(below=asked.options["audit"] is True)
        return law(run.state, run.reading.origins, answer, recipe.least, sampling, **settings)
