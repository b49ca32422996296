"""Options that several calls take: each is declared once, in a TypedDict, and every call shows all that it takes.

1. A call says `**options: Unpack[SomeOptions]`, by which type checkers and editors know names and types.
2. An option is `Annotated[type, Doc("what it means")]`. Left out, it is None, or what its `Default` says: `checked`
   (arguments.py) fills it in, so the body of the call finds every option.
3. What a call shows at run time (`help`, `inspect.signature`, notebooks) has the options that it shares as its own.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Unpack, get_args, get_origin, is_typeddict

from nearsame.named import NamedTuple
from nearsame.printable import wrapped

__all__ = ["Default", "Doc", "SharedOption", "changed_options", "shared_options", "whole_doc", "whole_signature"]

_WIDTH = 112  # of a docstring's line, without the indentation that `help` adds


class Doc(NamedTuple):
    """What an option means."""

    text: str


class Default(NamedTuple):
    """What an option is that is left out, where that is not None."""

    value: Any


class SharedOption(NamedTuple):
    """An option as it was declared; one without a meaning is a setting of a recipe, which says and checks it."""

    kind: Any
    meaning: str | None = None
    default: Any = None

    @classmethod
    def of(cls, declared: Any) -> "SharedOption":
        """Read what stands in a TypedDict."""
        if get_origin(declared) is not Annotated:
            return cls(declared)
        kind, *notes = get_args(declared)
        meaning = next((note.text for note in notes if isinstance(note, Doc)), None)
        return cls(kind, meaning, next((note.value for note in notes if isinstance(note, Default)), None))


def shared_options(function: Callable[..., Any]) -> dict[str, SharedOption]:
    """The options that a call shares with others, by name.

    Example:
        >>> from typing import TypedDict
        >>> class Painting(TypedDict, total=False):
        ...     colour: Annotated[str, Doc("What it is painted with."), Default("red")]
        >>> def paint(**options: Unpack[Painting]) -> None: ...
        >>> shared_options(paint)["colour"].default
        'red'
    """
    annotations: list[Any] = list(inspect.get_annotations(function).values())
    return {
        name: SharedOption.of(declared)
        for kind in annotations
        if get_origin(kind) is Unpack and is_typeddict(get_args(kind)[0])
        for name, declared in inspect.get_annotations(get_args(kind)[0]).items()
    }


def changed_options(options: Mapping[str, Any], declared: type) -> dict[str, Any]:
    """The options of a call that are of a `TypedDict`, and not what they are when left out.

    Example:
        >>> from typing import TypedDict
        >>> class Painting(TypedDict, total=False):
        ...     colour: Annotated[str, Doc("What it is painted with."), Default("red")]
        >>> changed_options({"colour": "blue"}, Painting), changed_options({"colour": "red"}, Painting)
        ({'colour': 'blue'}, {})
    """
    known = {name: SharedOption.of(kind) for name, kind in inspect.get_annotations(declared).items()}
    return {name: value for name, value in options.items() if name in known and value != known[name].default}


def whole_signature(function: Callable[..., Any], shared: Mapping[str, SharedOption]) -> inspect.Signature:
    """The signature of a call with its shared options spelt out."""
    signature = inspect.signature(function)
    if not shared:
        return signature
    own = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    others = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.kind)
        for name, option in shared.items()
    ]
    return signature.replace(parameters=[*own, *others])


def whole_doc(doc: str | None, shared: Mapping[str, SharedOption]) -> str | None:
    r"""A docstring in which the shared options stand behind the call's own arguments.

    Example:
        >>> print(whole_doc("Paint.\n\nRaises:\n    OSError: Never.", {"colour": SharedOption(str, "Which.")}))
        Paint.
        <BLANKLINE>
        Args:
            colour: Which.
        <BLANKLINE>
        Raises:
            OSError: Never.
    """
    if doc is None or not shared:
        return doc
    lines = [
        line
        for name, option in shared.items()
        if option.meaning is not None
        for line in _folded(f"{name}: {option.meaning}")
    ]
    sections = inspect.cleandoc(doc).split("\n\n")
    at = next((at for at, section in enumerate(sections) if section.startswith("Args:")), None)
    if at is None:
        at = next((at for at, section in enumerate(sections) if section.startswith(_AFTER_ARGUMENTS)), len(sections))
        sections.insert(at, "Args:")
    sections[at] = "\n".join((sections[at], *lines))
    return "\n\n".join(sections)


def _folded(text: str) -> list[str]:
    """A text in lines that are not too long; `textwrap` takes some 4 ms for those of `dedup` and `pairs`."""
    first, *others = wrapped(text, _WIDTH - 8)
    return [f"    {first}", *(f"        {line}" for line in others)]


_AFTER_ARGUMENTS = ("Returns:", "Yields:", "Raises:", "Example:")
