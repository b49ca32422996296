"""A process that starts workers on an index and kills them, to be run by itself: `killed.py PLACE KILLS SEED`.

1. Workers are forked once everything is compiled, so that a kill costs milliseconds and hundreds fit into a minute.
2. A worker says what it is about to do and what was acknowledged, by a pipe that outlives it. It is killed once it has
   said so much, and a little later: what was acknowledged does not depend on how fast the machine is.
3. After each kill the index is opened anew. What was acknowledged must be there, or gone, as it was acknowledged; of
   what was only announced, all or nothing; and the index must be whole.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import nearsame as ns

WORDS = [f"word{number}" for number in range(200)]
METHODS = ["minhash", "simhash", "digest"]


def documents(chance: random.Random, name: str, size: int) -> list[dict[str, str]]:
    """Some texts, a part of them versions of each other."""
    texts = [" ".join(chance.choices(WORDS, k=60))]
    while len(texts) < size:
        base = chance.choice(texts).split() if chance.random() < 0.5 else chance.choices(WORDS, k=60)
        base[chance.randrange(60)] = chance.choice(WORDS)
        texts.append(" ".join(base))
    return [{"id": f"{name}-{number}", "text": text} for number, text in enumerate(texts)]


def work(place: str, pipe: int, seed: int) -> None:
    """Add and remove until killed."""
    chance = random.Random(seed)

    def tell(**what: object) -> None:
        os.write(pipe, (json.dumps(what) + "\n").encode())  # short enough to be written whole

    with ns.Index.open(place) as index:
        mine: list[str] = []
        for turn in range(10**6):
            if mine and chance.random() < 0.3:
                ids = chance.sample(mine, min(3, len(mine)))
                tell(removing=ids)
                index.remove(ids)
                tell(removed=ids)
                mine = [each for each in mine if each not in ids]
                continue
            some = documents(chance, f"{seed}-{turn}", chance.choice([1, 1, 2, 8]))
            ids = [each["id"] for each in some]
            tell(adding=ids)
            added = index.add(some)
            tell(added=ids)
            mine += [each.id for each in added if each.added]


def judge(place: str, lines: list[dict[str, list[str]]], there: set[str]) -> tuple[set[str], list[str]]:
    """(what is there now, what should not be)."""
    wrong: list[str] = []
    expected = set(there)
    for line in lines:
        expected |= set(line.get("added", ()))
        expected -= set(line.get("removed", ()))
    last = lines[-1] if lines else {}
    with ns.Index.open(place) as index:
        found = set(index.ids())
        wrong += index.check()
    if "adding" in last:
        new = found - expected
        if new not in (set(), set(last["adding"])):
            wrong.append(f"of {last['adding']} only {sorted(new)} are there")
        expected |= new
    if "removing" in last:
        gone = expected - found
        if gone not in (set(), set(last["removing"])):
            wrong.append(f"of {last['removing']} only {sorted(gone)} are gone")
        expected -= gone
    wrong += [f"{each} was acknowledged, and is not there" for each in sorted(expected - found)]
    wrong += [f"{each} is there, and should not be" for each in sorted(found - expected)]
    return found, wrong


def kill_once(place: str, seed: int, there: set[str]) -> tuple[set[str], list[str], int]:
    """Start a worker, kill it, look: (what is there, what is wrong, what was acknowledged)."""
    chance = random.Random(seed)
    reading, writing = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(reading)
        work(place, writing, seed)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        least = chance.choice([0, 1, 2, 3, 4, 6, 9, 12])  # with 0 it is killed on its way there
        begun = [told.readline() for _ in range(least)]
        time.sleep(chance.choice([0, 0.001, 0.005, 0.02]) * (0.5 + chance.random()))
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        lines = [json.loads(line) for line in (*begun, *told.readlines()) if line.endswith(b"\n")]
    found, wrong = judge(place, lines, there)
    return found, wrong, sum(len(line.get("added", ())) for line in lines)


def main(place: str, kills: int, seed: int) -> None:
    """Kill so many times, and print what was found."""
    warm = Path(place).with_name("warm.ns")
    with ns.Index.create(warm, method=METHODS) as index:  # compiles what has to be
        index.add(documents(random.Random(0), "warm", 20))
        index.remove("warm-0")
        index.query("warm")
    ns.Index.create(place, method=METHODS).close()
    there: set[str] = set()
    wrong: list[str] = []
    acknowledged = 0
    for number in range(kills):
        there, problems, told = kill_once(place, 1000 * seed + number, there)
        acknowledged += told
        wrong += [f"kill {number}: {problem}" for problem in problems]
        if len(there) > 2000:  # so that looking does not take longer than killing
            ns.Index.create(place, method=METHODS, overwrite=True).close()
            there = set()
    sys.stdout.write(json.dumps({"kills": kills, "acknowledged": acknowledged, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
