"""What callers ask for, checked before anything is read: what is impossible is an error that names the values.

1. Functions called `chosen_…` give what stands for a choice that was left out; those called `require_…` only refuse.
2. Recipes check themselves; here is what a recipe, columns, sides and an engine mean together.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from nearsame.errors import ConfigError
from nearsame.recipes.arguments import refuse_on_spark
from nearsame.recipes.choices import ClusterKind, MethodName, Ties
from nearsame.recipes.methods import METHODS, Codes, Jaccard, Method, as_recipe
from nearsame.sources import Columns
from nearsame.sources.columns import CODE

__all__ = [
    "chosen_codes",
    "chosen_recipe",
    "chosen_spark",
    "chosen_ties",
    "chosen_vectors",
    "chosen_within",
    "is_audited",
    "require_clusters",
    "require_columns",
    "with_method_hint",
]

_ONE_MACHINE = (  # options that say nothing to Spark
    "threads", "memory", "batch_rows", "include",
    "exclude", "read_as", "encoding", "codes_column",
)  # fmt: skip
_Asking = TypeVar("_Asking", bound=Callable[..., Any])


def with_method_hint(function: _Asking) -> _Asking:
    """The same function; a setting of a recipe that is given to it directly is refused with how it is to be given."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def asked(*args: Any, **given: Any) -> Any:
        for name in given.keys() - known:
            for method in (Jaccard, *METHODS.values()):
                if name in method.model_fields:
                    asker = function.__name__
                    call = f"{asker}(..., method=nearsame.{method.__name__}({name}={given[name]!r}))"
                    message = f"{name}={given[name]!r} is a setting of the method, not an argument of {asker}"
                    raise ConfigError(message, hint=f"Give it with the method, as in {call}.")
        return function(*args, **given)

    return cast("_Asking", asked)


def chosen_ties(ties: Ties | None, order_column: str | None, engine: Any) -> Ties:
    """What decides between documents of equal value."""
    if ties == "reading" and engine is not None:
        raise ConfigError(
            "ties='reading' on Spark: a DataFrame has no order", hint="Choose 'content', or leave it out."
        )
    if ties == "reading" and order_column is not None:
        message = f"ties='reading' and order_column={order_column!r}: they exclude each other"
        raise ConfigError(message, hint="Leave one of them out.")
    return ties or ("reading" if engine is None and order_column is None else "content")


def chosen_recipe(method: Method | MethodName | None, codes_column: str | None = None) -> Method:
    """The recipe itself, by its name, or the default: that of codes, where their column is named."""
    if method is None:
        return Jaccard() if codes_column is None else Codes()
    return as_recipe(method)


def chosen_within(recipe: Method, against: Any, within: bool | None) -> bool:  # noqa: FBT001  (as it was given to dedup)
    """Whether documents of one side are compared with each other."""
    if within is False and against is None:
        raise ConfigError("within=False without against: nothing would be compared", hint="Give against, too.")
    if not recipe.across_only:
        return within is not False
    if against is None:
        raise ConfigError("remove='container' needs the documents that may be contained", hint="Give them as against.")
    if within:
        message = "remove='container' and within=True: what contains its like on the same side is not removed"
        raise ConfigError(message, hint="Leave within out.")
    return False


def require_clusters(clusters: ClusterKind, recipe: Method) -> None:
    """An error unless this method can have such clusters."""
    if clusters == "components" and recipe.has_direction:
        message = f"clusters='components' and method={recipe.name}: what shares a part would become one"
        raise ConfigError(message, hint="Leave clusters out, or choose jaccard.")


def chosen_vectors(recipe: Method, name: str | None) -> str | None:
    """The column of vectors, where the method is about them."""
    if recipe.of_vectors:
        return name or "vector"
    if name is not None:
        message = f"vector_column={name!r} does nothing with method={recipe.name}"
        raise ConfigError(message, hint="Leave it out, or choose hyperplane.")
    return None


def chosen_codes(columns: Columns, recipe: Method, name: str | None) -> Columns:
    """The columns with that of codes, where the method is about them."""
    if recipe.of_codes:
        return replace(columns, codes=name or CODE, bits=recipe.get("bits"), decimal=recipe.get("decimal"))
    if name is not None:
        message = f"codes_column={name!r} does nothing with method={recipe.name}"
        raise ConfigError(message, hint="Leave it out, or choose codes.")
    return columns


def chosen_spark(options: Mapping[str, Any]) -> Any:
    """The engine that is asked for, with options that it has.

    Raises:
        ConfigError: It is none, or an option is about one machine.
    """
    from nearsame.engines.spark import Spark  # noqa: PLC0415  (only those who ask for it)

    engine = options["engine"]
    if not isinstance(engine, Spark):
        hint = "Give one, as in Spark(session), or leave it out."
        raise ConfigError(f"engine={engine!r} is not an engine", hint=hint)
    refuse_on_spark(**{name: options.get(name) for name in _ONE_MACHINE})
    return engine


def require_columns(columns: Columns, recipe: Method) -> None:
    """An error unless columns are what the method looks at."""
    if recipe.is_textless:
        what, option = ("vectors", "vector_column") if recipe.of_vectors else ("codes", "codes_column")
        for other, name in (("text_column", columns.text), ("features_column", columns.items)):
            if name is not None:
                message = f"method={recipe.name} needs {what}, not {other}={name!r}"
                raise ConfigError(message, hint=f"Name their column with {option}.")
    if columns.items is None:
        return
    if columns.text is not None:
        raise ConfigError(
            f"text_column={columns.text!r} and features_column={columns.items!r}: they exclude each other"
        )
    if not recipe.takes_items:
        message = f"method={recipe.name} needs texts, not features_column={columns.items!r}"
        *others, last = (name for name, method in METHODS.items() if method.takes_items)
        raise ConfigError(message, hint=f"Choose {', '.join(others)} or {last}.")
    given = recipe.for_texts
    if given:
        raise ConfigError(f"{given[0]} does nothing to features_column={columns.items!r}", hint="Leave it out.")


def is_audited(recipe: Method, *, wanted: bool | None) -> bool:
    """Whether a run is audited: unasked, if its method may miss pairs, and can be.

    Raises:
        ConfigError: It is asked for, of a method that has none.
    """
    if wanted and not recipe.can_be_audited:
        message = f"audit=True is about Jaccard or vectors, and method={recipe.name} is about {recipe.measure}"
        raise ConfigError(message, hint="Leave audit (and what is required of it) out.")
    return (recipe.may_miss and recipe.can_be_audited) if wanted is None else wanted
