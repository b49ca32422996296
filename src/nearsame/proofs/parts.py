"""The list of sources of an output: whether it is one that a run could have written, and the parts that it names."""

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearsame.proofs.files import FORMS, Part

__all__ = ["part_problems", "parts_of"]

_COMPRESSIONS = (None, "gzip", "bz2", "xz", "zstd", "lz4")
_SHARED = ("against", "source", "target", "format", "compression")

Line = Mapping[str, Any]


def parts_of(listed: pa.Table, encodings: Mapping[str, str]) -> tuple[Part, ...]:
    """The parts, of a list that has no problems; some are lines in other encodings than UTF-8."""
    lines: dict[int, list[Line]] = {}
    for line in listed.to_pylist():
        lines.setdefault(line["part"], []).append(line)
    parts = []
    for number, some in sorted(lines.items()):
        first = some[0]
        stamps = [(line["size_bytes"], line["mtime_ns"]) for line in some]
        paths, files = [line["path"] for line in some], [line["file"] for line in some]
        fields = {name: first[name] for name in ("against", "target", "format", "compression")}
        name = first["source"]
        known = {"name": name, "encoding": encodings.get(name), **fields}
        parts.append(Part(number=number, paths=paths, files=files, stamps=stamps, **known))
    return tuple(parts)


def part_problems(listed: pa.Table) -> Iterator[str]:
    """What is wrong with a list of sources."""
    lines = listed.to_pylist()
    for number, line in enumerate(lines):
        yield from (f"line {number}: {what}" for what in _line_problems(line))
    for number, (one, two) in enumerate(itertools.pairwise(lines), start=1):
        yield from (f"line {number}: {what}" for what in _order_problems(one, two))
    if lines and lines[0]["part"]:
        yield "line 0: parts are counted from 0"
    yield from _target_problems(lines)


def _order_problems(one: Line, two: Line) -> Iterator[str]:
    """What is wrong with a line after the one before it."""
    if two["part"] not in (one["part"], one["part"] + 1):
        yield f"part {two['part']} does not follow part {one['part']}"
    if two["against"] and not one["against"]:
        yield "the against side does not come first"
    if one["part"] == two["part"]:
        form = FORMS.get(two["format"])
        if form is not None and not form.is_folder:
            yield f"part {two['part']} has several files, and is not a folder"
        for name in _SHARED:
            if one[name] != two[name]:
                yield f"{name} of part {two['part']} is {one[name]!r} and {two[name]!r}"


def _line_problems(line: Line) -> Iterator[str]:
    kind, path, file = line["format"], line["path"], line["file"]
    form = FORMS.get(kind)
    if form is None:
        yield f"format {kind!r} is unknown"
        return
    if line["compression"] not in (_COMPRESSIONS if form.is_file else (None,)):
        yield f"compression {line['compression']!r} is unknown"
    if (file is not None) != form.is_folder or (path is None) != (form.names is not None):
        yield f"a source of format {kind} is not named like this: path {path!r}, file {file!r}"
        return
    is_remote = path is not None and b"://" in path
    is_stamped = [line[name] is not None for name in ("size_bytes", "mtime_ns")]
    if is_stamped != [path is not None and not is_remote] * 2:
        yield "only local files have a size and a time"
    if not (_is_called(line) if path is not None else re.fullmatch(form.names or "", line["source"], re.DOTALL)):
        yield f"source {line['source']!r} is not what {_shown(path)} is called"


def _is_called(line: Line) -> bool:
    """Whether a path is that of a source, which is called as it was typed: from wherever that was."""
    path, file = line["path"], line["file"]
    name: bytes = line["source"].encode()
    if b"://" in path:
        return bool(path.startswith(name.rstrip(b"/")) if file is not None else path == name)
    if not _is_unicode(path):
        return True  # a name is a text, which cannot say what the path is
    whole = _pieces(path)
    if file is None:
        return _ends_with(whole, name)
    inner = _pieces(file)
    return whole[-len(inner) :] == inner and (_ends_with(whole, name) or _ends_with(whole[: -len(inner)], name))


def _ends_with(whole: Sequence[bytes], name: bytes) -> bool:
    plain = os.path.normpath(name)
    if plain.startswith(b"/"):
        return _pieces(plain) == list(whole)
    inner = [piece for piece in _pieces(plain) if piece not in (b"..", b".")]
    return not inner or list(whole[-len(inner) :]) == inner


def _pieces(path: bytes) -> list[bytes]:
    return [piece for piece in path.split(b"/") if piece]


def _is_unicode(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(path: bytes | None) -> str:
    return "it" if path is None else repr(os.fsdecode(path))


def _target_problems(lines: Sequence[Line]) -> Iterator[str]:
    """Copies have places of their own below kept/; the against side has none."""
    taken: dict[str, int] = {}
    for number, line in enumerate(lines):
        target, part = line["target"], line["part"]
        if line["against"]:
            if target:
                yield f"line {number}: target {target!r}, and the against side is not copied"
            continue
        if not target or target.startswith("/") or ".." in target.split("/"):
            yield f"line {number}: target {target!r} is not a place below kept/"
        if taken.setdefault(target, part) != part:
            yield f"line {number}: target {target!r} is that of part {taken[target]}, too"
