"""stats.json as a typed object: what is not a number, text or list where one must be is reported, with its name."""

import json
import math
import types
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from nearsame.answers.stats import Component, Stats
from nearsame.proofs.files import BROKEN, first_line
from nearsame.proofs.verdict import Findings

__all__ = ["read_stats"]

_NAME = "stats.json"
_COMPILER = "numba"  # which need not be there, where kernels were compiled ahead
_PACKAGES = {"nearsame", _COMPILER, "numpy", "pyarrow", "xxhash"}
_SHARE = {"value": float, "low": float, "high": float, "num": int, "of": int}
_AUDIT = {
    "measure": str, "threshold": float, "of": str, "sampled": int, "with_partner": int,
    "recall": dict | None, "residual": dict | None, "precision": dict | None,
}  # fmt: skip
_BELOW = {"sampled": int, "stands_for": float, "bins": tuple[tuple[float, int], ...]}
_WIDTH = 1e-12  # within which two quotients are one


def read_stats(home: Path, findings: Findings) -> dict[str, Any] | None:
    """The statistics that are of their types; None where there are none, or none with a recipe."""
    path = home / _NAME
    if not path.is_file():
        findings.wrong(_NAME, "it is missing")
        return None
    try:
        stats = json.loads(path.read_bytes().decode(), parse_constant=_refuse, object_pairs_hook=_once)
    except (*BROKEN, RecursionError) as error:
        findings.wrong(_NAME, f"it cannot be read: {first_line(error)}")
        return None
    if not isinstance(stats, dict):
        findings.wrong(_NAME, "it is not a JSON object")
        return None
    hints = get_type_hints(Stats)
    good = {}
    for name in sorted({*stats, *hints}):
        problem = _problem(name, stats, hints)
        if problem:
            findings.wrong(_NAME, problem)
        else:
            good[name] = stats[name]
    findings.wrong_all(_NAME, _senseless(good))
    return good if "recipe" in good else None


def _refuse(value: str) -> None:
    raise ValueError(f"{value} is not a JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name appears twice")
    return members


def _problem(name: str, stats: Mapping[str, Any], hints: Mapping[str, Any]) -> str:
    if name not in hints:
        return f"{name} is unknown"
    if name not in stats:
        return f"{name} is missing"
    return "" if _fits(stats[name], hints[name]) else f"{name}={_shown(stats[name])} is impossible"


def _fits(value: Any, kind: Any) -> bool:  # noqa: PLR0911  (a table)
    """Whether a value of JSON is of a type; there are no negative numbers."""
    plain, inside = get_origin(kind) or kind, get_args(kind)
    if plain in (Union, types.UnionType):
        return any(_fits(value, option) for option in inside)
    if plain is types.NoneType:
        return value is None
    if plain is Any:
        return True
    if plain is Component:
        hints = get_type_hints(Component)
        return isinstance(value, dict) and value.keys() == hints.keys() and _all_fit(value, hints)
    if plain is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if plain is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and value >= 0
    if plain is dict:
        return isinstance(value, dict) and (not inside or all(_fits(member, inside[1]) for member in value.values()))
    if plain is tuple:
        return isinstance(value, list) and _are(value, inside)
    if plain is Literal:
        return isinstance(value, str) and value in inside
    return isinstance(value, plain)


def _are(values: list[Any], kinds: tuple[Any, ...]) -> bool:
    if kinds[-1] is Ellipsis:
        return all(_fits(member, kinds[0]) for member in values)
    return len(values) == len(kinds) and all(_fits(*pair) for pair in zip(values, kinds, strict=True))


def _all_fit(record: Mapping[str, Any], kinds: Mapping[str, Any]) -> bool:
    return all(_fits(record[name], kind) for name, kind in kinds.items())


def _senseless(stats: Mapping[str, Any]) -> Iterator[str]:
    """What no run could say, whatever it was run on: of numbers that cannot be counted again."""
    if "versions" in stats and (
        stats["versions"].keys() | {_COMPILER} != _PACKAGES or not all(stats["versions"].values())
    ):
        yield f"versions={_shown(stats['versions'])} are not those of {', '.join(sorted(_PACKAGES))}"
    if "room" in stats:
        yield from _room_problems(stats["room"])
    if stats.get("audit") is not None:
        yield from (f"audit: {problem}" for problem in _audit_problems(stats["audit"], stats))


