"""The recipe of an output as a typed object: what cannot be the recipe of a run is reported, field by field.

1. A recipe is what its method says of itself, made again from its own settings: an unknown field, a missing one or one
   of another type makes a difference.
2. What is said twice (in the recipe and beside the sources) must be the same.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nearsame.errors import ConfigError
from nearsame.proofs.decided import decision_problems
from nearsame.proofs.files import FORMS
from nearsame.proofs.learnt import is_learnt, rule_problems
from nearsame.proofs.priority import policies_of
from nearsame.recipes.methods import METHODS, Method
from nearsame.recipes.urls import CanonicalUrl

__all__ = ["TEXTLESS", "about_problems", "method_of", "orders_of", "recipe_problems"]

_LAYERS = ("index", "url", "url-guess", "redirect", "canonical", "revisit", "digest", "text")
TEXTLESS = ("redirect", "revisit")  # layers about records without a text
_BESIDE = ["redirect", "canonical", "revisit_of", "payload_digest"]
_PAGES = ("html_column", "extract", "max_document")
_MAX_DOCUMENT, _MAX_RECORD = 10 << 20, 64 << 20
_ALWAYS = ("keep", "within", "clusters", "ties", "order_column")
_TEXTS = "a list of texts"

_COLUMNS = {
    "text": "a text or null", "id": "a text or null", "order": "a text, a list of texts or null",
    "items": "a text or null", "vectors": "a text or null", "beside": _TEXTS, "html": "a text or null",
    "extract": "a text", "max_document": "a number", "asked_of_pages": _TEXTS, "max_record": "a number",
    "bare": "true or false",
}  # fmt: skip
# Only said where they are asked for.
_NEW = dict.fromkeys(("against_text", "against_id", "encoding", "codes"), "a text")
_NEW |= {"bits": "a number", "decimal": "true or false"}
# Likewise, and what older outputs do not have.
_ABOUT = {"encodings": "encodings", "call": "an object", "tags": "an object"}
_WRITTEN = dict.fromkeys(("annotate", "drop_unreadable", "copy_files", "pairs"), "true or false")

_SELDOM = ("revisits", "mask")  # only said where it is so


def _is(value: Any, kind: str) -> bool:  # noqa: PLR0911  (a table)
    match kind:
        case "a text":
            return isinstance(value, str)
        case "a text or null":
            return value is None or isinstance(value, str)
        case "a text, a list of texts or null":
            return value is None or isinstance(value, str) or _is(value, _TEXTS)
        case "a number":
            return isinstance(value, int) and not isinstance(value, bool) and value > 0
        case "true or false":
            return isinstance(value, bool)
        case "an object":
            return isinstance(value, dict)
        case "encodings":
            return isinstance(value, dict) and all(map(_is_encoding, value.values()))
        case "a count":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_encoding(name: Any) -> bool:
    try:
        return isinstance(name, str) and bool("".encode(name) or True)
    except (LookupError, UnicodeError, ValueError):
        return False


def _typed(record: Any, fields: Mapping[str, str], what: str) -> Iterator[str]:
    """What is wrong with a record of typed fields."""
    if not isinstance(record, dict):
        yield f"it does not say {what}"
        return
    for name in sorted({*record, *fields}):
        if name not in fields:
            yield f"{what}.{name} is unknown"
        elif name not in record:
            yield f"{what}.{name} is missing"
        elif not _is(record[name], fields[name]):
            yield f"{what}.{name}={record[name]!r} is not {fields[name]}"


def about_problems(about: Any) -> Iterator[str]:
    """What is wrong with what an output says besides the list of its sources."""
    others = {name: kind for name, kind in _ABOUT.items() if isinstance(about, dict) and name in about}
    yield from _typed(about, {"columns": "an object", "written": "an object", "ignored": "a count", **others}, "it")
    if isinstance(about, dict):
        written = about.get("written")
        more = {*_SELDOM}.intersection(written) if isinstance(written, dict) else ()
        yield from _typed(written, {**_WRITTEN, **dict.fromkeys(more, "true or false")}, "written")
        yield from _columns_problems(about.get("columns"))


def _columns_problems(columns: Any) -> Iterator[str]:
    """What is wrong with what an output says of the columns that were read."""
    others = {name: kind for name, kind in _NEW.items() if isinstance(columns, dict) and name in columns}
    wrong = list(_typed(columns, _COLUMNS | others, "columns"))
    yield from wrong
    if wrong:
        return
    if columns["beside"][1:] != _BESIDE:
        yield f"columns.beside={columns['beside']!r} is not a column of URLs and {', '.join(_BESIDE)}"
    if sum(columns.get(name) is not None for name in ("text", "items", "vectors", "codes", "html")) > 1:
        yield "columns name more than one of text, items, vectors, codes and html"
    if not set(columns["asked_of_pages"]) <= {"extract", "max_document"}:
        yield f"columns.asked_of_pages={columns['asked_of_pages']!r} names settings that pages do not have"


def orders_of(columns: Mapping[str, Any]) -> list[str]:
    """The columns that --keep goes by; an older output has one or none."""
    order = columns["order"]
    return order if isinstance(order, list) else [] if order is None else [order]


def method_of(recipe: Mapping[str, Any]) -> Method:
    """The method of a recipe: what is as usual is left unsaid, since nobody need have given it.

    Raises:
        ConfigError: There is none, or not with these settings.
    """
    kind = METHODS.get(recipe["method"]) if isinstance(recipe.get("method"), str) else None
    if kind is None:
        raise ConfigError(f"method={recipe.get('method')!r} is not one of {', '.join(METHODS)}")
    usual = kind().model_dump()
    said = [name for name in kind.model_fields if name in recipe and not _same(recipe[name], usual[name])]
    return kind(**{name: recipe[name] for name in said})


def recipe_problems(
    recipe: Any, columns: Mapping[str, Any], formats: Sequence[str], *, has_against: bool
) -> Iterator[str]:
    """What is wrong with a recipe.

    Args:
        recipe: As it was read.
        columns: What was read of the sources, which has no problems of its own.
        formats: Of the sources.
        has_against: Whether some of them are the other side.
    """
    if not isinstance(recipe, dict):
        yield "recipe is not an object"
        return
    try:
        method = method_of(recipe)
    except (ConfigError, ValueError, TypeError, OverflowError) as error:
        yield f"recipe: {str(error).splitlines()[0]}"
        return
    record = json.loads(json.dumps(method.record()))
    for name, value in record.items():
        if name not in recipe:
            yield f"recipe.{name} is missing"
        elif json.dumps(recipe[name], sort_keys=True) != json.dumps(value, sort_keys=True):
            yield f"recipe.{name}={recipe[name]!r} is not as it is written: {value!r}"
    yield from _method_problems(method, columns)
    settings = {name: value for name, value in recipe.items() if name not in record}
    yield from _setting_problems(settings, method, columns, formats, has_against=has_against)


def _method_problems(method: Method, columns: Mapping[str, Any]) -> Iterator[str]:
    if method.of_vectors != (columns["vectors"] is not None):
        yield f"recipe.method={method.name!r} and columns.vectors={columns['vectors']!r} contradict each other"
    said = {name: columns[name] for name in ("bits", "decimal") if name in columns}
    known = {name: method.get(name) for name in ("bits", "decimal")} if method.of_codes else {}
    if method.of_codes != ("codes" in columns) or said != known:
        yield f"recipe.method={method.name!r} and columns.codes={columns.get('codes')!r} contradict each other"
    if columns["items"] is not None and not method.takes_items:
        yield f"recipe.method={method.name!r} and columns.items={columns['items']!r} contradict each other"


def _setting_problems(
    settings: Mapping[str, Any],
    method: Method,
    columns: Mapping[str, Any],
    formats: Sequence[str],
    *,
    has_against: bool,
) -> Iterator[str]:
    known = [*_ALWAYS, *_page_settings(columns, formats)]
    known += [name for name in ("use", "urls") if name in settings or "use" in settings]
    known += [name for name in ("decisions", "group_by") if name in settings]
    known += ["indexes"] if "indexes" in settings or "index" in _list(settings.get("use")) else []
    known += ["guesses"] if "guesses" in settings or "url-guess" in _list(settings.get("use")) else []
    if columns["max_record"] != _MAX_RECORD:
        known.append("max_record")
    for name in sorted({*settings, *known}):
        if name not in known:
            yield f"recipe.{name} is unknown"
        elif name not in settings:
            yield f"recipe.{name} is missing"
    checks: dict[str, Callable[[Any], Any]] = {
        "keep": policies_of,
        "within": lambda value: isinstance(value, bool) and (has_against if not value else not method.across_only),
        "clusters": lambda value: value in (["greedy"] if method.has_direction else ["greedy", "components"]),
        "ties": lambda value: value in ("content", *(("reading",) if settings.get("order_column") is None else ())),
        "order_column": lambda value: value is None or isinstance(value, str),
        "use": lambda value: value and value == _layers(_list(value), settings.get("urls")),
        "guesses": _is_guess_recipe,
        "indexes": lambda value: has_against and "index" in _list(settings.get("use")) and _are_indexes(value),
        "group_by": lambda value: isinstance(value, str),
        "decisions": lambda value: not decision_problems(value) and "indexes" not in settings,
        "max_record": lambda value: _same(value, columns["max_record"]),
        "html_column": lambda value: value == columns["html"],
        "extract": lambda value: value == columns["extract"] and value in ("main", "text", "none", "trafilatura"),
        "max_document": lambda value: _same(value, columns["max_document"]),
    }  # fmt: skip
    bad = [name for name in checks if name in known and name in settings and not checks[name](settings[name])]
    yield from (f"recipe.{name}={settings[name]!r} is impossible, or contradicts the rest" for name in bad)
    if "urls" in settings and "urls" in known:
        yield from _url_problems(settings["urls"])
    if not bad and all(name in settings for name in _ALWAYS):
        yield from _column_problems(settings, columns)


def _column_problems(settings: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[str]:
    """What the recipe and the columns that were read say of each other."""
    by = [column for _, column in policies_of(settings["keep"]) if column is not None]
    by += [settings["order_column"]] if settings["order_column"] is not None else []
    by += [name for name in (settings.get("group_by"),) if name not in (None, "host")]
    if orders_of(columns) != list(dict.fromkeys(by)):
        yield f"columns.order={columns['order']!r} is not what the recipe goes by"
    if columns["bare"] != any(name in settings.get("use", ()) for name in TEXTLESS):
        yield f"columns.bare={columns['bare']!r} does not fit recipe.use"
    if "extract" not in settings and (columns["extract"], columns["max_document"]) != ("main", _MAX_DOCUMENT):
        yield "columns say how to read web pages, but there are no web pages"


def _page_settings(columns: Mapping[str, Any], formats: Sequence[str]) -> tuple[str, ...]:
    if any(columns.get(name) is not None for name in ("items", "vectors", "codes")):
        return ()
    return _PAGES if columns["html"] is not None or any(FORMS[name].reads is None for name in formats) else ()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _layers(use: list[Any], urls: Any) -> list[str]:
    """The layers of `use`, in their order, with guesses behind URLs where the rules have any."""
    try:
        guesses = urls.get("method") != CanonicalUrl.name or _url_recipe(urls).guesses  # learnt rules have none
    except (AttributeError, ConfigError, TypeError):
        return []
    return [name for name in _LAYERS if name in use or (name == "url-guess" and guesses and "url" in use)]


def _are_indexes(value: Any) -> bool:
    """Whether it says of each index that was asked what it is, and by which methods it answers."""
    return bool(value) and all(
        isinstance(one, dict)
        and one.keys() == {"name", "documents", "store", "methods"}
        and all(_is(one[name], kind) for name, kind in (("name", "a text"), ("documents", "a count")))
        and one["store"] in ("shingles", "sketch")
        and isinstance(one["methods"], list)
        and all(isinstance(method, dict) and _is(method.get("method"), "a text") for method in one["methods"])
        for one in _list(value)
    )


def _is_guess_recipe(recipe: Any) -> bool:
    """Whether it is that of what compares texts whose URLs are one by a guess."""
    if not isinstance(recipe, dict) or recipe.get("method") not in ("jaccard", "digest"):
        return False
    try:
        record = method_of(recipe).record()
    except (ConfigError, ValueError, TypeError, OverflowError):
        return False
    return _same(recipe, json.loads(json.dumps(record))) and recipe.get("drop_boilerplate") is None


def _url_recipe(recipe: Mapping[str, Any]) -> CanonicalUrl:
    return CanonicalUrl(**{name: value for name, value in recipe.items() if name != "method"})


def _url_problems(recipe: Any) -> Iterator[str]:
    """What is wrong with what made URLs one: a recipe, learnt rules, or something that a caller wrote."""
    if not isinstance(recipe, dict):
        yield "recipe.urls is not an object"
    elif recipe.get("method") == CanonicalUrl.name or not {"format", "rules"} & recipe.keys():
        if not _is_url_recipe(recipe):
            yield f"recipe.urls={recipe!r} is impossible, or contradicts the rest"
    elif is_learnt(recipe):
        yield from (f"recipe.urls.{problem}" for problem in rule_problems(recipe))
        if not _is_url_recipe(recipe.get("recipe")):
            yield "recipe.urls.recipe is not one of canonical URLs"


def _is_url_recipe(recipe: Any) -> bool:
    if not isinstance(recipe, dict) or recipe.get("method") != CanonicalUrl.name:
        return False
    try:
        record = _url_recipe(recipe).record()
    except (ConfigError, TypeError):
        return False
    return _same(recipe, json.loads(json.dumps(record)))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same to JSON, which tells 1 from true and from 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
