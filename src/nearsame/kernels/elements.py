"""The open elements of a page, as parsers keep them: which one an end tag ends, and what it cannot reach.

1. An end tag ends the last open element of its name; others that began since stay open.
2. It reaches none beyond a table, an object, a list of options or the like (a scope). A scope ends with all in it.
"""

import numpy as np

from nearsame.kernels._jit import jit

__all__ = [
    "FACTOR",
    "MASK",
    "MATH",
    "NUM_SLOTS",
    "SELECT",
    "SVG",
    "TABLE",
    "begin",
    "draws",
    "finish",
    "hash_of",
    "listed",
]

NUM_SLOTS = 4096  # of names
FACTOR, MASK = 1_000_003, (1 << 40) - 1  # names of one hash are not to be found by trying


def hash_of(name: bytes) -> int:
    """The hash of a name in small letters, as kernels make it."""
    value = 0
    for byte in name:
        value = (value * FACTOR + byte) & MASK
    return value


_SCOPE_NAMES = (  # an end tag within does not end what began before
    b"annotation-xml applet desc foreignobject marquee mi mn mo ms mtext object select table template"
)
_SCOPES = np.array(sorted(map(hash_of, _SCOPE_NAMES.split())), np.int64)
_SCOPES.flags.writeable = False
TABLE, _TEMPLATE = hash_of(b"table") % NUM_SLOTS, hash_of(b"template") % NUM_SLOTS
SVG, MATH, SELECT = (hash_of(name) % NUM_SLOTS for name in (b"svg", b"math", b"select"))


@jit
def listed(names, value):
    """Whether a value is one of int64 names, sorted."""
    at = np.searchsorted(names, value)
    return at < names.size and names[at] == value


@jit
def begin(opened, stack, open_now, name):
    """Open an element.

    Args:
        opened: int32[NUM_SLOTS], per name the place of the last open element, from 1; 0 if none is.
        stack: int64[elements, 3]: hash of the name (-1: ended), the place before in `opened`, and that of the scope.
        open_now: int64[3]: the height of the stack, how many of it are open, the place of the innermost scope.
        name: The hash.
    """
    slot, height = name % NUM_SLOTS, open_now[0]
    stack[height, 0] = name
    stack[height, 1] = opened[slot]
    stack[height, 2] = open_now[2]
    open_now[0] += 1
    open_now[1] += 1
    opened[slot] = height + 1
    if listed(_SCOPES, name):
        open_now[2] = height + 1


@jit
def draws(opened, open_now):
    """Whether a drawing or a formula is open, and nothing in it that holds a page's elements."""
    return max(opened[SVG], opened[MATH]) > open_now[2]


@jit
def finish(opened, stack, open_now, name):
    """End the last open element of a name, as parsers do; whether it ends. A scope ends with all that is in it."""
    slot = name % NUM_SLOTS
    at = opened[slot]
    if at == 0 or stack[at - 1, 0] != name:
        return False
    reaches = slot == _TEMPLATE or (slot == TABLE and at > opened[_TEMPLATE])
    if at < open_now[2] and not reaches:
        return False
    is_scope = listed(_SCOPES, name)
    while open_now[0] > (at - 1 if is_scope else open_now[0]):
        _drop_top(opened, stack, open_now)
    if not is_scope:
        opened[slot] = stack[at - 1, 1]
        stack[at - 1, 0] = -1
        open_now[1] -= 1
    while open_now[0] and stack[open_now[0] - 1, 0] == -1:
        open_now[0] -= 1
    return True


@jit
def _drop_top(opened, stack, open_now):
    open_now[0] -= 1
    name = stack[open_now[0], 0]
    if name >= 0:
        opened[name % NUM_SLOTS] = stack[open_now[0], 1]
        open_now[1] -= 1
        open_now[2] = stack[open_now[0], 2]