def _is_search(search: dict[str, Any]) -> bool:
    """Whether codes can be searched so: by a table for each choice of a header's blocks, or another number of them."""
    counts = {"tables": int} | ({"blocks": int, "header": int} if search.get("kind") == "blocks" else {})
    if search.keys() != {"kind", *counts} or not _all_fit(search, counts):
        return False
    expected = {"blocks": math.comb(search.get("blocks", 1), search.get("header", 0)), "brute": 1}
    known = {*expected, "rotations", "adjacent"}
    return search["kind"] in known and 0 < search["tables"] == expected.get(search["kind"], search["tables"])


def _room_problems(room: Mapping[str, Any]) -> Iterator[str]:
    table = room.get("count_table", {"slots": 1, "slot_bits": 8, "passes": 1})
    counts = {"slots": int, "slot_bits": int, "passes": int}
    is_table = isinstance(table, dict) and table.keys() == counts.keys() and _all_fit(table, counts)
    if not is_table or 0 in table.values():
        yield f"room.count_table={_shown(table)} is impossible"
    search = room.get("search", {"kind": "brute", "tables": 1})
    if not isinstance(search, dict) or not _is_search(search):
        yield f"room.search={_shown(search)} is impossible"
    for name, value in room.items():
        if name not in {"count_table", "search"} and value not in ("memory", "files", "workdir"):
            yield f"room.{name}={_shown(value)} is not memory, files or workdir"


def _audit_problems(audit: Mapping[str, Any], stats: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an audit: shares must be those of their numbers, and numbers of the run."""
    recipe = stats.get("recipe", {})
    confirm, least = recipe.get("confirm"), Fraction(str(recipe.get("confirm_threshold") or "0.8"))
    confirmed = {"confirm": confirm, "confirm_threshold": float(least)} if confirm else {}
    names = _AUDIT | {name: type(value) for name, value in confirmed.items()}
    audit = {**audit}
    below = audit.pop("below", None)
    if audit.keys() != names.keys() or not _all_fit(audit, names):
        yield f"{_shown(audit)} is impossible"
        return
    if not confirmed.items() <= audit.items():
        yield f"confirm={audit['confirm']!r} at {audit['confirm_threshold']} is not what confirms"
    if audit["threshold"] != stats.get("least", audit["threshold"]) or audit["of"] != "documents":
        yield f"threshold={audit['threshold']} of {audit['of']} is not that of the run"
    if audit["measure"] != ("cosine" if recipe.get("method") == "hyperplane" else "jaccard"):
        yield f"measure={audit['measure']!r} is not what it goes by"
    if not audit["with_partner"] <= audit["sampled"] <= stats.get("distinct", audit["sampled"]):
        yield f"of {audit['sampled']:,} sampled documents {audit['with_partner']:,} have a partner"
    if below is not None and not _is_below(below, audit["threshold"]):
        yield f"below={_shown(below)} is impossible"
    problems = [
        problem
        for name in ("recall", "residual", "precision")
        if audit[name] is not None
        for problem in _share_problems(name, audit[name])
    ]
    yield from problems
    if not problems and (audit["recall"] or {"of": 0})["of"] != audit["with_partner"]:
        yield f"recall is not of the {audit['with_partner']:,} documents that had to go"


def _is_below(below: Mapping[str, Any], threshold: float) -> bool:
    """Whether sampled documents can lie so below the threshold: each of them at one similarity at most."""
    if not isinstance(below, dict) or below.keys() != _BELOW.keys() or not _all_fit(below, _BELOW):
        return False
    edges = [least for least, _ in below["bins"]] + [threshold]
    counted = sum(number for _, number in below["bins"])
    return edges == sorted(set(edges)) and edges[0] >= 0 and counted <= below["sampled"] and below["stands_for"] >= 1


def _share_problems(name: str, share: Mapping[str, Any]) -> Iterator[str]:
    if share.keys() != _SHARE.keys() or not _all_fit(share, _SHARE) or not 0 <= share["num"] <= share["of"]:
        yield f"{name}={_shown(share)} is impossible"
    elif not share["of"] or abs(share["value"] - share["num"] / share["of"]) > _WIDTH:
        yield f"{name} is {share['value']}, and not {share['num']:,} of {share['of']:,}"
    elif not 0 <= share["low"] <= share["value"] <= share["high"] <= 1:
        yield f"the interval of {name} is not around it"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
