"""The codes of all documents of a source, as a file: each one's id and place, and what its method leaves of it.

1. Batches are read, go through the stages of a run (flow/sketching.py) and are written, a few at a time.
2. The file carries its recipe, and appears complete or not at all.
"""

import json
import os
from collections.abc import Iterator
from typing import Annotated, Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearsame._version import __version__
from nearsame.clock import Clock
from nearsame.engines.local import Local
from nearsame.engines.sharing import Sharing
from nearsame.engines.space import num_bytes
from nearsame.errors import OutputError
from nearsame.files.inputs import Inputs, names_of, several
from nearsame.files.passed_over import PassedOver
from nearsame.flow.checks import chosen_vectors, require_columns
from nearsame.flow.options import ContentOptions, ThreadOptions
from nearsame.flow.page_reading import require_pages, with_encoding, with_max_record, with_pages
from nearsame.flow.sketching import Sketching, sketching
from nearsame.named import NamedTuple
from nearsame.outputs import tables
from nearsame.outputs.folder import appearing, require_place
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.choices import MethodName
from nearsame.recipes.methods import Method, as_recipe
from nearsame.recipes.signatures import Default, Doc
from nearsame.shares import counted
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.texts.page_text import PageTexts

__all__ = ["CodesOptions", "CodesWritten", "codes"]

_KEY = b"nearsame"
_NAMES = {"minhash": "signature", "modp": "fingerprint", "digest": "digest"}  # of the column; else `code`
_GROUP_ROWS = 131_072


class CodesOptions(ContentOptions, ThreadOptions, total=False):
    """What `codes` takes."""

    vector_column: Annotated[str | None, Doc("With `Hyperplane`, the list column of numbers; default `vector`.")]
    encoding: Annotated[str | None, Doc("The encoding of text files, as in `latin-1`, or `auto`; default UTF-8.")]
    max_record: Annotated[int | str | None, Doc("A record of more bytes than this has no line; default 64MB.")]
    memory: Annotated[int | str | None, Doc('How much may be held, as in "4GB"; default half of what is free.')]
    overwrite: Annotated[bool, Doc("Whether a file that is there is replaced."), Default(value=False)]


class CodesWritten(NamedTuple):
    """What became of a source.

    Attributes:
        documents: How many were read, each a line.
        codes: How many of them have one: an empty text has none, and for SimHash one without tokens.
        recipe: What they were made by, as it stands in the metadata of the file under `nearsame`.
        skipped: The records that could not be read, which have no line.
        passed_over: Files of folders and patterns that were not read.
    """

    documents: int
    codes: int
    recipe: dict[str, Any]
    skipped: pa.Table
    passed_over: PassedOver

    def __repr__(self) -> str:
        return f"CodesWritten({counted(self.documents, 'document')}, {counted(self.codes, 'code')})"


@checked
def codes(
    source: Any,
    output: str | os.PathLike[str],
    *,
    method: Method | MethodName = "simhash",
    **options: Unpack[CodesOptions],
) -> CodesWritten:
    """Write what a method makes of each document: SimHash codes, MinHash signatures, fingerprints, digests.

    Args:
        source: Whatever `dedup` takes.
        output: A Parquet file: `id`, `source`, `row`, and `code`, `signature`, `fingerprint` or `digest`. A code of up
            to 32 bits is uint32, of up to 64 uint64, a longer one its bytes; signatures and fingerprints are lists.
        method: simhash, minhash, modp, digest or hyperplane, by name or as a recipe, whose settings are about one
            document.

    Raises:
        ConfigError: The method has no codes, or a setting is about pairs.
        SourceError: The source cannot be read.
        OutputError: The file cannot be written there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as home:
        ...     codes(["a rose", ""], f"{home}/codes.parquet").codes
        1
    """
    recipe = as_recipe(method)
    made = sketching(recipe, ready_items=options["features_column"] is not None)
    columns = _columns(options, recipe)
    if options["threads"] is not None:
        require_number("threads", options["threads"], 1)
    if not os.fspath(output).endswith(".parquet"):
        raise OutputError(f"{output} is not a Parquet file", hint="Name one that ends in .parquet.")
    lenient, clock = not options["strict"], Clock(logged(options["progress"]))
    parts = open_parts(several(source), columns=columns, without_extras=lenient)
    reading = Reading(parts, columns, progress=clock.progress, strict=options["strict"])
    require_pages(reading)
    inputs = Inputs(names_of(source), (), tuple(part.files for part in parts))
    inputs += Inputs.of(getattr(recipe, "frequencies", None))
    place = require_place(output, inputs, folder=False, overwrite=options["overwrite"])
    field = pa.field(_NAMES.get(recipe.name, "code"), made.kind)
    said = json.dumps({"recipe": recipe.record(), "version": __version__})
    schema = pa.schema([*tables.WHO, field], metadata={_KEY: said.encode()})
    number = 0
    with (
        appearing(place) as path,
        clock("codes", reading.size_bytes),
        pa.OSFile(os.fsencode(path), "wb") as out,
        pq.ParquetWriter(out, schema, compression="zstd") as writer,
    ):
        for batch in _batches(reading, made, schema, options):
            number += len(batch) - batch.column(field.name).null_count
            writer.write_batch(batch, row_group_size=_GROUP_ROWS)
    skipped = tables.skipped_table(reading.skipped)
    return CodesWritten(reading.num_documents, number, recipe.record(), skipped, reading.passed_over)


def _columns(options: CodesOptions, recipe: Method) -> Columns:
    vectors = chosen_vectors(recipe, options["vector_column"])
    columns = Columns(options["text_column"], options["id_column"], (), options["features_column"], vectors)
    columns = with_max_record(with_pages(columns, options), options["max_record"])
    columns = with_encoding(columns, options["encoding"])
    require_columns(columns, recipe)
    return columns


def _batches(reading: Reading, made: Sketching, schema: pa.Schema, options: CodesOptions) -> Iterator[pa.RecordBatch]:
    """The lines of the file, a few batches at a time in memory."""
    memory = options["memory"]
    engine = Local(options["threads"] or 0, None if memory is None else num_bytes(memory))
    extract = PageTexts(reading.columns.extract) if reading.pages else None
    names = [part.name for part in reading.all_parts]
    with Sharing(options["threads"] or 0) as share:

        def lines(read: tuple[pa.RecordBatch, pa.Table]) -> pa.RecordBatch:
            batch, origins = read
            column = made(batch if extract is None else share(extract, batch))
            who = tables.RowNames(origins, names).of(np.arange(len(batch)))
            return pa.RecordBatch.from_arrays([*who, column], schema=schema)

        try:
            yield from engine.each(((batch, reading.let_go()) for batch in reading), lines)
        finally:
            engine.close()
