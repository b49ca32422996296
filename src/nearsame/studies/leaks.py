"""Leaks: which items of benchmarks stand in training data, as a whole or nearly, anywhere inside of a document.

1. An item is a record of a benchmark. Its texts (question, choices, answer) are looked for each by itself.
2. The training data are streamed: what is held is what is looked for, and what was found, with where that is.
3. What is found is in the words of the document, at the threshold that was asked for; nothing else is.
"""

from collections import Counter, deque
from collections.abc import Iterator
from typing import Annotated, Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from nearsame import schemas
from nearsame.clock import Clock
from nearsame.engines.local import Local
from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import Inputs, names_of, several
from nearsame.files.passed_over import PassedOver
from nearsame.flow.calls import asked_of, names_given, of_command
from nearsame.flow.checks import chosen_spark
from nearsame.flow.forecasts import foretelling
from nearsame.flow.options import DocumentOptions, EngineOption, FileOptions, StrictOptions, ThreadOptions
from nearsame.flow.page_reading import require_pages, with_encoding, with_max_record, with_pages
from nearsame.outputs.steps import logged
from nearsame.outputs.tables import RowNames, Stretches
from nearsame.recipes.arguments import checked, refuse_on_spark, require_number
from nearsame.recipes.leaks import LeakRule
from nearsame.recipes.methods import Digest
from nearsame.recipes.signatures import Default, Doc
from nearsame.sources import Columns, Part, Parts, Skipped, Wanted, into, open_parts
from nearsame.sources.base import Aside
from nearsame.sources.encoding_notes import encoding_notes
from nearsame.sources.items import Items, read_items, require_known
from nearsame.sources.kinds import require_distinct
from nearsame.sources.parts import strictly
from nearsame.sources.reading import Reading
from nearsame.stages.features.leaks import LeakStage
from nearsame.stages.features.sought import SoughtTexts
from nearsame.stages.texts.page_text import PageTexts
from nearsame.studies.benchmarks import named_sources, open_benchmark
from nearsame.studies.leak_results import Leaks
from nearsame.studies.leak_search import Searched

__all__ = ["LeakOptions", "leaks"]


_RECORDED = (
    "eval_columns", "eval_id_column", "text_column", "html_column", "include", "exclude", "read_as", "encoding",
)  # fmt: skip


class LeakOptions(DocumentOptions, FileOptions, ThreadOptions, EngineOption, StrictOptions, total=False):
    """What is read of both sides, and when a text counts as found."""

    eval_columns: Annotated[
        tuple[str, ...] | list[str] | None,
        Doc(
            "The columns of the benchmarks whose texts are looked for, each by itself; default all that hold strings,"
            " but the id. Each is in one of the benchmarks at least. In objects by path, as in `choices.text`, or all"
            " of it: `choices`."
        ),
    ]
    eval_id_column: Annotated[
        str | None, Doc("The column of the benchmarks' ids; default `id`, else `source:position`.")
    ]
    threshold: Annotated[
        float,
        Doc(
            "The share of a text's different shingles that one window of a document must have. At 0.8 a text of 40"
            " words is found with a word changed, and half of a text is not."
        ),
        Default(0.8),
    ]
    shingle_size: Annotated[int, Doc("Words in a row that are compared."), Default(5)]
    window: Annotated[
        float, Doc("The length of a window, in lengths of the text that is looked for: 1 or more."), Default(2)
    ]
    boilerplate: Annotated[
        int,
        Doc(
            "A shingle that more different texts of one benchmark have than these is part of a prompt, and counts for"
            " none."
        ),
        Default(10),
    ]
    least_bytes: Annotated[
        int,
        Doc(
            "The different words of a text have at least so many bytes of UTF-8; a text with fewer is a phrase that"
            " many know, and is not looked for."
        ),
        Default(32),
    ]


