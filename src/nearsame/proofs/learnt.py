"""URL rules that were learnt, applied anew: to a canonical URL, again and again, until nothing changes."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Form", "is_learnt", "learnt_form", "rule_problems"]

Form = Callable[[str], str]

_FORMAT = "nearsame-url-rules"
_MOST_ROUNDS = 8  # of rules that undo each other
_MARK = r"[/?&=;.,:+~_-]"
_PARTS = re.compile(r"(https?)://([^/#]*)([^#?]*)(.*)", re.DOTALL)


def is_learnt(record: Mapping[str, Any]) -> bool:
    """Whether a record of what makes URLs one is of learnt rules, and not of something that a caller wrote."""
    kind = record.get("format")
    return "rules" in record or kind == _FORMAT or not isinstance(kind, str)


def rule_problems(record: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the rules in a record of learnt rules."""
    rules = record.get("rules")
    if not isinstance(rules, list):
        yield "rules is not a list"
        return
    yield from (f"rules[{number}] is not a rule about URLs" for number, rule in enumerate(rules) if not _is_rule(rule))


def learnt_form(record: Mapping[str, Any], canonical: Form) -> Form:
    """What gives a URL the form that a record of learnt rules says.

    Args:
        record: As stats.json has it, without problems.
        canonical: Gives the canonical URL that the rules are about.
    """
    rules = record["rules"]
    ordered = sorted(rules, key=lambda rule: (rule["find"] != "", rule["host"] == ""))

    def form(url: str) -> str:
        first = now = canonical(url)
        for _ in range(_MOST_ROUNDS):
            done = canonical(_once(now, ordered))
            if done == now:
                return now
            now = done
        return first

    return form


def _is_rule(rule: Any) -> bool:
    texts, lists = ("host", "folder", "find", "replace"), ("parameters", "not_hosts")
    if not isinstance(rule, dict) or not rule.keys() >= {*texts, *lists}:
        return False
    names = [rule[name] for name in texts]
    several = [rule[name] for name in lists]
    return all(isinstance(part, list) for part in several) and all(
        isinstance(text, str) for text in (*names, *several[0], *several[1])
    )


def _once(url: str, rules: list[dict[str, Any]]) -> str:
    match = _PARTS.fullmatch(url)
    if match is None or not match[2]:
        return url
    host, folder = match[2], "/" + match[3][1:].split("/")[0].split(";")[0]
    for rule in rules:
        is_there = rule["host"] in ("", host) and host not in rule["not_hosts"]
        if is_there and rule["folder"] in ("", folder):
            url = _dropped(url, rule["parameters"]) if rule["parameters"] else _replaced(url, rule)
    return url


def _dropped(url: str, names: list[str]) -> str:
    match = re.fullmatch(r"([^#?]*)(\?[^#]*)?(#.*)?", url, re.DOTALL)
    path, query, fragment = (part or "" for part in match.groups()) if match else (url, "", "")
    for name in names:
        if name.startswith(";"):
            path = re.sub(rf"{re.escape(name)}(?:=[^/;]*)?(?![^/;])", "", path)
    kept = "&".join(parameter for parameter in query[1:].split("&") if parameter.split("=")[0] not in names)
    return path + (f"?{kept}" if kept else "") + fragment


def _replaced(url: str, rule: Mapping[str, Any]) -> str:
    start = url.index("/", url.index("://") + 3) if "/" in url.partition("://")[2] else len(url)
    begins, ends = rf"(?:(?<={_MARK})|(?={_MARK})|^)", rf"(?:(?={_MARK})|(?<={_MARK})|$)"
    match = re.search(begins + re.escape(rule["find"]) + ends, url[start:])
    rest = url[start:]
    if match is not None:
        rest = rest[: match.start()] + rule["replace"] + rest[match.end() :]
    return url[:start] + ("" if rest.startswith("/") else "/") + rest
