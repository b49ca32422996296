"""Options that calls share: declared once, filled in, shown by every call that takes them."""

import inspect
import pydoc
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict, Unpack, get_origin

import pytest

import nearsame as ns
from nearsame.flow.options import RunOptions
from nearsame.recipes.arguments import checked
from nearsame.recipes.methods import MinHash, Shingled, SimHash
from nearsame.recipes.settings import CodeSettings, MinHashSettings, ShingleSettings
from nearsame.recipes.signatures import Default, Doc, SharedOption, shared_options


class Painting(TypedDict, total=False):
    """What `paint` takes."""

    colour: Annotated[str | None, Doc("What it is painted with.")]
    coats: Annotated[int, Doc("How often."), Default(2)]


@checked
def paint(wall: str, **options: Unpack[Painting]) -> tuple[Any, ...]:
    """Paint a wall.

    Args:
        wall: Which.

    Raises:
        ConfigError: It cannot be painted.
    """
    return wall, options["colour"], options["coats"]


def calls() -> Iterator[tuple[str, Callable[..., Any], dict[str, SharedOption]]]:
    """Every public call that shares options."""
    for name in ns.__all__:
        owner = getattr(ns, name)
        members = vars(owner).items() if inspect.isclass(owner) else ()
        for label, thing in ((name, owner), *((f"{name}.{member}", value) for member, value in members)):
            function = inspect.unwrap(getattr(thing, "__func__", thing))
            if inspect.isfunction(function) and (shared := shared_options(function)):
                yield label, getattr(thing, "__func__", thing), shared


def test_what_is_left_out_is_filled_in() -> None:
    """None, or the default that was declared."""
    assert ("north", None, 2) == paint("north")
    assert ("north", "red", 3) == paint("north", colour="red", coats=3)


def test_an_unknown_option_is_pythons_error_with_the_name_that_was_meant() -> None:
    """As with a parameter of its own; what resembles nothing has no suggestion."""
    with pytest.raises(TypeError, match=r"paint\(\) got an unexpected keyword argument 'color'. Did you mean 'colour'"):
        paint("north", color="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        paint("north", zzz="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'wall'"):
        paint(coats=1)  # type: ignore[call-arg]


def test_an_option_is_held_to_its_type() -> None:
    """Like any other argument."""
    with pytest.raises(ns.ConfigError, match="coats must be a whole number, got 'x'"):
        paint("north", coats="x")  # type: ignore[arg-type]


def test_signature_and_help_show_shared_options_as_a_calls_own() -> None:
    """With type, default and meaning; what follows the arguments stays behind them."""
    assert ["wall", "colour", "coats"] == list(inspect.signature(paint).parameters)
    text = pydoc.render_doc(paint, renderer=pydoc.plaintext)
    assert "colour: str | None = None, coats: int = 2" in text
    assert text.index("wall: Which.") < text.index("coats: How often.") < text.index("Raises:")


@pytest.mark.parametrize("call", [pytest.param(call, id=call[0]) for call in calls()])
def test_every_option_of_a_call_is_in_its_help_once(call: Any) -> None:
    """Each with its meaning; settings of recipes are the recipe's to explain."""
    _, function, shared = call
    doc = inspect.getdoc(function) or ""
    wrong = [name for name, option in shared.items() if doc.count(f"\n    {name}: ") != (option.meaning is not None)]
    assert [] == wrong
    assert {*shared} <= {*inspect.signature(function).parameters}


def test_dedup_pairs_and_the_index_share_what_they_have_in_common() -> None:
    """No parameter is written down by two of them."""
    taken = {name: shared for name, _, shared in calls()}
    assert {"dedup", "pairs", "evaluate", "plan", "Index.create", "Index.add", "Index.add_batches"} <= {*taken}
    assert {*RunOptions.__annotations__} == {*taken["pairs"]} < {*taken["dedup"]}
    assert {*taken["Index.create"]} < {*taken["pairs"]}
    assert taken["Index.add"] == taken["Index.add_batches"]


def test_no_docstring_sends_the_reader_to_another_for_an_argument() -> None:
    """`As in x` was how a list that stands twice began."""
    docs = {name: inspect.getdoc(getattr(ns, name)) or "" for name in ns.__all__}
    docs |= {f"Index.{name}": inspect.getdoc(value) or "" for name, value in inspect.getmembers(ns.Index)}
    assert [] == [name for name, doc in docs.items() if ": As in `" in doc]


def test_keywords_for_settings_are_those_of_the_recipes() -> None:
    """No setting is missing, and none is invented; versions of tables are no choice, and no pairs are confirmed."""
    fixed = {"unicode", "tokeniser", "confirm", "confirm_threshold"}
    assert {*Shingled.model_fields} - fixed == {*ShingleSettings.__annotations__}
    assert {*MinHash.model_fields} - fixed == {*MinHashSettings.__annotations__}
    of_pairs = {"threshold", "k", "search", "blocks", "header"}
    assert {*SimHash.model_fields} - fixed - of_pairs == {*CodeSettings.__annotations__}


def test_no_public_call_takes_any_option_that_there_may_be() -> None:
    """What follows the parameters of a call is declared: names, types, defaults."""
    loose = []
    for name in ns.__all__:
        owner = getattr(ns, name)
        members = vars(owner).values() if inspect.isclass(owner) else ()
        for thing in (owner, *members):
            function = inspect.unwrap(getattr(thing, "__func__", thing))
            if inspect.isfunction(function) and function.__module__.startswith("nearsame"):
                rest = None if function.__name__.startswith("_") else inspect.getfullargspec(function).varkw
                if rest is not None and get_origin(inspect.get_annotations(function).get(rest)) is not Unpack:
                    loose.append(function.__qualname__)
    assert [] == loose
