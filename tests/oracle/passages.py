"""What two token lists share, by trying every place: all maximal common runs, and what they cover."""

from collections.abc import Sequence

__all__ = ["common_runs", "covered"]


def common_runs(a: Sequence[object], b: Sequence[object], least: int) -> list[tuple[int, int, int]]:
    """(start in a, start in b, length) of every run of at least `least` that can be extended at neither end."""
    found = []
    for i in range(len(a)):
        for j in range(len(b)):
            if i and j and a[i - 1] == b[j - 1]:
                continue
            length = 0
            while i + length < len(a) and j + length < len(b) and a[i + length] == b[j + length]:
                length += 1
            if length >= least:
                found.append((i, j, length))
    return found


def covered(runs: Sequence[tuple[int, int, int]]) -> tuple[set[int], set[int]]:
    """The places in a and in b that some run covers."""
    in_a = {i + n for i, _, length in runs for n in range(length)}
    return in_a, {j + n for _, j, length in runs for n in range(length)}
