"""Layers one after the other, document by document: who goes, by which layer, and who stands for it in the end.

Each layer groups what is left by one string and keeps the first of each group by priority; where the string is a guess,
each group is asked who is near whom. The last one is the oracle of the method. Whoever loses its witness to a later
layer follows it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Gone", "layered"]


class Gone(NamedTuple):
    """Why one document goes."""

    layer: str
    witness: int  # in the end
    via: int | None  # the witness in its own layer, if that went later


def layered(
    strings: Mapping[str, Sequence[str | None]],
    order: Sequence[int],
    text: Callable[[list[int]], Mapping[int, int]] | None,
    *,
    num_against: int = 0,
    within: bool = True,
    empty: Sequence[bool],
    near: Callable[[list[int]], Mapping[int, int]] | None = None,
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
    """
    went: dict[int, tuple[str, int]] = {}
    for layer, values in strings.items():
        if layer == "url-guess":
            assert near is not None
            left = [row for row in range(len(order)) if row not in went and not empty[row] and values[row]]
            for value in {values[row] for row in left}:
                found = near([row for row in left if values[row] == value])
                went |= {row: (layer, witness) for row, witness in found.items()}
            continue
        textless = layer in {"redirect", "revisit"}
        first: dict[str, int] = {}
        ranked = sorted(order, key=lambda row: empty[row]) if textless else list(order)
        for row in [row for row in ranked if row not in went and (textless or not empty[row])]:
            value = values[row]
            if not value:
                continue
            witness = first.setdefault(value, row)
            counts = within or witness < num_against
            if witness != row and row >= num_against and counts and not empty[witness]:
                went[row] = (layer, witness)
    if text is not None:
        left = [row for row in range(len(order)) if row not in went]
        went |= {row: ("text", witness) for row, witness in text(left).items()}
    gone = {}
    for row, (layer, witness) in went.items():
        last = witness
        while last in went:
            last = went[last][1]
        gone[row] = Gone(layer, last, None if last == witness else witness)
    return gone
