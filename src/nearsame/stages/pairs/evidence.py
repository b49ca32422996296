"""What suggests that two pages are the same: their bytes and texts, their URLs, and what they say of themselves.

1. A kind holds between the two documents of a pair, or it does not; several may hold. `KINDS` are in the order of what
   they prove: the first ones are about the content, the later ones are somebody's word.
2. Nothing is null-safe by accident: an unknown URL is the same as no other.
3. URLs come in their canonical form; what that is, is not known here.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Mask

__all__ = ["KINDS", "LEAST_MIRRORED", "LISTS", "hosts", "kinds", "mirrored", "named", "paths", "same"]

KINDS = (
    "bytes", "text", "revisit", "near", "url-standard", "url-usual", "url-guess", "redirect", "canonical", "mirror",
)  # fmt: skip
LISTS = pa.list_(pa.string())
LEAST_MIRRORED = 3  # paths that two hosts must both serve with the same or similar content


_PARTS = r"^(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?(?P<host>\[[^\]]*\]|[^/:?#]*)(?::[0-9]*)?(?P<path>[^#]*)"


def same(a: pa.Array, b: pa.Array) -> Mask:
    """Whether a[i] and b[i] are known and equal.

    Example:
        >>> same(pa.array(["u", None, "u"]), pa.array(["u", None, "v"])).tolist()
        [True, False, False]
    """
    return np.asarray(computing.equal(a, b).fill_null(False))


def named(target: pa.Array, url: pa.Array, other_target: pa.Array, other_url: pa.Array) -> Mask:
    """Whether one names the other (as where it redirects to, or as its canonical URL), or both name the same.

    Example:
        >>> u, v = pa.array(["u"]), pa.array(["v"])
        >>> named(v, u, pa.nulls(1, pa.string()), v).tolist()
        [True]
    """
    return same(target, other_url) | same(url, other_target) | same(target, other_target)


def hosts(urls: pa.Array) -> pa.Array:
    """The host of each URL, in small letters; null where there is none.

    Example:
        >>> hosts(pa.array(["http://u@A.org:80/x?y", "x"])).to_pylist()
        ['a.org', None]
    """
    names = computing.utf8_lower(computing.struct_field(computing.extract_regex(urls, _PARTS), "host"))
    return computing.if_else(computing.equal(names, ""), pa.scalar(None, names.type), names)


def paths(urls: pa.Array) -> pa.Array:
    """What follows the host, up to the fragment; null where there is no host.

    Example:
        >>> paths(pa.array(["http://a.org/x?y#z"])).to_pylist()
        ['/x?y']
    """
    return computing.struct_field(computing.extract_regex(urls, _PARTS), "path")


def mirrored(a: pa.Array, b: pa.Array, least: int = LEAST_MIRRORED) -> Mask:
    """Of pairs of documents that are duplicates: which stand at one path on two hosts that share `least` such paths.

    Args:
        a: the URL of one document of each pair.
        b: that of the other.
        least: different paths at which the two hosts have duplicates.
    """
    host, other, path = hosts(a), hosts(b), paths(a)
    candidate = same(path, paths(b)) & np.asarray(computing.not_equal(host, other).fill_null(False))
    mask = pa.array(candidate)
    ordered = computing.less(host, other)
    two = [computing.if_else(ordered, host, other), computing.if_else(ordered, other, host)]
    table = pa.table({"one": two[0], "two": two[1], "path": path, "at": np.arange(len(a))}).filter(mask)
    counted = table.group_by(["one", "two"]).aggregate([("path", "count_distinct")])
    enough = counted.filter(computing.greater_equal(counted["path_count_distinct"], least))
    is_mirror = np.zeros(len(a), np.bool_)
    is_mirror[table.join(enough, ["one", "two"], join_type="left semi").column("at").to_numpy()] = True
    return is_mirror


def kinds(holds: Mapping[str, Mask]) -> pa.Array:
    """For each pair the list of the kinds that hold, in the order of `KINDS`.

    Example:
        >>> kinds({"url-usual": np.array([True, False]), "bytes": np.array([True, False])}).to_pylist()
        [['bytes', 'url-usual'], []]
    """
    names = [kind for kind in KINDS if kind in holds]
    matrix = np.column_stack([holds[kind] for kind in names])
    offsets = np.zeros(len(matrix) + 1, np.int32)
    np.cumsum(matrix.sum(axis=1), out=offsets[1:])
    values = pa.array(names, pa.string()).take(pa.array(np.nonzero(matrix)[1]))
    return pa.ListArray.from_arrays(pa.array(offsets), values)
