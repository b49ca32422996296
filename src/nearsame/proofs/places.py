"""Where the copies of a source stand below an output, and the annotations of text files and archives."""

import os
import re
from collections.abc import Iterator

from nearsame.proofs.claims import Claims
from nearsame.proofs.files import Part

__all__ = ["annotations_of", "copies_of"]


def copies_of(claims: Claims, part: Part) -> Iterator[bytes]:
    """The files of kept/ that are of a part, without annotations."""
    target = os.fsencode(part.target)
    if part.form.reads == "nothing" or part.against or claims.has_mask:
        return
    if part.form.is_folder and claims.written["copy_files"]:
        yield from (os.path.normpath(b"kept/" + target + b"/" + (file or b"")) for file in part.files)
    else:
        yield os.path.normpath(b"kept/" + target)


def annotations_of(claims: Claims, part: Part) -> bytes | None:
    """Where the annotations of text files or of an archive stand: by another name, if a copy has this one."""
    taken = {copy for other in claims.parts if _is_written(claims, other) for copy in copies_of(claims, other)}
    for other in claims.parts:  # as they are written, one behind the other
        if (stem := _annotated(claims, other)) is None or not (other is part or _is_written(claims, other)):
            continue
        number, name = 1, stem + b".jsonl"
        while name in taken:
            name, number = b"%s-%d.jsonl" % (stem, number), number + 1
        if other is part:
            return name
        taken.add(name)
    return None


def _annotated(claims: Claims, part: Part) -> bytes | None:
    """What the file with the annotations of a part is called, but for a number and its ending; None: it has none."""
    if part.against or not claims.written["annotate"]:
        return None
    if part.form.is_archive:
        return _annotated_archive(part)
    return _annotated_folder(claims, part) if part.form.is_folder else None


def _annotated_archive(part: Part) -> bytes:
    return os.path.normpath(b"kept/" + os.fsencode(part.target)) + b".annotations"


def _annotated_folder(claims: Claims, part: Part) -> bytes:
    folder, name = os.path.split(os.fsencode(part.target))
    if claims.written["copy_files"]:
        folder, name = os.fsencode(part.target), b"kept.txt"
    return os.path.normpath(b"/".join([b"kept", folder or b".", re.sub(rb"kept(-nul)?\.txt$", b"annotations", name)]))


def _is_written(claims: Claims, part: Part) -> bool:
    """What could not be read may be left out."""
    return not (claims.written["drop_unreadable"] and part.name in claims.skips.unread)
