"""Sets without what stands in too many of them."""

from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

from tests.oracle.shingles import Raw

__all__ = ["boilerplate", "without", "without_by_host"]


def boilerplate(sets: Sequence[AbstractSet[Hashable]], most: int) -> dict[Hashable, int]:
    """The items, but for texts without tokens, that stand in more than `most` sets, and in how many."""
    counts = Counter(item for items in sets for item in items if not isinstance(item, Raw))
    return {item: count for item, count in counts.items() if count > most}


def without(
    sets: Sequence[AbstractSet[Hashable]], texts: Sequence[str | None], most: int
) -> list[AbstractSet[Hashable]]:
    """The sets that are left; one that has nothing left is its text."""
    dropped = boilerplate(sets, most).keys()
    return [
        (items - dropped or frozenset({Raw(text or "")})) if items else items
        for items, text in zip(sets, texts, strict=True)
    ]


def without_by_host(
    sets: Sequence[AbstractSet[Hashable]],
    texts: Sequence[str | None],
    hosts: Sequence[str | None],
    share: Fraction,
    least: int,
) -> tuple[list[AbstractSet[Hashable]], dict[str, dict[Hashable, int]]]:
    """The sets that are left, and what each host lost: what stands in this share of its sets, and in `least`."""
    left, dropped = list(sets), dict[str, dict[Hashable, int]]()
    for host in {name for name in hosts if name is not None}:
        rows = [row for row, name in enumerate(hosts) if name == host]
        with_shingles = sum(any(not isinstance(item, Raw) for item in sets[row]) for row in rows)
        common = boilerplate([sets[row] for row in rows], least - 1)
        dropped[host] = {item: number for item, number in common.items() if number >= share * with_shingles}
        for row in rows:
            if sets[row]:
                left[row] = sets[row] - dropped[host].keys() or frozenset({Raw(texts[row] or "")})
    return left, dropped
