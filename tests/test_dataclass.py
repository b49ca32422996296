"""Classes of data whose methods are written at their first use are those of `dataclasses` in all else."""

import copy
import dataclasses
import inspect
import pickle
import threading
from dataclasses import FrozenInstanceError, field

import pytest

import nearsame.dataclass

MAKERS = {"python": dataclasses.dataclass, "ours": nearsame.dataclass.dataclass}


@nearsame.dataclass.dataclass(frozen=True)
class Kept:
    """One that a pickle can name."""

    a: int
    b: list[int] = field(default_factory=list, hash=False)


def classes(make):
    """Some classes of data, made by `make`, by name."""

    @make
    class Plain:
        """No argument."""

        a: int
        b: str = "b"

    @make(frozen=True)
    class Frozen:
        """Defaults of several kinds."""

        a: int
        b: tuple[int, ...] = (1,)
        c: list[int] = field(default_factory=list, hash=False, compare=False)
        d: int = field(default=4, repr=False)
        e: int = field(default=5, init=False)

        constant = 7

    @make(frozen=True)
    class Derived(Frozen):
        """More fields, and a method that follows the making."""

        f: str = "f"

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError("a is negative")

    @make(frozen=True, eq=False)
    class Apart(Frozen):
        """Equal to nothing but itself, or to what its base says."""

        g: int = 0

    @make(frozen=True)
    class Own:
        """Methods of its own stay."""

        a: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 3

    @make(eq=False)
    class Changed:
        """Not frozen, and no equality."""

        a: int = 0

    @make(frozen=True, slots=True)
    class Slots:
        """No dictionary."""

        a: int
        b: int = 2

    return {each.__name__: each for each in (Plain, Frozen, Derived, Apart, Own, Changed, Slots)}


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
        lambda kind: kind(1), lambda kind: kind(), lambda kind: kind(-1), lambda kind: kind(1, nonsense=2),
        lambda kind: kind(1, 2, 3, 4, 5, 6, 7), lambda kind: kind(a=2), lambda kind: (kind(1) == kind(1), kind(1) == 1),
        lambda kind: (kind(1) == kind(2), kind(1) != kind(1)), lambda kind: len({kind(1), kind(1)}),
        lambda kind: {kind(1): 2}.get(kind(1)),
        inspect.signature, lambda kind: kind.__init__.__qualname__, lambda kind: kind.__match_args__,
        lambda kind: [(each.name, each.default, each.type) for each in dataclasses.fields(kind)],
        lambda kind: dataclasses.asdict(kind(1)), lambda kind: dataclasses.replace(kind(1), a=5),
        lambda kind: dataclasses.replace(kind(1), nonsense=5), lambda kind: copy.deepcopy(kind(3)),
        lambda kind: setattr(kind(1), "a", 2), lambda kind: setattr(kind(1), "other", 2),
        lambda kind: delattr(kind(1), "a"), lambda kind: kind.c, lambda kind: kind.b, lambda kind: kind.constant,
        dataclasses.is_dataclass, lambda kind: kind.__hash__ is None, lambda kind: vars(kind(1)),
    ],
)  # fmt: skip
def test_it_does_what_pythons_own_does(name, ask):
    """Values, errors and their words, whichever method is asked for first."""
    fresh = classes(MAKERS["ours"])[name]
    assert said(lambda: ask(PYTHONS[name])) == said(lambda: ask(fresh)) == said(lambda: ask(OURS[name]))


@pytest.mark.parametrize("name", OURS)
def test_fields_with_no_default_are_where_pythons_are(name):
    """Also of a base; a name that is none of the fields is refused by both, in a frozen one."""
    assert [each.name for each in dataclasses.fields(PYTHONS[name])] == [
        each.name for each in dataclasses.fields(OURS[name])
    ]


def test_what_comes_from_a_pickle_needs_no_making():
    """Then `__init__` is never called, and the other methods are there."""
    made = Kept(1, [2])
    assert made == pickle.loads(pickle.dumps(made))  # noqa: S301
    assert {made} == {pickle.loads(pickle.dumps(made))}  # noqa: S301
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        made.a = 2
    assert "Kept(a=1, b=[2])" == repr(made)


@pytest.mark.parametrize(
    ("ask", "is_written"),
    [
        (lambda kind: kind(1), False),
        (lambda kind: [kind(1), kind(2), repr(kind(1)), kind(1) == kind(1)], False),
        (lambda kind: [kind(1) for _ in range(101)], True),
        (lambda kind: said(lambda: kind(1, nonsense=2)), True),
        (inspect.signature, True),
    ],
    ids=["one", "some", "many", "wrongly", "asked"],
)
def test_pythons_init_is_written_where_it_pays(ask, is_written):
    """And stands in its own place from then on."""
    kind = classes(MAKERS["ours"])["Plain"]
    ask(kind)
    written = vars(kind)["__init__"]
    kind(2)
    assert (is_written, True) == (inspect.isfunction(written), written is vars(kind)["__init__"])


def test_the_many_are_made_as_the_few():
    """Whichever `__init__` makes them."""
    kind = classes(MAKERS["ours"])["Derived"]
    made = [kind(number % 2, c=[number], f="g") for number in range(300)]
    assert inspect.isfunction(vars(kind)["__init__"])
    assert [vars(each) for each in made] == [vars(PYTHONS["Derived"](n % 2, c=[n], f="g")) for n in range(300)]


def test_threads_may_be_the_first_together():
    """Each gets what it asked for."""
    made, starting = [], threading.Barrier(8)
    kinds = [classes(MAKERS["ours"])["Derived"] for _ in range(30)]

    def work(number):
        starting.wait()
        made.extend((kind(number), hash(kind(number))) for kind in kinds)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [8 * 30] + [30] * 8 == [len(made), *(sum(each.a == number for each, _ in made) for number in range(8))]
