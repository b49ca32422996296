"""The sample corpus of `nearsame demo`: where it is, and nothing that reads it.

1. `corpus.jsonl` is made by `scripts/make-demo-corpus` from texts written for the purpose; never edit it by hand.
2. Each line has `id url title text date site lang`, and the answer: `kind`, and `of`, the id of what it derives from.
3. `kind` is one of original, copy, reformatted, edited, revised, rewrite, chain, twin, short; tests/demo checks what
   each of them promises.
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["corpus_path"]


def corpus_path() -> Path:
    """The path of the sample corpus, a file of JSON lines.

    Example:
        >>> corpus_path().name
        'corpus.jsonl'
    """
    return Path(str(files(__name__).joinpath("corpus.jsonl")))
