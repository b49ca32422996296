"""Where the copies of a source stand below an output, and the annotations of text files."""

import os
import re
from collections.abc import Iterator

from nearsame.proofs.claims import Claims
from nearsame.proofs.files import Part

__all__ = ["annotations_of", "copies_of"]

FOLDERS = ("text", "pages")


def copies_of(claims: Claims, part: Part) -> Iterator[bytes]:
    """The files of kept/ that are of a part, without annotations."""
    target = os.fsencode(part.target)
    if part.format == "nothing" or part.against:
        return
    if part.format in FOLDERS and claims.written["copy_files"]:
        yield from (os.path.normpath(b"kept/" + target + b"/" + (file or b"")) for file in part.files)
    else:
        yield os.path.normpath(b"kept/" + target)


def annotations_of(claims: Claims, part: Part) -> bytes | None:
    """Where the annotations of text files stand: by another name, if what was written before has this one."""
    if part.format not in FOLDERS or part.against or not claims.written["annotate"]:
        return None
    folder, name = os.path.split(os.fsencode(part.target))
    if claims.written["copy_files"]:
        folder, name = os.fsencode(part.target), b"kept.txt"
    stem = os.path.normpath(b"/".join([b"kept", folder or b".", re.sub(rb"kept(-nul)?\.txt$", b"annotations", name)]))
    taken = {copy for other in claims.parts if _is_before(claims, other, part) for copy in copies_of(claims, other)}
    number, found = 1, stem + b".jsonl"
    while found in taken:
        found, number = b"%s-%d.jsonl" % (stem, number), number + 1
    return found


def _is_before(claims: Claims, other: Part, part: Part) -> bool:
    """Whether copies of a part stood there when another was annotated; what could not be read may be left out."""
    is_left_out = claims.written["drop_unreadable"] and other.name in claims.skips.unread
    return other.number <= part.number and not is_left_out
