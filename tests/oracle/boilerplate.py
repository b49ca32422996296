"""Sets without what stands in too many of them."""

from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet

from tests.oracle.shingles import Raw

__all__ = ["boilerplate", "without"]


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
