"""What one must know of encodings: how files were read that are not UTF-8, and what could not be read for that."""

from collections import Counter

from nearsame.sources.base import NOT_READ, Aside

__all__ = ["encoding_notes"]

_MOST_FILES = 3


def encoding_notes(told: Counter[Aside]) -> tuple[str, ...]:
    """A sentence each for files that were read, for text files that were not, and for records that were not.

    Args:
        told: How often each thing was said of an encoding.

    Example:
        >>> encoding_notes(Counter({Aside("utf-16-le", is_encoding=True): 2}))
        ('files in other encodings than UTF-8: utf-16-le 2',)
    """
    read, texts = Counter[str](), Counter[str]()
    records: dict[str, tuple[str, int]] = {}
    for (what, _, source), number in told.most_common():
        look = what.removeprefix(NOT_READ)
        if source:
            records[source] = look, number
        else:
            (texts if what.startswith(NOT_READ) else read)[look] += number
    notes = (f"files in other encodings than UTF-8: {_listed(read)}",) if read else ()
    return (*notes, *([_of_texts(texts)] if texts else ()), *([_of_records(records)] if records else ()))


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common() if name)


def _of_texts(looks: Counter[str]) -> str:
    number, like = looks.total(), _listed(looks)
    files = "1 text file is" if number == 1 else f"{number:,} text files are"
    return f"{files} not UTF-8, and unread: --encoding auto reads them as they look{like and ': '}{like}"


def _of_records(files: dict[str, tuple[str, int]]) -> str:
    number, looks = sum(number for _, number in files.values()), {look for look, _ in files.values() if look}
    lines = [f"{source} {number:,}{look and f' (looks like {look})'}" for source, (look, number) in files.items()]
    more = [f"{len(lines) - _MOST_FILES:,} more files"] if len(lines) > _MOST_FILES else []
    option = f"--encoding {looks.pop()} or auto" if len(looks) == 1 else "--encoding auto, or the name of one,"
    what = "1 record is" if number == 1 else f"{number:,} records are"
    where = ", ".join(lines[:_MOST_FILES] + more)
    return f"{what} not UTF-8, and unread: {where}. If a file is in another encoding, {option} reads it"
