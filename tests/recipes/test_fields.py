"""Settings: what a value may be is what its annotation says, and what it cannot be is refused by name and value."""

import copy
import json
import pickle
from collections import deque
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.recipes.fields import Declared, Field, rule
from nearsame.recipes.methods import MinHash


def _half(value):
    return Fraction(value) / 2


class Plain(Declared):
    """One setting of each kind."""

    yes: bool = Field(False, "Yes or no.")
    perhaps: bool | None = Field(None, "Yes, no, or neither.")
    count: int = Field(3, "A number.", ge=1, le=9)
    share: float = Field(0.5, "A share.", gt=0, lt=1)
    word: Literal["one", "two"] = Field("one", "A word.")
    bit: Literal[0, 1] = Field(0, "A bit.")
    path: str | None = Field(None, "A text.")
    texts: tuple[str, ...] = Field((), "Texts.")
    table: dict[str, int] | None = Field(None, "Numbers by text.")
    read: Annotated[Fraction, _half] | None = Field(Fraction(1, 3), "Twice what is kept.")


class First(Declared):
    """A setting, and a rule."""

    a: int = Field(0, "One.")
    not_one = 5
    _hidden: int = 7

    @rule
    def _a_is_small(self) -> None:
        if self.a > 5:
            raise ValueError("a is not small")


class Second(First):
    """Another one, another default of the first, and a rule that comes after."""

    b: int = Field(0, "Two.")
    a: int = Field(1, "One.")

    @rule
    def _both_differ(self) -> None:
        if self.a == self.b or self.a > 5:
            raise ValueError("both are equal")


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        *(("yes", word, True) for word in (True, "yes", "True", "on", "1")),
        *(("yes", word, False) for word in (False, "no", "false", "OFF", "0")),
        ("perhaps", None, None), ("perhaps", "no", False),
        ("count", "4", 4), ("count", np.int64(4), 4), ("count", " 4 ", 4), ("count", 1, 1), ("count", 9, 9),
        ("share", "0.25", 0.25), ("share", Fraction(1, 4), 0.25), ("share", np.float32(0.25), 0.25),
        ("word", "two", "two"), ("bit", 1, 1), ("bit", "1", 1), ("bit", np.uint8(1), 1),
        ("path", "a", "a"), ("path", None, None),
        *(("texts", kind(["a", "b"]), ("a", "b")) for kind in (list, tuple, iter, deque)),
        ("table", {"a": "1", "b": 2}, {"a": 1, "b": 2}), ("table", None, None),
        ("read", "1/2", Fraction(1, 4)), ("read", None, None),
    ],
)  # fmt: skip
def test_a_value_becomes_what_the_annotation_says(name, given, kept):
    """Whatever of these forms it has, and of that very type."""
    settings = Plain(**{name: given})
    assert (kept, type(kept)) == (getattr(settings, name), type(getattr(settings, name)))
    assert {name} == set(settings.model_fields_set)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("yes", "perhaps", "'perhaps' is not True or False"), ("yes", 1, "1 is not True or False"),
        ("yes", None, "None is not True or False"), ("count", None, "None is not a whole number"),
        ("count", "x", "'x' is not a whole number"), ("count", 2.5, "2.5 is not a whole number"),
        ("count", True, "True is not a whole number"), ("count", b"3", "b'3' is not a whole number"),
        ("count", 0, "0 is below 1"), ("count", "10", "10 is above 9"),
        ("share", 0, "0.0 is not above 0"), ("share", 1, "1.0 is not below 1"), ("share", "x", "'x' is not a number"),
        ("share", "nan", "nan is not above 0"), ("share", True, "True is not a number"),
        ("word", "three", "'three' is not 'one' or 'two'"), ("word", None, "None is not 'one' or 'two'"),
        ("word", ["one"], "['one'] is not 'one' or 'two'"), ("bit", True, "True is not a whole number"),
        ("bit", 2, "2 is not 0 or 1"), ("path", 3, "3 is not a string"),
        ("path", "\ud800", "'\\ud800' has half of a surrogate pair"),
        ("texts", "ab", "'ab' is not a list of strings"), ("texts", 3, "3 is not a list of strings"),
        ("texts", ["a", 1], "1 is not a string"), ("texts", ["\ud800"], "'\\ud800' has half of a surrogate pair"),
        ("table", {1: 1}, "1 is not a string"), ("table", {"a": "x"}, "'x' is not a whole number"),
        ("table", {"a": True}, "True is not a whole number"),
        ("table", [1], "[1] is not a table of whole numbers by text"),
        ("read", "x", "Invalid literal for Fraction: 'x'"), ("colour", "red", "there is no such setting"),
    ],
)  # fmt: skip
def test_what_a_value_cannot_be_is_said_behind_its_name(name, given, said):
    """And the value as it was given."""
    with pytest.raises(ValueError, match=r".*") as caught:
        Plain(**{name: given})
    assert f"{name}={given!r}: {said}" == str(caught.value)


