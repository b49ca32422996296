"""Templates: loaded from the package, escaped without exception.

1. What is not defined is an error, not an empty string.
2. Numbers are written in one way on all pages; a similarity is cut, not rounded: nothing below a threshold looks as if
   it reached it.
3. A half of a surrogate pair, which a stored text may have, is U+FFFD: a page is UTF-8.
"""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from nearsame.printable import without_halves
from nearsame.shares import cut

__all__ = ["Templates"]


class Templates:
    """The templates of the pages."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FunctionLoader(_source),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        self._environment.filters |= {"number": _number, "share": cut}

    def render(self, name: str, **data: Any) -> str:
        """A template filled in; a name that it needs and `data` does not have is an error."""
        return without_halves(self._environment.get_template(name).render(data))


def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text("utf-8")


def _number(value: int) -> str:
    return f"{value:,}"
