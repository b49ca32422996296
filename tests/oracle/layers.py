"""Layers one after the other, document by document: who goes, by which layer, and who stands for it in the end.

Each layer groups what is left by one string and keeps the first of each group by priority; where the string is a guess,
each group is asked who is near whom. The last one is the oracle of the method. Whoever loses its witness to a later
layer follows it. Pairs that were told apart are told of the witness once one of them goes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Gone", "Pairs", "layered"]

Pairs = Collection[frozenset[int]]


class Gone(NamedTuple):
    """Why one document goes."""

    layer: str
    witness: int  # in the end
    via: int | None  # the witness in its own layer, if that went later


def layered(  # noqa: C901  (the rules, one after the other)
    strings: Mapping[str, Sequence[str | None]],
    order: Sequence[int],
    text: Callable[[list[int], Pairs], Mapping[int, int]] | None,
    *,
    num_against: int = 0,
    within: bool = True,
    empty: Sequence[bool],
    near: Callable[[list[int], Pairs], Mapping[int, int]] | None = None,
    apart: Pairs = frozenset(),
) -> dict[int, Gone]:
    """The removed rows.

    Args:
        strings: of each layer but `text`, in the order in which they run, what each row must share with its witness.
        order: rows from the most to the least worth keeping.
        text: from rows that are left (ascending) to the witnesses of those that go; None: there is no such layer.
        num_against: rows below it are always kept.
        within: whether rows that are not below it can be witnesses.
        empty: which rows have no text.
        near: from rows (ascending) whose strings are one by a guess to the witnesses, for `url-guess`.
        apart: pairs that were told apart; `text` and `near` are asked with those of what is left.
    """
    went: dict[int, tuple[str, int]] = {}

    def last(row: int) -> int:
        while row in went:
            row = went[row][1]
        return row

    def told() -> Pairs:
        return {frozenset((last(a), last(b))) for a, b in map(tuple, apart) if last(a) != last(b)}

    for layer, values in strings.items():
        before = told()
        if layer == "url-guess":
            assert near is not None
            left = [row for row in range(len(order)) if row not in went and not empty[row] and values[row]]
            for value in {values[row] for row in left}:
                found = near([row for row in left if values[row] == value], before)
                went |= {row: (layer, witness) for row, witness in found.items()}
            continue
        textless = layer in {"redirect", "revisit"}
        kept: dict[str, list[int]] = {}
        ranked = sorted(order, key=lambda row: empty[row]) if textless else list(order)
        for row in [row for row in ranked if row not in went and (textless or not empty[row])]:
            value = values[row]
            if not value:
                continue
            keepers = kept.setdefault(value, [])
            found = [keeper for keeper in keepers if frozenset((keeper, row)) not in before]
            if row >= num_against and found:
                went[row] = (layer, found[0])
            elif (within or row < num_against) and not empty[row]:
                keepers.append(row)
    if text is not None:
        left = [row for row in range(len(order)) if row not in went]
        went |= {row: ("text", witness) for row, witness in text(left, told()).items()}
    return {
        row: Gone(layer, last(row), None if last(row) == witness else witness) for row, (layer, witness) in went.items()
    }
