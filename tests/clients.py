"""Clients of an index that run in processes of their own: what they add, when, and what became of it.

1. They are functions of a module, so that a process that shares nothing with the tests finds them.
2. All are forked from one process that has loaded the library and has no index open: a new one would take seconds.
"""

import json
import multiprocessing
import os
import random
import time
from pathlib import Path
from typing import Any

from nearsame.errors import StoreBusyError, StoreError
from nearsame.index.index import Index
from tests.patience import PATIENCE

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.warmed"])
WORDS = 150


def text_of(family: int, variant: int) -> str:
    """A made-up text; two variants of a family differ in one word, two families in all."""
    chance = random.Random(family)
    words = ["".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(WORDS)]
    if variant:
        words[(variant * 37) % WORDS] = f"variant{variant}"
    return " ".join(words)


def document(family: int, variant: int) -> dict[str, str]:
    """With an id that tells both."""
    return {"id": f"{family}-{variant}", "text": text_of(family, variant)}


def add_in_step(where: str, mine: int, rounds: int, barrier: Any, out: Any) -> None:
    """In each round add a text at the same moment as the others: the same one, or one that is nearly the same."""
    found = []
    with Index.open(where) as index:
        for family in range(rounds):
            given = {"id": f"{family}-{mine}", "text": text_of(family, mine if family % 2 else 0)}
            barrier.wait(PATIENCE)
            found.append(index.add(given, if_new=True)[0].record())
    out.put((mine, found))


def add_shuffled(where: str, mine: int, families: int, size: int, out: Any) -> None:
    """Add one variant of every family, in an order of its own, so many at once."""
    chance = random.Random(mine)
    given = [document(family, mine) for family in chance.sample(range(families), families)]
    found = []
    with Index.open(where) as index:
        for start in range(0, families, size):
            found += [added.record() for added in index.add(given[start : start + size], if_new=True)]
    out.put((mine, found))


def hold(where: str, ready: Any, leave: Any) -> None:
    """Write, and stay within the transaction until told to leave it."""
    with Index.open(where) as index, index.transaction():
        index.add(document(1000, 0))
        ready.set()
        leave.wait(PATIENCE)


def ask(where: str, out: Any) -> None:
    """Ask twenty times."""
    with Index.open(where, read_only=True) as index:
        out.put([[match.id for match in index.query(text_of(0, 1))] for _ in range(20)])


def add_waiting(where: str, seconds: float, out: Any) -> None:
    """Add a document, waiting so long for another writer."""
    with Index.open(where, timeout_seconds=seconds) as index:
        try:
            out.put(index.add(document(2000, 0))[0].status)
        except StoreBusyError as error:
            out.put(f"{error.message} {error.hint}")


def add_forever(where: str, seed: int, log: str) -> None:
    """Add, and write down what was acknowledged, until killed; a server that is away is waited for."""
    chance = random.Random(seed)
    acknowledged = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    index = Index.open(where)
    while True:
        size = chance.choice((1, 1, 1, 40))
        given = [document(chance.randrange(10**9), chance.randrange(2)) for _ in range(size)]
        try:
            added = index.add(given, if_new=chance.random() < 0.5)
        except StoreError:
            time.sleep(0.02)
            continue
        os.write(acknowledged, "".join(json.dumps(each.id) + "\n" for each in added if each.added).encode())


def acknowledged(log: Path) -> list[str]:
    """The ids that a client wrote down; the last line may be torn."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