def test_settings_are_those_of_all_bases_in_their_order():
    """Those of a base first; what is declared anew stays at its place, with the later default."""
    assert ["a"] == list(First.model_fields)
    assert ["a", "b"] == list(Second.model_fields)
    assert (0, 1) == (First().a, Second().a)
    assert (int, "Two.") == (Second.model_fields["b"].annotation, Second.model_fields["b"].description)


def test_rules_of_a_base_come_first_and_hold_for_all():
    """When each setting is right by itself."""
    for kind in (First, Second):
        with pytest.raises(ValueError, match=r"^a is not small$"):
            kind(a=6)
    with pytest.raises(ValueError, match=r"^both are equal$"):
        Second(a=2, b=2)
    with pytest.raises(ValueError, match=r"^b='x': 'x' is not a whole number$"):
        Second(a=6, b="x")


@st.composite
def settings(draw):
    """Some settings, some left to their defaults."""
    values = {
        "yes": st.booleans(),
        "perhaps": st.none() | st.booleans(),
        "count": st.integers(1, 9),
        "share": st.floats(0, 1, exclude_min=True, exclude_max=True),
        "texts": st.lists(st.text("aä", max_size=3)),
        "table": st.none() | st.dictionaries(st.text("aä"), st.integers(0, 2**127)),
    }
    names = draw(st.sets(st.sampled_from(sorted(values))))
    return {name: draw(values[name]) for name in sorted(names)}


@given(settings())
def test_what_is_dumped_makes_the_same_again(given):
    """All of it, what was given, or what is not the default; through a pickle, too."""
    made = Plain(**given, read=None)
    again = [made.model_dump(), json.loads(made.model_dump_json()), made.model_dump(exclude_unset=True)]
    again += [{"read": None, **made.model_dump(exclude_defaults=True)}]
    assert [made] * 4 == [Plain(**dumped) for dumped in again]
    assert {*given, "read"} == set(made.model_dump(exclude_unset=True)) == set(made.model_fields_set)
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):  # noqa: S301
        assert (made, set(made.model_fields_set)) == (other, set(other.model_fields_set))


def test_equal_settings_are_one_key():
    """However they came about; of another class they are another one."""
    assert First(a=0) == First()
    assert {First(): 1}[First(a=0)] == 1
    assert First(a=1) != First()
    assert Second(a=2) != First(a=2)


def test_a_text_of_settings_is_the_same_for_equal_ones():
    """Fractions as numbers where one says them exactly, letters as they are."""
    assert '{"a":1,"b":0}' == Second().model_dump_json()
    text = Plain(texts=["ä"], read="2/3").model_dump_json()
    assert text.endswith('"bit":0,"path":null,"texts":["ä"],"table":null,"read":"1/3"}')
    assert "Second(a=2)" == repr(Second(a=2))


def test_settings_can_be_made_a_dict() -> None:
    """In their order."""
    recipe = MinHash(num_perm=64)
    assert dict(recipe) == {name: getattr(recipe, name) for name in type(recipe).model_fields}
