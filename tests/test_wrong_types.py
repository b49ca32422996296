"""Every public function and method, given what its parameters cannot be: an error of ours, or an answer."""

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns

WRONG: tuple[Any, ...] = (
    *(None, True, 3, -1, 1.5, math.nan, "\0", "nonsense", b"", object(), lambda: 0),
    *([], {}, [None], {"a": 1}, ("\0",)),
    *(10**400, Fraction(10**400, 3), pa.scalar(1)),
    *(1 << 31, 1 << 63, (1 << 128) - 1, "\ud800", ["\ud800"], "1e9999999999", "x" * 10_000),
)
TEXTS = ["a rose is a rose is a rose", "a rose is a rose is a rose", "a daisy"]
URL = "http://example.org/a?x=1"
PAGES = pa.table({"url": [URL, "http://example.org/a?x=2"], "text": TEXTS[:2]})
_FRESH = iter(range(10**9))
_GIVEN: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("a", "b", "text", "documents"), lambda: TEXTS[0]),
    **dict.fromkeys(("id", "ids", "id_a", "id_b"), lambda: "rose"),
    "directory": lambda: f"folder-{next(_FRESH)}",
    "path": lambda: f"file-{next(_FRESH)}.jsonl",
    "source": lambda: TEXTS,
    "threshold": lambda: 0.9,
    "url": lambda: URL,
    "where": lambda: f"index-{next(_FRESH)}.ns",
}
_OWN: dict[str, Callable[[], dict[str, Any]]] = {  # what a call needs beside, or in the place of, what is usual
    "Index.open": lambda: {"where": "seen.ns", "read_only": True},
    "UrlRules.load": lambda: {"path": "rules.json"},
    "evaluate": lambda: {"methods": ["jaccard"], "apart": False},
    "leaks": lambda: {"train": TEXTS, "evals": [{"question": TEXTS[0]}]},
    "learn_urls": lambda: {"source": PAGES},
    "mirrors": lambda: {"source": PAGES},
    "rerun": lambda: {"output": "clean"},
    "verify": lambda: {"directory": "clean"},
}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """One of each object that a call gives, and the files that others need."""
    home = tmp_path_factory.mktemp("wrong")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        (home / "a.csv").write_text("id,text\n1,a b c d e f\n")
        ns.dedup("a.csv").write("clean")
        evaluation = ns.evaluate(TEXTS, methods=["jaccard"], apart=False)
        rules = ns.learn_urls(PAGES)
        rules.save("rules.json")
        with ns.Index.create("seen.ns", store="text") as index:
            index.add({"id": "rose", "text": TEXTS[0], "url": URL})
            yield SimpleNamespace(
                Result=ns.dedup(TEXTS), Pairs=ns.pairs(TEXTS), Mirrors=ns.mirrors(PAGES), UrlRules=rules,
                Urls=ns.urls([URL]), Index=index, Evaluation=evaluation, Leaks=ns.leaks(TEXTS, [{"q": TEXTS[0]}]),
                Client=ns.Client("http://127.0.0.1:9"),  # where nobody listens
            )  # fmt: skip


def _callables() -> Iterator[str]:
    """All that can be called with something: `dedup`, `Index.add`, the making of a recipe."""
    for name in ns.__all__:
        thing = getattr(ns, name)
        if inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, Exception)):
            yield name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member in sorted(dir(thing)):
                found = inspect.getattr_static(thing, member)
                of_ours = getattr(getattr(found, "__func__", found), "__module__", "") or ""
                if member.startswith("_") or not of_ours.startswith("nearsame"):
                    continue
                if isinstance(found, classmethod) or (inspect.isfunction(found) and len(_parameters(found)) > 1):
                    yield f"{name}.{member}"


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: each for name, each in inspect.signature(function).parameters.items() if each.kind not in variable}


@pytest.mark.parametrize("name", list(_callables()))
def test_a_wrong_value_is_an_error_of_ours(name: str, held: SimpleNamespace) -> None:
    """Each parameter in turn has each wrong value; Python's own TypeError is for what is missing or unknown."""
    function = _found(name, held)
    known = _parameters(function)
    needed = [each.name for each in known.values() if each.default is each.empty]
    raw = []
    for parameter in known:
        for value in WRONG:
            usual = {each: _GIVEN[each]() for each in needed if each in _GIVEN}
            try:
                _use(function(**{**usual, **_OWN.get(name, dict)(), parameter: value}))
            except ns.NearSameError:
                continue
            except TypeError as error:
                if "required" not in str(error):
                    raw.append((parameter, value, error))
            except Exception as error:  # noqa: BLE001  (whatever it is, it is what this looks for)
                raw.append((parameter, value, error))
    assert [] == raw


