"""Tuples with names are those of `typing` in all but how long their class takes."""

import copy
import inspect
import pickle
import typing

import pytest

import nearsame.named

MAKERS = {"python": typing.NamedTuple, "ours": nearsame.named.NamedTuple}


class Kept(nearsame.named.NamedTuple):
    """One that a pickle can name."""

    a: int
    b: str = "b"


def classes(maker):
    """Some classes of tuples, made by `maker`, by name."""

    class Plain(maker):
        """Two fields."""

        a: int
        b: str

    class Defaults(maker):
        """Some may be left out."""

        a: int
        b: "tuple[int, ...]" = (1,)
        c: str = "c"

        @property
        def both(self):
            """A method of its own."""
            return self.a, self.b

        def __str__(self):
            return f"<{self.a}>"

    class Empty(maker):
        """None."""

    class Derived(Defaults):
        """A class below one."""

        __slots__ = ()

        def twice(self):
            """What `super` finds."""
            return 2 * super().__len__()

    return {each.__name__: each for each in (Plain, Defaults, Empty, Derived)}


OURS, PYTHONS = (classes(MAKERS[name]) for name in ("ours", "python"))


def said(function):
    """What a call gives or raises, as a text without the place in memory."""
    try:
        return repr(function())
    except (AttributeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(
    "ask",
    [
        lambda kind: kind(1, 2), lambda kind: kind(), lambda kind: kind(1), lambda kind: kind(a=1, b=2),
        lambda kind: kind(b=2, a=1), lambda kind: kind(1, b=3), lambda kind: kind(1, a=2),
        lambda kind: kind(1, nonsense=2),
        lambda kind: kind(1, c=2), lambda kind: kind(1, 2, 3), lambda kind: kind(1, 2, 3, 4),
        lambda kind: kind(nonsense=1, b=2),
        lambda kind: (kind(1, 2) == kind(1, 2), kind(1, 2) == (1, 2), kind(1, 2) < kind(2, 1),
                      hash(kind(1, 2)) == hash((1, 2))),
        lambda kind: [*kind(1, 2)], lambda kind: kind(1, 2)[0], lambda kind: kind(1, 2).a, lambda kind: kind.a.__doc__,
        lambda kind: str(kind(1, 2)), lambda kind: kind(1, 2).both, lambda kind: kind(1, 2).twice(),
        lambda kind: setattr(kind(1, 2), "a", 3), lambda kind: setattr(kind(1, 2), "other", 3),
        lambda kind: kind(1, 2)._replace(b=4), lambda kind: kind(1, 2)._replace(nonsense=4),
        lambda kind: kind(1, 2)._asdict(), lambda kind: kind._make([1, 2]), lambda kind: kind._make([1]),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__, kind.__name__),
        lambda kind: [*kind.__annotations__], lambda kind: [*inspect.signature(kind).parameters],
        lambda kind: [each.default for each in inspect.signature(kind).parameters.values()],
        typing.get_type_hints, lambda kind: copy.deepcopy(kind(1, [2])), lambda kind: isinstance(kind(1, 2), tuple),
        lambda kind: vars(kind(1, 2)), lambda kind: kind(*range(len(kind._fields))).__getnewargs__(),
        lambda kind: kind(1, 2).__reduce_ex__(2)[1][1:],
    ],
)  # fmt: skip
def test_it_does_what_pythons_own_does(name, ask):
    """Values, errors and their words, however many were made before."""
    fresh, many = (classes(MAKERS["ours"])[name] for _ in range(2))
    for number in range(150):
        many(*[number] * len(many._fields))
    assert said(lambda: ask(PYTHONS[name])) == said(lambda: ask(fresh)) == said(lambda: ask(OURS[name]))
    assert said(lambda: ask(PYTHONS[name])) == said(lambda: ask(many))


@pytest.mark.parametrize("make", [lambda kind: kind(1), lambda kind: kind(a=1, c="d"), lambda kind: kind(1, (2,), "3")])
@pytest.mark.parametrize("name", ["Defaults", "Derived"])
def test_the_many_are_made_as_the_few(name, make):
    """Whichever `__new__` makes them."""
    kind = classes(MAKERS["ours"])[name]
    assert [make(PYTHONS[name])] * 300 == [make(kind) for _ in range(300)]


def test_what_comes_from_a_pickle_is_the_same():
    """Also where the class has not been used yet."""
    made = pickle.loads(pickle.dumps([Kept(1), Kept(2, "c")]))  # noqa: S301
    assert ([Kept(1, "b"), Kept(2, "c")], [Kept, Kept]) == (made, [*map(type, made)])


def test_a_pattern_takes_it_apart():
    """By its names and by its places."""
    match Kept(1, "x"):
        case Kept(a, b=b):
            assert (1, "x") == (a, b)
