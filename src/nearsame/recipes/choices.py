"""Words that a caller chooses among: each set is declared once, for type checkers, editors, the command line and us.

1. A set of words is a `Literal`; the tuple beside it, where one is needed, is made from it.
2. Where the words are keys of a table (measures, methods, hashes), a test holds the table to its `Literal`.
3. Nothing is imported here: `--help` reads its choices from this module.
"""

from typing import Literal, TypeVar, get_args

__all__ = [
    "COMPARED",
    "DEGREES",
    "DIGESTS",
    "EXAMPLE_NAMES",
    "EXTRACTS",
    "FILE_KINDS",
    "HASHES",
    "INDEX_METHODS",
    "KEEP_BY_COLUMN",
    "KEEP_PLAIN",
    "LAYERS",
    "PREFERRED",
    "STORES",
    "AuditedMeasure",
    "AuditedThing",
    "BandRows",
    "ClusterKind",
    "Compared",
    "ConfirmedBy",
    "CrawlAction",
    "Degree",
    "DigestName",
    "ExampleName",
    "Extract",
    "FeatureHash",
    "FileKind",
    "Identical",
    "IdnForm",
    "IndexMethodName",
    "JudgedBy",
    "KeepByColumn",
    "KeepPlain",
    "LayerName",
    "LeakRemoval",
    "LeakedPart",
    "MeasureName",
    "MethodName",
    "OwnLayer",
    "Preferred",
    "ReportedMeasure",
    "SearchKind",
    "ShingleUnit",
    "SketchKind",
    "StoreKind",
    "TableFormat",
    "Ties",
    "VerifiedBy",
    "WeightKind",
    "WhatGoes",
    "word_of",
]

Word = TypeVar("Word", bound=str)

MethodName = Literal["jaccard", "cosine", "containment", "minhash", "modp", "simhash", "codes", "hyperplane", "digest"]
ShingleUnit = Literal["words", "chars"]
WhatGoes = Literal["contained", "container"]
SketchKind = Literal["fast", "classic"]
BandRows = Literal["consecutive", "random"]
VerifiedBy = Literal["exact", "estimate"]
WeightKind = Literal["one", "tf", "tfidf"]
FeatureHash = Literal["xxh3", "md5", "sha1", "fnv1a", "murmur3"]
SearchKind = Literal["blocks", "rotations", "adjacent", "brute"]
ConfirmedBy = Literal["jaccard", "cosine", "edit"]
Compared = Literal["features", "weights", "letters"]  # of two documents: what follows their codes
COMPARED: dict[ConfirmedBy, Compared] = {"jaccard": "features", "cosine": "weights", "edit": "letters"}
DigestName = Literal[
    "sha256", "sha512", "sha3_256", "blake2b", "md5", "sha1", "ripemd160", "crc32", "bytesum", "xxh3_128"
]
Degree = Literal["standard", "usual", "guess"]  # of rules about URLs, from the surest on
IdnForm = Literal["ascii", "unicode"]
HASHES: tuple[FeatureHash, ...] = get_args(FeatureHash)
DEGREES: tuple[Degree, ...] = get_args(Degree)
DIGESTS: tuple[DigestName, ...] = get_args(DigestName)

# What is read, which documents stay, what is listed.
Extract = Literal["main", "text", "none", "trafilatura"]
FileKind = Literal[
    "text", "jsonl", "csv", "tsv", "parquet", "orc", "arrow"
]  # as files may be read, whatever their names
KeepPlain = Literal["first", "last", "longest", "shortest"]
KeepByColumn = Literal["newest", "oldest", "max", "min"]  # as in newest:COLUMN
Ties = Literal["reading", "content"]
ClusterKind = Literal["greedy", "components"]
LayerName = Literal["url", "redirect", "canonical", "revisit", "digest", "text"]  # cheapest first
OwnLayer = LayerName | Literal["index", "url-guess"]  # with those that come with indexes, and with `url`
Identical = Literal["all", "star"]
KEEP_PLAIN: tuple[KeepPlain, ...] = get_args(KeepPlain)
KEEP_BY_COLUMN: tuple[KeepByColumn, ...] = get_args(KeepByColumn)
EXTRACTS: tuple[Extract, ...] = get_args(Extract)
FILE_KINDS: tuple[FileKind, ...] = get_args(FileKind)
LAYERS: tuple[LayerName, ...] = get_args(LayerName)

# What is asked about texts, of an index, and of sites.
MeasureName = Literal[
    "jaccard", "containment", "containment_a", "containment_b", "cosine", "cosine_sets", "simhash", "minhash",
    "indel", "levenshtein", "clusters",
]  # fmt: skip
JudgedBy = Literal["jaccard", "cosine"]  # exact joins, by which `evaluate` holds codes to the documents
StoreKind = Literal["shingles", "sketch", "text"]
IndexMethodName = Literal["minhash", "simhash", "digest", "url"]
TableFormat = Literal["parquet", "jsonl"]
LeakedPart = Literal["documents", "spans"]  # what of training data with leaked items is left out
LeakRemoval = Literal["none", LeakedPart]
CrawlAction = Literal["drop", "mark"]  # what becomes of near-duplicates in a crawl
Preferred = Literal["most-complete", "fastest", "freshest", "named"]
ExampleName = Literal[  # of the literature, that `explain` walks through
    "fox", "tropical-fish", "eight-numbers", "zero-mod-p", "rose", "cat-sat", "banana-orders", "bands-20x5",
    "two-clusters",
]  # fmt: skip
EXAMPLE_NAMES: tuple[ExampleName, ...] = get_args(ExampleName)
PREFERRED: tuple[Preferred, ...] = get_args(Preferred)
STORES: tuple[StoreKind, ...] = get_args(StoreKind)
INDEX_METHODS: tuple[IndexMethodName, ...] = get_args(IndexMethodName)

# What answers say: what a similarity is called in rows, and what an audit measures.
ReportedMeasure = Literal[
    "jaccard", "containment", "container", "estimated", "hamming", "cosine", "edit", "digest", "url"
]  # fmt: skip
AuditedMeasure = Literal["cosine", "jaccard"]
AuditedThing = Literal["documents", "pairs"]


def word_of(text: str, words: tuple[Word, ...]) -> Word | None:
    """The one of these words that a text is, as type checkers know it; None if it is none.

    >>> word_of("main", EXTRACTS), word_of("body", EXTRACTS)
    ('main', None)
    """
    return next((word for word in words if word == text), None)
