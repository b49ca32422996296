"""The runs of tokens that two texts share, in time proportional to their lengths (and to the sorting of their windows).

A *window* is `least` tokens in a row. A run of at least `least` tokens is windows that both texts have, so it is enough
to walk over the windows of one text that the other has, too, and to begin a run where one holds a token that no run
covers yet. Then the two texts change places.
"""

from nearsame.kernels._jit import jit

__all__ = ["needed_runs", "shared_runs"]


@jit
def _cover(covered, start, end):
    for i in range(start, end):
        covered[i] = True


@jit
def shared_runs(a, b, firsts, lasts, places, least, tries, a_covered, b_covered, steps, count, runs):
    """Runs that cover, in `a`, every window that `b` has; returns (how many steps are left, how many runs there are).

    Of equal windows of b the one that is followed longest is taken, of the first `tries`. A run is as long as it can be
    as long as there are steps left: comparing a token that is covered already takes one. Afterwards runs end where
    covered tokens begin, so they still cover everything, in more and shorter pieces.

    Args:
        a: uint64, the tokens of one text.
        b: uint64, those of the other.
        firsts: int64, for each window of a, the first of its equals in places.
        lasts: int64, for each the place behind the last.
        places: int64: where the windows of b begin, equal ones together, ascending.
        least: tokens in a window.
        tries: equal windows that are looked at where a run begins.
        a_covered: bool[a.size]: the tokens that runs cover; filled.
        b_covered: bool[b.size], likewise.
        steps: how many covered tokens may be compared.
        count: runs that are there already.
        runs: int64[more than count, 3], filled from there: start in a, start in b, tokens.
    """
    gap = -1  # the last token without a run, of those up to the window's end
    for i in range(a.size + 1 - least):
        for k in range(i + least - 1 if i > 0 else 0, i + least):
            if not a_covered[k]:
                gap = k
        if gap < i or firsts[i] == lasts[i]:
            continue
        best, size = -1, 0
        for g in range(firsts[i], min(lasts[i], firsts[i] + (tries if steps > 0 else 1))):
            j = places[g]
            after = 0
            while i + after < a.size and j + after < b.size and a[i + after] == b[j + after]:
                if after >= least and a_covered[i + after]:
                    if steps <= 0:
                        break
                    steps -= 1
                after += 1
            if after > size:
                best, size = j, after
        if size < least:
            continue  # two windows of one hash that differ
        before = 0
        while before < min(i, best) and steps > 0 and a[i - before - 1] == b[best - before - 1]:
            before += 1
            steps -= 1
        runs[count, 0], runs[count, 1], runs[count, 2] = i - before, best - before, size + before
        count += 1
        _cover(a_covered, i - before, i + size)
        _cover(b_covered, best - before, best + size)
        gap = -1
    return steps, count


@jit
def _next(after, i):
    """The first token from i on that nothing covers yet; `after` becomes shorter on the way."""
    while after[i] != i:
        after[i] = after[after[i]]
        i = after[i]
    return i


@jit
def _fill(after, start, end):
    """Cover what is not covered; returns whether there was something."""
    i = _next(after, start)
    found = i < end
    while i < end:
        after[i] = i + 1
        i = _next(after, i)
    return found


@jit
def needed_runs(runs, a_after, b_after, needed):
    """Mark the runs that cover a token, in one of the texts, that those before them do not.

    Args:
        runs: int64[n, 3], in the order in which they are looked at.
        a_after: int64[tokens + 1], each its own place; used up.
        b_after: int64[tokens + 1], likewise.
        needed: bool[n], filled.
    """
    for r in range(runs.shape[0]):
        in_a = _fill(a_after, runs[r, 0], runs[r, 0] + runs[r, 2])
        in_b = _fill(b_after, runs[r, 1], runs[r, 1] + runs[r, 2])
        needed[r] = in_a or in_b
