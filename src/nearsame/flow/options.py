"""Options of calls, as a reader thinks of them: what to read, where to run, what is required of the answer.

Each is declared once (recipes/signatures.py says how), whoever takes it: `dedup`, `pairs`, an index, a study.
"""

import os
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from nearsame.clock import Progress
from nearsame.recipes.choices import Extract, Ties
from nearsame.recipes.signatures import Default, Doc

__all__ = [
    "ContentOptions",
    "DocumentOptions",
    "EngineOption",
    "EngineOptions",
    "FileOptions",
    "MachineOptions",
    "RunOptions",
    "SourceOptions",
    "StrictOptions",
    "TextOptions",
    "ThreadOptions",
    "WatchOptions",
]


class TextOptions(TypedDict, total=False):
    """What is the text of a document."""

    text_column: Annotated[
        str | None, Doc("The column of texts; default `text`, else `content`, else the only one of strings.")
    ]
    html_column: Annotated[str | None, Doc("In place of the text, a column of web pages as markup.")]
    extract: Annotated[
        Extract | None,
        Doc(
            "How web pages become texts: `main` content (more where that is too little), all visible `text`,"
            " `none` (the markup itself), or the main content as `trafilatura` sees it. Default main."
        ),
    ]
    max_document: Annotated[
        int | str | None,
        Doc(
            'Bytes of a web page that are read, decompressed, as a number or as in "10MB"; the rest is cut. Default'
            " 10MB."
        ),
    ]


class DocumentOptions(TextOptions, total=False):
    """What is a document, and what it is called."""

    id_column: Annotated[str | None, Doc("The column of ids; default `id`, else `source:row`.")]


class WatchOptions(TypedDict, total=False):
    """Who is shown how far it is."""

    progress: Annotated[
        Progress | None,
        Doc(
            "Who is shown the progress: an object with `begin`, `add`, `note` and `end`. Default: the logger"
            " `nearsame`, a line every few seconds at the level INFO."
        ),
    ]


class StrictOptions(TypedDict, total=False):
    """What becomes of records that cannot be read."""

    strict: Annotated[bool, Doc("Whether a record that cannot be read is an error."), Default(value=False)]


class ContentOptions(DocumentOptions, WatchOptions, StrictOptions, total=False):
    """What is read of a document."""

    features_column: Annotated[str | None, Doc("A list column of ready items that takes the place of the text.")]


class FileOptions(TypedDict, total=False):
    """Which files of a source are read, and as what."""

    encoding: Annotated[
        str | None,
        Doc(
            "The encoding of texts, JSON lines and CSV, as in `latin-1` or `shift_jis`; `auto`: as each file looks."
            " Default: by the byte order mark, else UTF-8, and others are reported as unreadable."
        ),
    ]
    include: Annotated[
        str | Sequence[str] | None,
        Doc("Patterns, as in `*.java` or `notes/**`: of folders and patterns, only files that fit one are read."),
    ]
    exclude: Annotated[str | Sequence[str] | None, Doc("Patterns of files of folders and patterns that are not read.")]
    read_as: Annotated[
        str | Sequence[str] | None,
        Doc(
            "What files are read as, whatever their names end in, as in `text=*.log`: `text`, `jsonl`, `csv`, `tsv`,"
            " `parquet`, `orc` or `arrow`, and a pattern."
        ),
    ]
    codes_column: Annotated[
        str | None,
        Doc("With `Codes`, which it stands for, the column of codes; default `code`, or the only one there is."),
    ]
    max_record: Annotated[
        int | str | None,
        Doc(
            "A record (a line, a file, a text of a table) of more bytes than this is not compared: it is reported with"
            ' its place, and `kept/` has it as it is. As a number or as in "64MB", which is the default.'
        ),
    ]


class SourceOptions(ContentOptions, total=False):
    """What is read of a source."""

    url_column: Annotated[
        str | None,
        Doc(
            "The column of URLs; default `url`, where there is one. `dedup` then says of every removed document on"
            " what `evidence`, and whether its witness is of the same host; the `stats` of `pairs` count the pairs of"
            " one host and of two; an index finds documents by their URL."
        ),
    ]


class ThreadOptions(WatchOptions, total=False):
    """How many work at once."""

    threads: Annotated[int | None, Doc("How many; default one for each processor. The answer does not depend on it.")]


class MachineOptions(ThreadOptions, total=False):
    """What a run takes of a machine; the answer does not depend on it."""

    memory: Annotated[
        int | str | None,
        Doc(
            'How much the run may hold, in bytes or as in "4GB"; default half of what is free. What does not fit goes'
            " to files. The answer does not depend on it."
        ),
    ]
    workdir: Annotated[
        str | os.PathLike[str] | None,
        Doc(
            "A folder that keeps finished steps: the same call continues there where it was stopped. Sources must be"
            " files; a changed one, or another recipe or version, is an error. On Spark, any folder that it can write"
            " to."
        ),
    ]
    batch_rows: Annotated[int | None, Doc("Documents in a batch, at most. The answer does not depend on it.")]


class EngineOption(TypedDict, total=False):
    """Where a run takes place; the answer does not depend on it."""

    engine: Annotated[
        Any,
        Doc(
            "`Spark(session)` runs the work on Spark: sources are DataFrames or paths that Spark can read, and the"
            " answer is DataFrames. Default: this machine."
        ),
    ]


class EngineOptions(MachineOptions, EngineOption, total=False):
    """Where a run takes place, and what it takes there."""


class RunOptions(SourceOptions, FileOptions, EngineOptions, total=False):
    """What `dedup` and `pairs` take: what to read, where to run, what comes first, what is required."""

    against_text_column: Annotated[
        str | None, Doc("The column of texts of `against`, where it has another name there.")
    ]
    against_id_column: Annotated[str | None, Doc("And the column of ids.")]
    vector_column: Annotated[
        str | None,
        Doc("With `Hyperplane`, the list column of numbers; default `vector`, as a 2-D array has it."),
    ]
    order_column: Annotated[
        str | None,
        Doc("A column whose values take the place of the order of reading, ascending, nulls last."),
    ]
    ties: Annotated[
        Ties | None,
        Doc(
            "What decides between documents of equal value, and which of two comes first in a pair and in a star:"
            " `reading`: the first that was read; `content`: the order column, then the id, then the 128-bit hash of"
            " the text, so that any engine gives the same answer. Default: `reading`; `content` with an order column"
            " or a Spark engine, since a DataFrame has no order."
        ),
    ]
    audit: Annotated[
        bool | None,
        Doc(
            "Whether recall, residual duplicates and precision are measured on a sample of the run itself; default for"
            " methods that may miss pairs. Where it is asked for, what lies below the threshold is looked at, too."
        ),
    ]
    require_recall: Annotated[
        float | None,
        Doc(
            "The least measured recall: of the documents that had to go, the share that went (`dedup`); of the true"
            " pairs of distinct texts, the share that is listed (`pairs`)."
        ),
    ]
