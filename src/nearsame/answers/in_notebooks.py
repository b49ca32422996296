"""What a notebook shows of an answer: drawn above, in outputs/cells.py, and named here; loaded when one is shown."""

from importlib import import_module

__all__ = ["InNotebooks"]


class InNotebooks:
    """Anything that a notebook shows as more than a line."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawn: str = import_module("nearsame.outputs.cells").shown(self)
        return drawn
