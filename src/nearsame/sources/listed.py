"""A list of strings: texts; and when they are more likely names of files, which nobody wants compared as texts.

1. A list of strings is texts: nothing is opened because a text reads like a name.
2. Where every one of them names what is there, or ends like a file that can be read, the list is refused.
3. Where some do, a warning names one. A text among others never stops a run: it may be a stranger's.
"""

import glob
import os
import re
import warnings
from collections.abc import Sequence
from itertools import islice

from nearsame.errors import SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.formats import BY_SUFFIX, PAGES, TEXTS

__all__ = ["require_texts"]

_FORMATS = (*BY_SUFFIX, *TEXTS, *PAGES)
_ENDINGS = (*_FORMATS, *(form + packed for form in _FORMATS for packed in COMPRESSIONS))
_LONGEST_ENDING = max(map(len, _ENDINGS))
_LONGEST = 4096  # characters of a path
_MOST_LOOKED_UP = 1000
_IN_A_STORE = r"(?!https?:)[a-z][a-z0-9+.:-]+://\S{1,4000}"  # of the web are also URLs that mean a text
_HINT = (
    'Give files as a tuple, ("a.jsonl", "b.jsonl"), or a list of Paths;'
    ' give texts that read like names as records, [{"text": "a.jsonl"}].'
)


def require_texts(texts: Sequence[str | None], *, are_urls: bool = False, what: str = "a list of strings") -> None:
    """See that the strings of a list, or of a dict, are not names of files.

    Args:
        texts: The strings; None says nothing.
        what: What they stand in.
        are_urls: Whether they are meant for URLs, which may end like a file, or be called as a folder is: `/`.

    Raises:
        SourceError: All of them are.

    Example:
        >>> require_texts(["a.csv", "b.csv"])
        Traceback (most recent call last):
        nearsame.errors.SourceError: a list of strings is read as texts, but these are names of files: 'a.csv', 'b.csv'
    """
    names_a_file = _is_a_file_there if are_urls else _reads_like_a_file
    if any(texts) and all(names_a_file(text) for text in texts if text):
        names = [repr(text) for text in islice(filter(None, texts), 3)]
        shown = ", ".join(names[:2]) + (", …" if len(names) > 2 else "")
        raise SourceError(f"{what} is read as texts, but these are names of files: {shown}", hint=_HINT)
    for text in islice((text for text in texts if text and _ends_like_a_file(text)), _MOST_LOOKED_UP):
        if os.path.exists(text):  # noqa: PTH110  (a Path raises for some texts)
            message = (
                f"{text!r} is compared as a text, since it is in a list of texts; there is also a file of that name."
            )
            warnings.warn(f"{message} {_HINT}", UserWarning, stacklevel=2)
            return


def _reads_like_a_file(text: str) -> bool:
    return _ends_like_a_file(text) or _is_there(text) or re.fullmatch(_IN_A_STORE, text) is not None


def _is_a_file_there(text: str) -> bool:
    return _ends_like_a_file(text) and os.path.isfile(text)  # noqa: PTH113  (a Path raises for some texts)


def _ends_like_a_file(text: str) -> bool:
    ending = text[-_LONGEST_ENDING:]
    if "." not in ending:
        return False
    ending = ending.lower()
    return ending.endswith(_ENDINGS) and len(text) <= _LONGEST and len(text.split(None, 1)) == 1


def _is_there(text: str) -> bool:
    """Whether a file or folder has this name, or a pattern finds some."""
    if len(text) > _LONGEST:
        return False
    if os.path.exists(text):  # noqa: PTH110  (a Path raises for some texts)
        return True
    is_pattern = "*" in text and "\0" not in text and len(text.split(None, 1)) == 1
    return is_pattern and next(glob.iglob(text), None) is not None  # noqa: PTH207  (it would rewrite the pattern)
