"""Which layers run, by name: what was asked for, in the order in which they run, with what comes with them."""

from collections.abc import Sequence
from typing import Any, Final

from nearsame.errors import ConfigError
from nearsame.flow.evidence import OneForm
from nearsame.recipes.choices import LAYERS, LayerName, OwnLayer
from nearsame.recipes.methods import as_recipe
from nearsame.recipes.urls import CanonicalUrl

__all__ = ["GUESSED", "INDEX", "TEXTLESS", "chosen_layers", "needs_bare", "require_layers", "with_guesses"]

GUESSED: Final = "url-guess"  # the layer that comes with `url`
INDEX: Final = "index"  # the one that comes with indexes that are asked
TEXTLESS: tuple[LayerName, ...] = ("redirect", "revisit")  # layers about records that have no text


def require_layers(use: str | Sequence[str]) -> tuple[LayerName, ...]:
    """The layers of `use`, in their order.

    Raises:
        ConfigError: There is none, or one that is not known.

    Example:
        >>> require_layers("text, url")
        ('url', 'text')
    """
    names = [name.strip() for name in use.split(",")] if isinstance(use, str) else list(use)
    unknown = [name for name in names if name not in LAYERS]
    if unknown or not names:
        what = f"{unknown[0]!r} is not a layer" if unknown else "it names no layer"
        raise ConfigError(f"use={use!r}: {what}", hint=f"Choose from {', '.join(LAYERS)}.")
    return tuple(name for name in LAYERS if name in names)


def with_guesses(layers: tuple[LayerName, ...], urls: CanonicalUrl | OneForm) -> tuple[OwnLayer, ...]:
    """The layers with what comes with them: guesses about URLs, where the rules have any.

    Example:
        >>> with_guesses(("url", "text"), CanonicalUrl())
        ('url', 'url-guess', 'text')
    """
    may_guess = not isinstance(urls, CanonicalUrl) or urls.guesses
    return tuple(name for layer in layers for name in ((layer, GUESSED) if layer == "url" and may_guess else (layer,)))


def chosen_layers(use: str | Sequence[str], method: Any, features_column: str | None) -> tuple[LayerName, ...]:
    """The layers of `use`, with a method that has something to do in them.

    Raises:
        ConfigError: There is no such layer, or the method and they are at odds.
    """
    layers = require_layers(use)
    if "text" not in layers and method is not None:
        name = as_recipe(method).name
        message = f"use={use!r} and method={name}: without the layer text there is nothing for it to do"
        raise ConfigError(message, hint="Add text, or leave the method out.")
    if features_column is not None or (method is not None and as_recipe(method).is_textless):
        raise ConfigError(f"use={use!r} needs texts, not features, vectors or codes", hint="Leave it out.")
    return layers


def needs_bare(layers: tuple[LayerName, ...]) -> bool:
    """Whether layers are about records of archives that have no text."""
    return any(name in layers for name in TEXTLESS)
