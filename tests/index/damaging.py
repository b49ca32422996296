"""Indexes in files, damaged in all ways that disks know, and what becomes of them: `damaging.py COUNT SEED` by itself.

1. What an index answers is written down while it is whole. Then its file is damaged, by chance, and all is asked again.
2. An answer is the same as before, or one of our errors. Where it is another, `check` has to say that much is wrong.
3. What is exported is what was put in, document by document, and what is missing was told.
"""

import json
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import product
from pathlib import Path
from typing import Any

import nearsame as ns

WORDS = [f"word{number}" for number in range(60)]
KEPT = {"keep_columns": ["lang", "year"]}
RECIPES: tuple[dict[str, Any], ...] = (
    {"method": ["minhash", "digest", "url"], "store": "text", **KEPT},
    {"method": ["minhash", "digest"], "store": "shingles"},
    {"method": ["simhash", "url"], "store": "shingles", **KEPT},
    {"method": ["minhash"], "store": "sketch", **KEPT},
)
WHERE = ["lang=en", "year>=2004"]
PAGE = 8192


def documents(num: int = 40) -> list[dict[str, str]]:
    """Some texts, many of them versions and copies of each other."""
    chance = random.Random(5)
    texts = [chance.choices(WORDS, k=50)]
    while len(texts) < num:
        words = list(chance.choice(texts)) if chance.random() < 0.6 else chance.choices(WORDS, k=50)
        if chance.random() < 0.8:
            words[chance.randrange(50)] = chance.choice(WORDS)
        texts.append(words)
    return [
        {"id": f"id-{at}", "url": f"https://example.org/{at % 30}", "text": " ".join(words), **_columns(at)}
        for at, words in enumerate(texts)
    ]


def _columns(at: int) -> dict[str, str]:
    return {"lang": ("en", "de")[at % 2], "year": str(2000 + at % 9)}


def made(place: Path | str, recipe: dict[str, Any]) -> None:
    """An index with a past: documents were removed and replaced, so that it has followers, holes and free pages."""
    every = documents()
    with ns.Index.create(place, **recipe, overwrite=True) as index:
        index.add(every)
        index.remove(["id-0", "id-7", "id-20"])
        index.add({**every[3], "text": every[9]["text"]}, replace=True)


def answers(index: ns.Index) -> dict[str, Any]:
    """What it says to everything that can be asked, or that it cannot say it."""
    every = documents()
    wheres: list[dict[str, Any]] = [{}, {"where": WHERE}]
    asked: dict[str, Callable[[], Any]] = {
        "stats": lambda: index.stats().documents,
        "ids": lambda: list(index.ids()),
        "clusters": index.clusters,
    }
    for where in wheres:
        asked[f"batch {where}"] = lambda where=where: index.query(
            [{"text": each["text"], "url": each["url"]} for each in every], **where
        )
    for each, where in product(every[::4], wheres):
        asked[f"query {each['id']} {where}"] = lambda each=each, where=where: index.query(each["text"], **where)
        asked[f"get {each['id']}"] = lambda each=each: index.get(each["id"])
        asked[f"duplicates {each['id']} {where}"] = lambda each=each, where=where: index.duplicates(each["id"], **where)
        asked[f"compare {each['id']}"] = lambda each=each: index.compare(each["id"], "id-1")
    return {name: _answer(ask) for name, ask in asked.items()}


def _answer(ask: Callable[[], Any]) -> Any:
    try:
        return repr(ask())
    except ns.UnknownIdError:
        return "unknown"
    except ns.NearSameError:
        return None


