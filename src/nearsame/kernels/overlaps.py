"""How much chosen pairs of sets have in common, with no threshold; and texts compared character by character."""

from nearsame.kernels._jit import jit
from nearsame.kernels.sets import intersect_sorted

__all__ = ["compare_characters", "count_shared"]


@jit
def count_shared(items, offsets, a, b, out):
    """The number of items that documents a[i] and b[i] share.

    Args:
        items: uint64, ascending within a document.
        offsets: int64; document d has items[offsets[d]:offsets[d + 1]].
        a: int64, documents.
        b: int64, as many.
        out: int64; filled.
    """
    for i in range(a.size):
        x, y = a[i], b[i]
        out[i] = intersect_sorted(items, offsets[x], offsets[x + 1], offsets[y], offsets[y + 1], 0)


@jit
def compare_characters(data, offsets, leaders):
    """Give each text the first one that equals it, by comparing it with every different text before it.

    Args:
        data: uint8; text i is data[offsets[i]:offsets[i + 1]].
        offsets: int64.
        leaders: int64; filled with the first equal text, or the text itself. An empty text equals none.

    Returns:
        How many comparisons began. Their number grows with the square of the number of texts.
    """
    compared = 0
    for i in range(leaders.size):
        leaders[i] = i
        length = offsets[i + 1] - offsets[i]
        if length == 0:
            continue
        for j in range(i):
            other = offsets[j + 1] - offsets[j]
            if leaders[j] != j or other == 0:
                continue
            compared += 1
            at = 0
            while at < length and at < other and data[offsets[i] + at] == data[offsets[j] + at]:
                at += 1
            if at == length and at == other:
                leaders[i] = j
                break
    return compared
