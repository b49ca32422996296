"""A folder that Spark writes and that appears complete or not at all, in whatever file system.

1. Everything is written to a hidden folder beside the place; what was there is set aside by renaming it, the new is
   renamed into its place, and only then the old is deleted.
2. Whatever ends the writing, the former answer stands, and the hidden folder is deleted.
3. A process that is killed cannot clean up: the next one puts a former answer that was set aside back into its place,
   and names what else is left over.
4. Where a store renames by copying (S3), that is not one step: a process that is killed in it leaves a part of the new
   answer, and both answers whole beside it. The next one sets the part aside, and puts the former answer back.
5. What is deleted loses first the file that says it is whole: a process that is killed while it deletes leaves nothing
   that could be taken for an answer, and nothing else is put back. (Where a store renames by copying, what had half
   been set aside may say so, too: two such kills, one after the other, are for people.)
"""

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from nearsame.engines.spark.interrupting import settled
from nearsame.engines.spark.places import HadoopPlace
from nearsame.errors import NearSameError, OutputError
from nearsame.files.placing import to_disk

__all__ = ["appearing", "is_left_over", "left_over", "mended", "unseen"]

_NEW, _OLD = ".new", ".old"  # not what one machine calls its own, which it would delete
_HIDDEN = re.compile(rf"\.(.+)\.[0-9a-f]{{8}}({re.escape(_NEW)}|{re.escape(_OLD)})")


def unseen(place: HadoopPlace, ending: str = _NEW) -> HadoopPlace:
    """A hidden place beside one, which no other process takes."""
    return place.beside(f".{place.name}.{secrets.token_hex(4)}{ending}")


def is_left_over(name: str) -> bool:
    """Whether a name is one of those: of what is being written, or was when a process was killed."""
    return _HIDDEN.fullmatch(name) is not None


def left_over(place: HadoopPlace) -> str:
    """What to say of such a place."""
    return f"{place.address} was left by a run that was killed: delete it unless another run is writing there"


@contextmanager
def appearing(place: HadoopPlace, mark: str) -> Iterator[HadoopPlace]:
    """The place to write a folder at; it is renamed to the one that is asked for when the block ends without an error.

    Args:
        place: The one that is asked for.
        mark: The file in it that says that it is whole.

    Raises:
        OutputError: It could not be renamed.
    """
    if not place.key[2]:
        raise OutputError(f"{place.address} is the root of a store", hint="Name a folder in it.")
    made, old = unseen(place), unseen(place, _OLD)
    try:
        with settled(place.session):  # a task that still writes would make the hidden folder again
            yield made
        if made.local is not None:
            _require_on_disk(Path(made.local))
        if place.exists():
            place.move_to(old)
        made.move_to(place)
    finally:
        _restore(place, old)
        _clear(made, mark)
        if place.exists():
            _clear(old, mark)


def _require_on_disk(made: Path) -> None:
    try:
        to_disk(made)
    except OSError as error:
        raise OutputError.at(made, error) from error


def _restore(place: HadoopPlace, old: HadoopPlace) -> None:
    """Put the former answer back, if nothing stands in its place.

    Raises:
        OutputError: It cannot be moved.
    """
    if place.exists() or not old.exists():
        return
    try:
        old.move_to(place)
    except NearSameError as error:
        message = f"{place.address}: its former answer is now in {old.address}, and could not be put back"
        raise OutputError(f"{message} ({error.message})", hint=f"Rename {old.name} to {place.name}.") from None


def _clear(place: HadoopPlace, mark: str) -> None:
    with suppress(NearSameError):  # the next run names it
        place.inside(mark).delete()
        place.delete()


def _is_half_copied(place: HadoopPlace, others: Sequence[HadoopPlace]) -> bool:
    """Whether what stands there may be a part of one of these; if not, it is somebody's own."""
    names = set(place.names()) if place.is_copied else set()
    return bool(names) and any(names <= set(other.names()) for other in others)


def mended(place: HadoopPlace, is_whole: Callable[[HadoopPlace], bool]) -> list[str]:
    """What to say of leftovers beside a place; a former answer that a killed process had set aside stands again.

    Args:
        place: Where an answer is to be written.
        is_whole: Whether a folder is an answer that was written to its end.
    """
    hidden = ((name, _HIDDEN.fullmatch(name)) for name in place.parent().names())
    left = [name for name, match in hidden if match is not None and match[1] == place.name]
    olds = [name for name in left if name.endswith(_OLD) and is_whole(place.beside(name))]
    notes = []
    others = [place.beside(name) for name in left]
    if olds and not is_whole(place) and _is_half_copied(place, others):
        aside = unseen(place)
        place.move_to(aside)
        left.append(aside.name)
    if olds and not place.exists():
        left.remove(olds[-1])
        place.beside(olds[-1]).move_to(place)
        notes.append(f"{place.address} is back in its place: a run that was killed had moved it aside")
    return notes + [left_over(place.beside(name)) for name in left]
