"""MinHash signatures, fast and classic, and the bands cut from them."""

import numpy as np

from samesame.kernels._jit import jit
from samesame.kernels.mixing import finish, mix

__all__ = ["band_keys", "classic_sketch", "fast_sketch"]

_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW16 = np.uint64(0xFFFF)
_S16, _S48 = np.uint64(16), np.uint64(48)
_PRIME = np.uint64((1 << 61) - 1)
_S61, _S3 = np.uint64(61), np.uint64(3)
_K1 = np.uint64(0xD1B54A32D192ED03)
_K2 = np.uint64(0x8CB92BA72F3D8DD7)


@jit
def _offer(signature, bin_, value):
    """Keep the lesser value; 1 if the bin was empty."""
    old = signature[bin_]
    if value < old:
        signature[bin_] = value
    return np.int64(old == _EMPTY)


@jit
def fast_sketch(items, starts, ends, seeds, out):
    """Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, arXiv 1704.04370).

    In round i < m each item goes to a bin chosen by some bits of h_i(x), with the value (i, other bits); in rounds
    m ≤ i < 2m each item is offered to bin i - m; it stops after the round that leaves no bin empty. The least value
    of a bin stays, so a sketch of a union is the element-wise minimum of sketches. For n ≥ m ln m one round does.

    Args:
        items: uint64 (order and repeats do not matter).
        starts: int64[n], where each set begins.
        ends: int64[n], where it ends.
        seeds: uint64[2m], one for each round.
        out: uint64[n, m]; filled. An empty set leaves all ones.
    """
    m = out.shape[1]
    bins = np.uint64(m)
    for s in range(starts.size):
        signature = out[s]
        signature[:] = _EMPTY
        start, end = starts[s], ends[s]
        empty = m if end > start else 0
        for i in range(2 * m):
            if empty == 0:
                break
            rank = np.uint64(i) << _S48
            for j in range(start, end):
                h = finish(items[j] ^ seeds[i])
                bin_ = np.int64(((h & _LOW16) * bins) >> _S16) if i < m else i - m
                empty -= _offer(signature, bin_, rank | (h >> _S16))


@jit
def classic_sketch(items, starts, ends, multipliers, increments, out):
    """The textbook's: the least of (a·x + b) mod (2**61 - 1) for each of m random (a, b); out as in `fast_sketch`."""
    m = out.shape[1]
    for s in range(starts.size):
        signature = out[s]
        signature[:] = _EMPTY
        for j in range(starts[s], ends[s]):
            x = items[j] >> _S3  # below the prime
            for i in range(m):
                h = _multiply_mod(multipliers[i], x) + increments[i]
                h = h - _PRIME if h >= _PRIME else h
                signature[i] = min(signature[i], h)


@jit
def _multiply_mod(a, x):
    """a·x mod 2**61 - 1 for a, x below it."""
    low = a * x
    folded = mix(a, x) ^ low  # the high half of the product
    h = (low & _PRIME) + ((folded << _S3) | (low >> _S61))
    return h - _PRIME if h >= _PRIME else h


@jit
def band_keys(signatures, rows, chosen, keys, key_rows):
    """One key for each band of each signature.

    Args:
        signatures: uint64[n, m].
        rows: int64[n].
        chosen: int64[bands, r], which values make up each band.
        keys: uint64[n · bands], filled; the number of the band is hashed in.
        key_rows: int64, filled.
    """
    filled = 0
    for i in range(rows.size):
        for band in range(chosen.shape[0]):
            h = mix(np.uint64(band + 1) * _K1, _K2)
            for j in range(chosen.shape[1]):
                h = mix(h ^ signatures[i, chosen[band, j]], _K1)
            keys[filled] = finish(h)
            key_rows[filled] = rows[i]
            filled += 1