def _found(name: str, held: SimpleNamespace) -> Any:
    owner, _, member = name.partition(".")
    thing = getattr(ns, owner)
    if member and not isinstance(inspect.getattr_static(thing, member), classmethod):
        thing = vars(held)[owner] if owner in vars(held) else thing()
    return getattr(thing, member) if member else thing


def _use(answer: Any) -> None:
    """Read what is only made when it is read, and let go of it."""
    if isinstance(answer, Iterator):
        list(answer)
    if isinstance(answer, AbstractContextManager):
        with answer:
            pass


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        ({"threads": "2"}, "threads must be a whole number, got '2'", "Give a whole number, or leave it out."),
        ({"workdir": 3}, "workdir must be a path, got 3", "Give a path, or leave it out."),
        (
            {"workdir": "a\0"},
            "workdir='a\\x00' has a NUL, which no path can have",
            "Give the path of a file or folder.",
        ),
        ({"use": [3]}, "use must be a string or a list of strings, got [3]", "Give a string or a list of strings"),
        (
            {"text_column": "x" * 999, "id_column": b"y" * 999},
            f"id_column must be a string, got b'{'y' * 198}…",
            "Give a string",
        ),
    ],
    ids=str,
)
def test_the_message_has_the_value_and_the_hint_what_is_wanted(wrong: Any, message: str, hint: str) -> None:
    """A long value is cut."""
    with pytest.raises(ns.ConfigError) as caught:
        ns.dedup(TEXTS, **wrong)
    assert caught.value.message.startswith(message)
    assert caught.value.hint.startswith(hint)


def test_numbers_of_other_libraries_are_numbers() -> None:
    """A whole number of NumPy, and a fraction where a number is wanted."""
    assert 1 == ns.dedup(TEXTS, threads=np.int64(1), require_recall=None).stats.removed
    assert 3 == ns.plan_simhash(k=np.int32(3), threshold=Fraction(4, 5)).k


def test_what_is_missing_or_unknown_is_pythons_own_error() -> None:
    """In Python's words."""
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        ns.compare("a")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        ns.surt("a", nonsense=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("path", ["\ud800", "a/\ud800.csv"])
def test_half_of_a_surrogate_pair_is_no_path(path: str) -> None:
    """Of an output as of a file that is named."""
    for asked in (lambda: ns.dedup(TEXTS).write(path), lambda: ns.dedup(TEXTS, workdir=path)):
        with pytest.raises(ns.ConfigError, match="has half of a surrogate pair, which no path can have"):
            asked()


def test_what_can_be_read_once_is_looked_into() -> None:
    """Lists of lists are taken from any iterable, and their texts are texts all the same."""
    for wrong in (iter([1]), [iter([1])], iter(["ab"])):
        with pytest.raises(ns.ConfigError, match="must be a list of lists of strings"):
            ns.compare("a", "b", clusters=wrong)
    compared = ns.compare("a", "b", clusters=iter([iter(["a", "b"])]))
    assert 1 == next(each.similarity for each in compared.measures if each.name == "clusters")


def test_no_setting_of_a_recipe_is_made_of_another_type() -> None:
    """Bytes are no number, and True is not 1; a text says one, as on the command line."""
    recipes = (ns.Jaccard, ns.Cosine, ns.Containment, ns.MinHash, ns.ModP, ns.SimHash, ns.Digest, ns.Hyperplane)
    for recipe in recipes:
        for name, field in recipe.model_fields.items():
            kinds = {*get_args(field.annotation)} or {field.annotation}
            if kinds <= {int, float, bool, type(None)}:
                for wrong in (b"1", 10**5000, *((1, 0) if bool in kinds else (True, False))):
                    with pytest.raises(ns.ConfigError, match=rf"{name}=.* is not"):
                        recipe(**{name: wrong})
    assert [3, 3] == [ns.Jaccard(shingle_size=size).shingle_size for size in (np.int64(3), "3")]


def test_a_number_that_cannot_be_written_is_refused() -> None:
    """Python itself writes no number of more than 4300 digits."""
    with pytest.raises(ns.ConfigError, match="threads=<int> is too large a number"):
        ns.dedup(TEXTS, threads=10**5000)