def damage(place: Path, chance: random.Random) -> str:
    """Change the file, and say how."""
    content = bytearray(place.read_bytes())
    kind = chance.choice(("bit", "byte", "few", "zeros", "random", "swap", "copy", "cut", "values"))
    at = chance.randrange(100, len(content))
    page, other = (PAGE * chance.randrange(len(content) // PAGE) for _ in range(2))
    match kind:
        case "bit":
            content[at] ^= 1 << chance.randrange(8)
        case "byte":
            content[at] = chance.randrange(256)
        case "few":
            for _ in range(8):
                content[chance.randrange(100, len(content))] = chance.randrange(256)
        case "zeros":
            content[at : at + 512] = bytes(len(content[at : at + 512]))
        case "random":
            content[at : at + 64] = chance.randbytes(len(content[at : at + 64]))
        case "swap":
            content[page : page + PAGE], content[other : other + PAGE] = (
                content[other : other + PAGE],
                content[page : page + PAGE],
            )
        case "copy":
            content[page : page + PAGE] = content[other : other + PAGE]
        case "cut":
            del content[at:]
        case _:
            return _changed_value(place, chance)
    place.write_bytes(content)
    return f"{kind} at {at}, pages {page} and {other}"


def _changed_value(place: Path, chance: random.Random) -> str:
    """A value of a row, by SQL, so that SQLite's own check has nothing to find."""
    with closing(sqlite3.connect(place)) as connection, suppress(sqlite3.IntegrityError):
        connection.create_function("exchanged", 1, lambda items: items.replace(b'"en"', b'"de"'))
        run = connection.execute
        how = change_value(lambda statement: run(statement).fetchall(), chance, CHANGES + CHANGES_OF_TYPE)
        connection.commit()
        return how
    return "nothing"


CHANGES = (
    ("documents", "id", "id || 'x'"),
    ("documents", "url", "url || 'x'"),
    ("documents", "url", "NULL"),
    ("documents", "leader", "NULL"),
    ("documents", "leader", "(SELECT min(number) FROM documents)"),
    ("documents", "items", "(SELECT items FROM documents ORDER BY number LIMIT 1)"),
    ("documents", "items", "exchanged(items)"),  # a column that is kept
    ("documents", "text", "(SELECT text FROM documents ORDER BY number LIMIT 1)"),
    ("documents", "number", "number + 100"),
    ("postings", "key", "key + 1"),
    ("postings", "number", "number + 1"),
    ("counters", "value", "value + 1"),
    ("settings", "value", "replace(value, '0.8', '0.9')"),
    ("settings", "value", "'x'"),
)
CHANGES_OF_TYPE = (("documents", "text", "x'00'"), ("postings", "number", "'x'"))  # which SQLite takes


def change_value(
    run: Callable[[str], list[Any]], chance: random.Random, changes: tuple[tuple[str, str, str], ...] = CHANGES
) -> str:
    """Change a value of a row, and say how.

    Args:
        run: Runs SQL on the database.
        chance: Chooses.
        changes: Those to choose from: a table, a column, and its new value.
    """
    table, column, value = chance.choice(changes)
    order = {"settings": "name", "counters": "name", "postings": "key, number"}.get(table, "number")
    chosen = chance.choice(sorted(run(f"SELECT {order} FROM {table}")))  # noqa: S608  (made up here)
    where = " AND ".join(f"{name} = {of!r}" for name, of in zip(order.split(", "), chosen, strict=True))
    run(f"UPDATE {table} SET {column} = {value} WHERE {where}")  # noqa: S608  (likewise)
    return f"{table}.{column} = {value}"


def judged(place: Path | str, folder: Path, before: dict[str, Any], whole: dict[str, Any]) -> str:
    """What became of a damaged index: told by whom, or why it must not be.

    Args:
        place: Where it is.
        folder: For files.
        before: What it answered.
        whole: What it had exported.
    """
    try:
        index = ns.Index.open(place, read_only=True)
    except ns.NearSameError:
        return "refused"
    with index:
        after = answers(index)
        wrong = [name for name, answer in after.items() if answer is not None and answer != before[name]]
        problems = _checked(index)
        if wrong and not problems:
            return f"WRONG: {wrong} in silence"
        if found := _exported(index, folder / "damaged.jsonl", whole):
            return found
    _changed(place)
    if wrong:
        return "told by check, not by whoever asked"
    return "told" if problems else "no answer is another"


def _checked(index: ns.Index) -> list[str]:
    try:
        return index.check()
    except ns.NearSameError as error:
        return [str(error)]


def _exported(index: ns.Index, file: Path, whole: dict[str, Any]) -> str:
    """What is wrong with an export."""
    try:
        index.export(file, overwrite=True)
    except ns.NearSameError:
        return ""
    found = {each["id"]: each for each in map(json.loads, file.read_text("utf-8").splitlines())}
    other = [id_ for id_, each in found.items() if whole.get(id_) != each]
    if other:
        return f"WRONG: exported {other}, which were not put in"
    return "WRONG: left out in silence" if len(found) < len(whole) and not index.skipped else ""


def _changed(place: Path | str) -> None:
    """Whoever writes to it gets an answer, or one of our errors."""
    text = " ".join(WORDS)
    with suppress(ns.NearSameError), ns.Index.open(place) as index:
        for change in (
            lambda: index.add([{"id": "new", "text": text}, {"id": "id-4", "text": text}]),
            lambda: index.add({"id": "id-5", "text": text}, replace=True),
            lambda: index.remove(["id-9", "id-1"]),
        ):
            with suppress(ns.NearSameError):
                change()


def walk(count: int, seed: int, folder: Path) -> Counter[str]:
    """So many damaged files, of all recipes in turn: how many became what."""
    chance, found = random.Random(seed), Counter[str]()
    originals = [folder / f"{number}.ns" for number in range(len(RECIPES))]
    known = [original(place, recipe, folder) for place, recipe in zip(originals, RECIPES, strict=True)]
    damaged = folder / "damaged.ns"
    for number in range(count):
        for ending in ("", "-wal", "-shm"):
            Path(f"{damaged}{ending}").unlink(missing_ok=True)
        shutil.copyfile(originals[number % len(RECIPES)], damaged)
        how = damage(damaged, chance)
        try:
            became = judged(damaged, folder, *known[number % len(RECIPES)])
        except Exception as error:
            error.add_note(f"damaged file {number} of seed {seed}: {how}")
            raise
        found[became if "WRONG" not in became else f"{became} ({number}: {how})"] += 1
    return found


def original(place: Path | str, recipe: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what an index answers that is whole, what it exports)."""
    made(place, recipe)
    with ns.Index.open(place, read_only=True) as index:
        index.export(folder / "whole.jsonl", overwrite=True)
        lines = (folder / "whole.jsonl").read_text("utf-8").splitlines()
        return answers(index), {each["id"]: each for each in map(json.loads, lines)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.stdout.write(json.dumps(walk(int(sys.argv[1]), int(sys.argv[2]), Path(name)), indent=1) + "\n")
