"""Corpora on which engines could differ: ties, copies, empty texts, repeated ids, hot buckets, chains, many scripts.

1. Each is a table, the same on every call. `number` is its order, dense and unique; `shown` is another, a shuffled one.
2. Ids repeat. What a test compares is `number`, which no two documents share.
3. `skew` says where a document lies when it is dealt by that column: nearly all in one partition, some nowhere.
"""

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["chain", "mixed", "table", "template", "vectors"]

_SCRIPTS = (
    "漢字かな交じり文",
    "ภาษาไทยไม่มีช่องว่าง",
    "ΣΊΣΥΦΟΣ Σίσυφος",
    "İstanbul ıspanak ﬁn",
    "𝒳𠀀 e\u0301te\u0301",
    "한국어 문서",
)
_BARE = (None, "", " ", "\n", "***", "***", "!!!", "🙂🙂")


def mixed(seed: int = 0, *, families: int = 12, hot: int = 40, links: int = 25) -> pa.Table:
    """Everything at once: families of edited copies with equal similarities, a template, a chain, and odd texts."""
    chance = random.Random(seed)
    texts: list[str | None] = [*_BARE, *_SCRIPTS, *_SCRIPTS[:3]]
    for _ in range(families):
        texts += _family(chance)
    texts += [text for text in template(hot).column("text").to_pylist() if text]
    texts += [text for text in chain(links).column("text").to_pylist() if text]
    chance.shuffle(texts)
    return table(texts, seed)


def template(size: int) -> pa.Table:
    """One text of which each copy has a word of its own: a bucket that all documents are in."""
    words = [f"t{word}" for word in range(60)]
    return table([" ".join([*words[:30], f"own{number}", *words[31:]]) for number in range(size)])


def chain(links: int) -> pa.Table:
    """Each is like the one before it and the one after it, and like no other."""
    return table([" ".join(f"c{word}" for word in range(6 * link, 6 * link + 60)) for link in range(links)])


def vectors(seed: int, count: int, size: int = 16) -> list[list[float] | None]:
    """Some directions, with others near them: half of them at the same angle."""
    chance = random.Random(seed)
    bases = [[chance.gauss(0, 1) for _ in range(size)] for _ in range(max(count // 4, 1))]
    found: list[list[float] | None] = []
    for _ in range(count):
        base = chance.choice(bases)
        shift = 0.1 if chance.random() < 0.5 else chance.random()
        place = chance.randrange(size)
        found.append([value + shift * (number == place) for number, value in enumerate(base)])
    return [None if number % 29 == 7 else vector for number, vector in enumerate(found)]


def table(texts: Sequence[str | None], seed: int = 0) -> pa.Table:
    """The documents with all columns that a run may be asked for."""
    chance = random.Random(seed + 1)
    count = len(texts)
    shown = list(range(count))
    chance.shuffle(shown)
    columns: dict[str, Any] = {
        "number": pa.array(range(count), pa.int64()),
        "id": pa.array([f"d{number % max(count * 4 // 5, 1)}" for number in range(count)], pa.string()),
        "text": pa.array(texts, pa.string()),
        "shown": pa.array(shown, pa.int64()),
        "score": pa.array([chance.choice([None, 1, 2, 2, 3]) for _ in texts], pa.int64()),
        "when": pa.array([chance.choice([None, "no date", "2024-01-02", "2024-01-03T04:05:06Z"]) for _ in texts]),
        "vector": pa.array(vectors(seed, count), pa.list_(pa.float64())),
        "skew": pa.array([0 if chance.random() < 0.9 else chance.randrange(50) for _ in texts], pa.int32()),
    }
    return pa.table(columns)


def _family(chance: random.Random) -> list[str]:
    """A text, copies of it, others in its capitals, and edits of which several are equally like it."""
    words = ["".join(chance.choices("abcdefghijklm", k=5)) for _ in range(chance.choice((6, 20, 40)))]
    found = [" ".join(words)]
    for _ in range(chance.randrange(1, 6)):
        kind = chance.random()
        if kind < 0.2:
            found.append(" ".join(words))
        elif kind < 0.4:
            found.append(" ".join(words).upper() + "!")
        else:  # one word replaced at one of three places: many pairs of one similarity
            place = chance.choice((1, len(words) // 2, len(words) - 1))
            found.append(" ".join([*words[:place], f"new{chance.randrange(3)}", *words[place + 1 :]]))
    return found