@checked
def leaks(train: Any, evals: Any, **options: Unpack[LeakOptions]) -> Leaks:
    r"""Find the items of benchmarks that stand anywhere inside the documents of training data.

    Args:
        train: Whatever `dedup` takes.
        evals: The benchmarks: a file, folder or table is one, and a tuple of such is several; a dict gives them names.

    Raises:
        ConfigError: A setting cannot be.
        SourceError: A source cannot be read, or a benchmark does not hold records.

    Example:
        >>> evals = {"animals": [{"question": "Which wise old wallaby waltzes with Wendy every Wednesday evening?"}]}
        >>> page = "<b>Quiz</b>: which wise old wallaby\nwaltzes with Wendy, every Wednesday evening? Answer below."
        >>> leaks([page, "a daisy"], evals).items.column("score").to_pylist()
        [1.0]
    """
    rule = LeakRule.of(
        options["threshold"], options["shingle_size"], options["window"], options["boilerplate"], options["least_bytes"]
    )
    if options["threads"] is not None:
        require_number("threads", options["threads"], 1)
    if options["codes_column"] is not None:
        raise ConfigError(f"codes_column={options['codes_column']!r} does nothing to leaks", hint="Leave it out.")
    clock, named = Clock(logged(options["progress"])), named_sources(evals)
    require_distinct([*several(train), *(source for _, source in named)])
    columns = _columns(options)
    engine = None if options["engine"] is None else chosen_spark(options)
    if engine is not None:  # a passage of a page's text is no part of its markup that could be cut out
        refuse_on_spark(**{name: options[name] for name in ("html_column", "extract", "max_document")})
    lenient, wanted = not options["strict"], Wanted.of(options["include"], options["exclude"], options["read_as"])
    parts = Parts() if engine else open_parts(several(train), columns=columns, without_extras=lenient, wanted=wanted)
    reading: Any = Reading(parts, columns, (), None, clock.progress, strict=options["strict"])
    skipped, told = list[Skipped](), Counter[Aside]()
    with clock("benchmarks"):
        opened = [
            (name, open_benchmark(source, wanted.kinds, options["encoding"], lenient=lenient)) for name, source in named
        ]
        if engine is None:
            require_pages(reading, [part for _, found in opened for part in found])
        benchmarks = [_items(name, found, options, skipped, told) for name, found in opened]
        require_known(benchmarks, options["eval_columns"] or ())
        texts = [text for items in benchmarks for text in items.texts]
        numbers = [number for number, items in enumerate(benchmarks) for _ in items.texts]
        sought = SoughtTexts.made(texts, numbers, rule)
    if engine is None:
        here = Local(options["threads"] or 0)
        foretelling(clock, reading, here, [("training", 1.0)], growth=0)
    with clock("training", reading.size_bytes):
        if engine is None:
            found, names, text_bytes = _search(reading, sought, here)
        else:
            reading, found, text_bytes = _search_on_spark(engine, train, columns, options, LeakStage(sought))
            names = RowNames(reading.origins, [part.name for part in reading.all_parts])
    files = tuple(part.files for part in (*parts, *(part for _, found in opened for part in found)))
    local = () if engine else names_of(train)
    inputs = Inputs((*local, *names_of(tuple(source for _, source in named))), (), files)
    passed_over = sum((found.passed_over for _, found in opened), PassedOver())
    given = {name: value for name, value in options.items() if name in _RECORDED}
    settings = {**rule.record(), **given, "extract": columns.extract if reading.pages else None}
    return Leaks(
        Searched(
            benchmarks,
            sought,
            reading,
            names,
            found,
            text_bytes,
            skipped,
            passed_over,
            inputs,
            clock,
            settings,
            tuple(f"benchmarks: {note}" for note in encoding_notes(told)),
            options["threads"],
            _call(train, named, options),
        )
    )


def _call(train: Any, named: list[tuple[str, Any]], options: LeakOptions) -> dict[str, Any]:
    """What was asked, so that it can be asked again."""
    evals = {name: names_given(source) for name, source in named}
    where = {} if options["engine"] is None else {"engine": "spark"}
    return of_command("leaks", source=names_given(train), evals=evals, options=asked_of(options), **where)


def _search_on_spark(
    engine: Any, train: Any, columns: Columns, options: LeakOptions, stage: LeakStage
) -> tuple[Any, pa.Table, int]:
    """The same of what Spark reads: the documents, LEAKS, and the bytes of their texts."""
    from nearsame.frames.request import Request  # noqa: PLC0415  (only those who ask for it)

    request = Request(engine, Digest(), columns, Clock(logged(options["progress"])), options["strict"])
    documents = request.leaks(train, stage)
    if options["strict"] and documents.notes:
        raise SourceError(documents.notes[0], hint="Fix them, or leave out strict.")
    return documents, documents.found, documents.counts[1]


def _columns(options: LeakOptions) -> Columns:
    """What is read of the training data."""
    columns = with_pages(Columns(options["text_column"], options["id_column"]), options)
    return with_encoding(with_max_record(columns, options["max_record"]), options["encoding"])


def _items(name: str, parts: list[Part], options: LeakOptions, skipped: list[Skipped], told: Counter[Aside]) -> Items:
    report = strictly(into(skipped), strict=options["strict"])

    def skip(what: Skipped | Aside) -> None:
        if isinstance(what, Aside):
            told[what] += what.is_encoding
        else:
            report(what)

    columns = with_encoding(Columns(id=options["eval_id_column"]), options["encoding"])
    return read_items(name, parts, columns, options["eval_columns"] or (), skip)


def _search(reading: Reading, sought: SoughtTexts, engine: Local) -> tuple[pa.Table, RowNames, int]:
    """LEAKS of all documents, what those are called in which there are some, and the bytes of all texts."""
    stretches, text_bytes, under_way = Stretches(), 0, deque[pa.Table]()
    found, origins = list[pa.RecordBatch](), list[pa.Table]()

    def documents() -> Iterator[pa.RecordBatch]:
        for batch in reading:
            under_way.append(reading.let_go())
            yield batch

    def texts() -> Iterator[pa.RecordBatch]:
        nonlocal text_bytes
        pages = engine.map(engine.load(documents()), PageTexts(reading.columns.extract))
        for batch in engine.read(pages) if reading.pages else documents():
            text_bytes += pc.sum(pc.binary_length(batch.column("text"))).as_py() or 0
            yield batch

    try:
        for lines in engine.read(engine.map(engine.load(texts()), LeakStage(sought))):  # one for each batch, in order
            read = under_way.popleft()
            stretches.add(read)
            if len(lines):
                found.append(lines)
                origins.append(read.filter(pc.is_in(read.column("row"), lines.column("row"))))
    finally:
        engine.close()
    names = [part.name for part in reading.all_parts]
    return (
        pa.Table.from_batches(found, schema=schemas.LEAKS),
        RowNames(pa.concat_tables([schemas.ORIGINS.empty_table(), *origins]), names, stretches),
        text_bytes,
    )
