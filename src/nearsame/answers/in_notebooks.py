"""What a shell and a notebook show of an answer: a line, and what outputs/cells.py draws, loaded when one is shown."""

from importlib import import_module

__all__ = ["InNotebooks", "in_a_line"]

_WIDTH = 79


class InNotebooks:
    """Anything that a notebook shows as more than a line."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawn: str = import_module("nearsame.outputs.cells").shown(self)
        return drawn


def in_a_line(kind: str, name: str, *said: str) -> str:
    """A name, cut where it is too long for a line, and what else there is to say of it.

    >>> in_a_line("Group", "a", "3 documents")
    "Group('a', 3 documents)"
    """
    rest = "".join(f", {one}" for one in said if one)
    room = _WIDTH - len(f"{kind}({rest})")
    most = min(len(name), room)
    while most and len(repr(f"{name[:most]}…" if most < len(name) else name)) > room:
        most -= 1
    return f"{kind}({f'{name[:most]}…' if most < len(name) else name!r}{rest})"
