"""What an index is made by, its methods and what it stores: written down in it, and held against whoever opens it."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from nearsame.answers.matches import FOUND_BY
from nearsame.errors import ConfigError, IndexMismatchError
from nearsame.index.facet import Facet, Facets, IndexMethod
from nearsame.index.facets import facet_of
from nearsame.recipes.base import TOKENISER, UNICODE_VERSION
from nearsame.recipes.choices import INDEX_METHODS, STORES, IndexMethodName, StoreKind, word_of
from nearsame.recipes.methods import Digest, MinHash, Recipe, SimHash, by_name
from nearsame.recipes.urls import CanonicalUrl

__all__ = [
    "facets_of",
    "is_current",
    "read_recipe",
    "require_same",
    "shown_recipes",
    "updated",
    "written",
]

_DEFAULT = ("minhash", "digest")
_BY_NAME: dict[IndexMethodName, Callable[[], tuple[IndexMethod, ...]]] = {
    "minhash": lambda: (MinHash(),),
    "simhash": lambda: (SimHash(),),
    "digest": lambda: (Digest(), Digest(normalise=True)),
    "url": lambda: (CanonicalUrl(),),
}
_OTHERWISE = "create it again from its source, or use the version that made it."
_MIGRATE = f"Run `nearsame index migrate`, if it stores texts; or {_OTHERWISE}"
_VERSIONS = {"tokeniser": ("the tokeniser", TOKENISER), "unicode": ("the Unicode tables", UNICODE_VERSION)}


def facets_of(method: Any, store: StoreKind) -> Facets:
    """The facets of methods as a caller names them.

    Raises:
        ConfigError: An index cannot have them.
    """
    given = _DEFAULT if method is None else tuple(method) if isinstance(method, (list, tuple, set)) else (method,)
    facets: dict[str, Facet] = {}
    for wanted in given:
        for recipe in _recipes(wanted):
            facet = facet_of(recipe, store)
            if facet.name in facets:
                raise ConfigError(f"method={facet.name} is given twice", hint="Give each method once.")
            facets[facet.name] = facet
    if not facets:
        raise ConfigError("an index needs a method", hint=f"Choose from {', '.join(INDEX_METHODS)}.")
    return Facets(facets[name] for name in FOUND_BY if name in facets)  # in this order, whatever the caller's


def _recipes(method: Any) -> tuple[IndexMethod, ...]:
    if type(method) in get_args(IndexMethod):
        return (method,)
    name = getattr(method, "name", method)
    if name not in INDEX_METHODS or name is not method:
        raise ConfigError(
            f"method={name!r} is not one of {', '.join(INDEX_METHODS)}", hint="An index has these methods."
        )
    return _BY_NAME[name]()


def written(facets: Facets, store: StoreKind, columns: Sequence[str] = ()) -> dict[str, str]:
    """What is written down."""
    settings = {"store": store, "methods": json.dumps([facet.recipe.record() for facet in facets])}
    return settings | ({"columns": json.dumps(columns)} if columns else {})


def read_recipe(settings: Mapping[str, str], where: str) -> tuple[Facets, StoreKind]:
    """(facets, store) as they were written down."""
    records = _recorded(settings, where)
    facets, store = _read(settings, where, records)
    ours = [facet.recipe.record() for facet in facets]
    if ours != records:
        named = zip(ours, records, strict=True)
        other = [f"{o['method']} {name}" for o, r in named for name in o | r if o.get(name) != r.get(name)]
        message = f"{where} was made by a recipe that this version reads differently: {', '.join(other)}"
        raise IndexMismatchError(message, hint=_MIGRATE)
    return facets, store


def is_current(settings: Mapping[str, str], where: str) -> bool:
    """Whether this version reads an index as the one that made it."""
    try:
        read_recipe(settings, where)
    except IndexMismatchError:
        return False
    return True


def updated(settings: Mapping[str, str], where: str) -> tuple[Facets, StoreKind]:
    """(facets, store) with the versions of this one, and its usual settings where there were none."""
    records = _recorded(settings, where)
    ours = {name: version for name, (_, version) in _VERSIONS.items()}
    newer = [{**record, **{name: ours[name] for name in ours if name in record}} for record in records]
    return _read(settings, where, newer)


def shown_recipes(facets: Facets, store: StoreKind) -> str:
    """Methods, with those of their settings that are not the usual ones, as people read them."""
    shown = []
    for recipe in (facet.recipe for facet in facets):
        usual = type(recipe)().record()
        other = [f"{name}={value}" for name, value in recipe.record().items() if usual[name] != value]
        shown.append(recipe.name + (f" ({', '.join(other)})" if other else ""))
    return f"store={store} and {', '.join(shown)}"


def _recorded(settings: Mapping[str, str], where: str) -> list[dict[str, Any]]:
    """What was written down of the methods."""
    try:
        records = json.loads(settings["methods"])
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise _unreadable(where, error) from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise _unreadable(where, TypeError("its methods are not a list"))
    return records


def _read(settings: Mapping[str, str], where: str, records: Sequence[dict[str, Any]]) -> tuple[Facets, StoreKind]:
    _require_versions(records, where)
    try:
        store = word_of(settings["store"], STORES)
        if store is None:
            raise ValueError(f"store={settings['store']!r}")  # noqa: TRY301  (as what else cannot be read)
        facets = facets_of([_recipe(dict(record)) for record in records], store)
    except (ConfigError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(where, error) from None
    return facets, store


def _unreadable(where: str, error: Exception) -> IndexMismatchError:
    what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else error
    return IndexMismatchError(
        f"{where} was made by a recipe that this version cannot read: {what}", hint=_OTHERWISE.capitalize()
    )


def _require_versions(records: Sequence[Mapping[str, Any]], where: str) -> None:
    """Refuse what was hashed by another version: it would be compared without being alike."""
    for record in records:
        for name, (what, ours) in _VERSIONS.items():
            version = record.get(name, ours)
            if version != ours:
                message = f"{where} was made with version {version} of {what}, and this version of nearsame has {ours}"
                raise IndexMismatchError(message, hint=_MIGRATE)


def _recipe(record: dict[str, Any]) -> Recipe:
    """A recipe as it was written down."""
    name = record.pop("method")
    given = {key: value for key, value in record.items() if value is not None}
    if name == CanonicalUrl.name:
        return CanonicalUrl(**given)
    if given.get("bands") is not None:
        given.pop("recall", None)
    return by_name(name, **given)


def require_same(facets: Facets, expected: Any, store: StoreKind, where: str) -> None:
    """Refuse an index that was made by other methods than expected; the settings that differ are named."""
    wanted = facets_of(expected, store)
    ours, theirs = ({facet.name: facet.recipe.record() for facet in side} for side in (facets, wanted))
    differing = [f"{name}: in the index, not expected" for name in ours if name not in theirs]
    differing += [f"{name}: expected, not in the index" for name in theirs if name not in ours]
    for name, one in ours.items():
        other = theirs.get(name, one)
        fields = [field for field in one | other if one.get(field) != other.get(field)]
        differing += [f"{name} {field}={one.get(field)!r}, expected {other.get(field)!r}" for field in fields]
    if differing:
        message = f"{where} was made by another recipe: {'; '.join(differing)}"
        raise IndexMismatchError(message, hint="Open it without naming a recipe, or create another index.")
