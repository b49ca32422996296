"""Winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003), and the runs that two texts share."""

from nearsame.kernels._jit import jit

__all__ = ["shared_runs", "winnow"]


@jit
def winnow(hashes, window, chosen):
    """The positions of the least hash of each window, the last of equals, each once; returns their number.

    A window that is all in two texts is the same in both, so they share its choice. Fewer hashes than a window are one
    window. Of hashes that are evenly spread it takes 2 of window + 1.

    Args:
        hashes: uint64, in the order of the text.
        window: hashes in a window, at least 1.
        chosen: int64[hashes.size], filled, ascending.
    """
    count = 0
    least = -1
    for end in range(min(window, hashes.size), hashes.size + 1):
        start = max(0, end - window)
        if least < start or least < 0:
            least = start
            for i in range(start, end):
                if hashes[i] <= hashes[least]:
                    least = i
        elif hashes[end - 1] <= hashes[least]:
            least = end - 1
        if hashes.size > 0 and (count == 0 or chosen[count - 1] != least):
            chosen[count] = least
            count += 1
    return count


@jit
def _cover(covered, start, end):
    """Cover the places from start to end; returns how many were not covered before."""
    new = 0
    for i in range(start, end):
        if not covered[i]:
            covered[i] = True
            new += 1
    return new


@jit
def shared_runs(a, b, a_places, firsts, lasts, b_places, least, a_covered, b_covered, reached, runs):
    """Maximal common runs of at least `least` tokens that pass through a shared fingerprint; returns their number.

    A run that adds no token to what others cover, on either side, is left out: two texts of one repeated line would
    have a run for each pair of lines. Time is that of comparing the tokens around each pair of equal fingerprints; each
    pair of tokens is compared once, so it is at worst the product of the lengths (a line repeated throughout both, and
    something else in each).

    Args:
        a: uint64, the tokens of one text.
        b: uint64, those of the other.
        a_places: int64, ascending: where the fingerprints of a stand.
        firsts: int64, for each the first of its equals in b_places.
        lasts: int64, for each the place behind the last.
        b_places: int64: where the fingerprints of b stand, equal ones together.
        least: tokens in a run.
        a_covered: bool[a.size], all false; filled.
        b_covered: bool[b.size], likewise.
        reached: int64[a.size + b.size], zeros: how far each diagonal has been compared.
        runs: int64[a.size + b.size + 1, 3], filled: start in a, start in b, tokens.
    """
    count = 0
    left = a.size + b.size
    for f in range(a_places.size):
        i = a_places[f]
        for g in range(firsts[f], lasts[f]):
            j = b_places[g]
            diagonal = i - j + b.size
            if reached[diagonal] > i:
                continue
            before = 0
            while before < min(i, j) and a[i - before - 1] == b[j - before - 1]:
                before += 1
            after = 0
            while i + after < a.size and j + after < b.size and a[i + after] == b[j + after]:
                after += 1
            reached[diagonal] = i + after
            size = before + after
            x, y = i - before, j - before
            new = _cover(a_covered, x, x + size) + _cover(b_covered, y, y + size) if size >= least else 0
            if new == 0:
                continue
            left -= new
            runs[count, 0], runs[count, 1], runs[count, 2] = x, y, size
            count += 1
            if left == 0:  # every token is covered: no other run can add one
                return count
    return count
