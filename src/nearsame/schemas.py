"""The tables that stages hand each other: every schema of the flow, and nothing else.

1. Hashes cross as int64 (Spark has no uint64) and are viewed as uint64 inside kernels only.
2. ``row`` is our own number: dense, ascending in the order of reading, the ``against`` side first.
3. ``position`` is the number of a record in its own file, from 0, unreadable records included.
"""

import pyarrow as pa

__all__ = [
    "BESIDE",
    "CLUSTERS",
    "CODES",
    "COMPARED",
    "CUTS",
    "DOCUMENTS",
    "EXTRACTED",
    "FEATURES",
    "ITEMS",
    "KEYS",
    "LEAKS",
    "LETTERED",
    "ORIGINS",
    "PAGES",
    "PAIRS",
    "RECORDS",
    "SKETCHED",
    "SKETCHES",
    "SKIPPED",
    "TEXTS",
    "VECTORS",
    "WEIGHTED",
]

# What a source yields for its readable records; `order` (the --keep column, of any type) and, in place of
# `text`, `items` (with --features-column), `vector` (with --vector-column) or `code` (with --codes-column) come
# only when asked for. Behind them stand, as strings by their own names,
# those columns of `Columns.beside` that a source has.
RECORDS = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("id", pa.string()),  # null: the default id, `path:position`
        pa.field("text", pa.large_string()),
    ]
)

# Marks a column that stands behind them: it may have the name of one of them.
BESIDE = {b"nearsame": b"beside"}
ORDER = {b"nearsame": b"order"}

# A record that could not be read, with its place.
SKIPPED = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("position", pa.int64()),  # null: the file as a whole, or its unread rest
        pa.field("line", pa.int64()),  # 1-based line, where the format has lines
        pa.field("reason", pa.string(), nullable=False),
    ]
)

# Where a document came from.
ORIGINS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("source", pa.int32(), nullable=False),  # index into the list of parts
        pa.field("position", pa.int64(), nullable=False),
        pa.field("id", pa.string()),
    ]
)

DOCUMENTS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text", pa.large_string()),
    ]
)

# DOCUMENTS as a browser got them. mime: the media type; null where the body is UTF-8 text already. charset: what the
# header says of the encoding, null where it says nothing.
PAGES = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("body", pa.large_binary()),
        pa.field("charset", pa.string()),
        pa.field("mime", pa.string()),
    ]
)

# DOCUMENTS taken out of PAGES. found: where in the page, as stages/texts/page_content.py numbers the places.
# bounded: it lost tags or attributes for the parser's sake.
EXTRACTED = pa.schema(
    [*DOCUMENTS, pa.field("found", pa.int8(), nullable=False), pa.field("bounded", pa.bool_(), nullable=False)]
)

# text as the recipe wants it (normalised or not); the rest is about the raw text, whatever was done to it.
TEXTS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64(), nullable=False),
        pa.field("digest_a", pa.int64(), nullable=False),
        pa.field("digest_b", pa.int64(), nullable=False),
        pa.field("text", pa.large_string()),
    ]
)

# DOCUMENTS where the features are ready made (--features-column).
ITEMS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("items", pa.large_list(pa.large_string())),
    ]
)

# DOCUMENTS that are vectors of finite numbers, all of one length (--vector-column); a null or empty one says nothing.
VECTORS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("vector", pa.large_list(pa.float64())),
    ]
)

# DOCUMENTS that are codes of bits (--codes-column): their words, the lowest first; of a null none.
CODES = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("code", pa.large_list(pa.field("item", pa.int64(), nullable=False))),
    ]
)

# items: hashed features, ascending as uint64 and distinct (of a digest: its words, in order; of a SimHash code: its
# words, and behind them what confirms it; of a vector: see kernels/hyperplanes.py).
# digest_a, digest_b: 128 bits of the raw text; set_a, set_b: 128 bits of the items.
FEATURES = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64(), nullable=False),
        pa.field("digest_a", pa.int64(), nullable=False),
        pa.field("digest_b", pa.int64(), nullable=False),
        pa.field("num_tokens", pa.int64(), nullable=False),
        pa.field("set_a", pa.int64(), nullable=False),
        pa.field("set_b", pa.int64(), nullable=False),
        pa.field("items", pa.large_list(pa.field("item", pa.int64(), nullable=False)), nullable=False),
    ]
)

_NUMBERS = pa.large_list(pa.field("item", pa.int64(), nullable=False))

# Features with weights. items: hashes of the features' bytes, ascending as uint64 and distinct; beside them
# times: how often each occurs; hashes: the words of each one's hash, low word first, where these are not the items
# themselves; letters: the text, three characters to a number. What nobody needs is an empty list.
WEIGHTED = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64(), nullable=False),
        pa.field("digest_a", pa.int64(), nullable=False),
        pa.field("digest_b", pa.int64(), nullable=False),
        pa.field("num_tokens", pa.int64(), nullable=False),
        pa.field("items", _NUMBERS, nullable=False),
        pa.field("times", _NUMBERS, nullable=False),
        pa.field("hashes", _NUMBERS, nullable=False),
        pa.field("letters", _NUMBERS, nullable=False),
    ]
)

SKETCHES = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("items", pa.large_list(pa.field("item", pa.int64(), nullable=False)), nullable=False),
    ]
)

# What two documents are compared by: `items`, and where pairs are confirmed by something else, that beside it.
COMPARED = ("items", "confirming")
_CONFIRMING = pa.field(COMPARED[1], _NUMBERS, nullable=False)

LETTERED = FEATURES.append(_CONFIRMING)  # confirming: the text, three characters to a number
SKETCHED = SKETCHES.append(_CONFIRMING)  # confirming: the same, or the set that was sketched

# place: where in the row's order of keys this one stands (-1: there is no order).
# probes: 1 if a pair may begin here: of two documents that share a key, one at least must probe.
KEYS = pa.schema(
    [
        pa.field("key", pa.int64(), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("place", pa.int32(), nullable=False),
        pa.field("probes", pa.uint8(), nullable=False),
    ]
)

PAIRS = pa.schema(
    [
        pa.field("a", pa.int64(), nullable=False),
        pa.field("b", pa.int64(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

# One line for each document that has a witness: a removed one.
CLUSTERS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("witness", pa.int64(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

# A text that is looked for, and the part of a document that has the most of it: how many of its distinct shingles, from
# which character of the document to which, and which of the text's words these are; passage: that part of the document.
LEAKS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("text", pa.int64(), nullable=False),
        pa.field("shared", pa.int64(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("text_start", pa.int64(), nullable=False),
        pa.field("text_end", pa.int64(), nullable=False),
        pa.field("passage", pa.large_string(), nullable=False),
    ]
)

# A passage that is cut out of a document: the same, of the whole document; and whether a word is left of it.
CUTS = LEAKS.append(pa.field("left", pa.bool_(), nullable=False))
