"""The open elements of a page, against a list of them that is searched from its end."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.elements import (
    FACTOR,
    MASK,
    MATH,
    NUM_SLOTS,
    SELECT,
    SVG,
    TABLE,
    begin,
    draws,
    finish,
    hash_of,
    listed,
)

SCOPE_NAMES = "annotation-xml applet desc foreignobject marquee mi mn mo ms mtext object select table template"
SCOPES = frozenset(SCOPE_NAMES.split())
OTHERS = ("svg", "math", "div", "b", "title")
NAMES = st.sampled_from([*sorted(SCOPES), *["table", "template", "select", "object"] * 4, *OTHERS * 5])
TAGS = st.lists(st.tuples(st.booleans(), NAMES), max_size=40)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1])
CANARY = 0x5A5A5A5A5A5A5A5A


class _Page:
    """The kernels' view of a page, with room for no more elements than begin in it."""

    def __init__(self, most):
        self.opened = np.zeros(NUM_SLOTS, np.int32)
        self._stack = np.full((most + 2, 3), CANARY, np.int64)
        self.stack, self.behind = self._stack[:most], self._stack[most:]
        self.open_now = np.zeros(3, np.int64)

    def begin(self, name):
        begin(self.opened, self.stack, self.open_now, name)

    def finish(self, name):
        return bool(finish(self.opened, self.stack, self.open_now, name))

    def draws(self):
        return bool(draws(self.opened, self.open_now))


def _finish(elements, name):
    """End an element of a list of the open ones, as the rules of the module say; whether it ends."""
    if name not in elements:
        return False
    at = len(elements) - 1 - elements[::-1].index(name)
    inner = elements[at + 1 :]
    beyond_scopes = name == "template" or (name == "table" and "template" not in inner)
    if SCOPES.intersection(inner) and not beyond_scopes:
        return False
    if name in SCOPES:
        del elements[at:]
    else:
        del elements[at]
    return True


def _draws(elements):
    """Whether a drawing or a formula began behind the innermost scope."""
    scopes = [at for at, name in enumerate(elements) if name in SCOPES]
    return bool({"svg", "math"}.intersection(elements[scopes[-1] + 1 if scopes else 0 :]))


@pytest.mark.slow
@given(TAGS)
@example([(True, "table"), (True, "template"), (True, "b"), (False, "table"), (False, "template"), (False, "table")])
@example([(True, "template"), (True, "table"), (True, "object"), (False, "table"), (False, "template")])
@example([(True, "b"), (True, "div"), (True, "b"), (False, "div"), (False, "b"), (False, "b"), (False, "b")])
@example([(True, "b"), (True, "select"), (False, "b"), (False, "select"), (False, "b")])
@example([(True, "svg"), (True, "foreignobject"), (True, "math"), (False, "foreignobject"), (False, "svg")])
@example([(True, "b"), (True, "object"), (True, "select"), (False, "select"), (False, "b"), (False, "object")])
@example([(True, "b"), (True, "object"), (True, "div"), (True, "b"), (False, "div"), (False, "object"), (False, "b")])
def test_tags_open_and_end_what_a_list_says(tags):
    """Which end tags end something, how many elements are open after each, and whether a drawing is."""
    page, elements = _Page(sum(begins for begins, _ in tags)), []
    for begins, name in tags:
        if begins:
            elements.append(name)
            page.begin(hash_of(name.encode()))
        else:
            assert _finish(elements, name) == page.finish(hash_of(name.encode()))
        assert (len(elements), _draws(elements)) == (page.open_now[1], page.draws())
        assert {name: name in elements for name in OTHERS} == {
            name: page.opened[hash_of(name.encode()) % NUM_SLOTS] > 0 for name in OTHERS
        }
        assert bool(elements) == (page.open_now[0] > 0)
    assert {CANARY} == set(page.behind.ravel().tolist())


@pytest.mark.parametrize("name", sorted(SCOPES))
def test_an_end_tag_does_not_reach_beyond_a_scope(name):
    """Of each name that makes one; what began within it is ended by its own end tag and with the scope."""
    page, outer, inner = _Page(4), hash_of(b"div"), hash_of(b"b")
    for each in (outer, hash_of(name.encode()), inner, inner):
        page.begin(each)
    assert not page.finish(outer)
    assert page.finish(inner)
    assert 3 == page.open_now[1]
    assert page.finish(hash_of(name.encode()))
    assert 1 == page.open_now[1]
    assert page.finish(outer)


@given(TAGS)
def test_what_was_begun_can_be_ended_from_the_inside_out(tags):
    """Then nothing is open, and the page is as it was at first."""
    page = _Page(len(tags))
    for _, name in tags:
        page.begin(hash_of(name.encode()))
    for _, name in reversed(tags):
        assert page.finish(hash_of(name.encode()))
    assert [0, 0, 0] == page.open_now.tolist()
    assert not page.opened.any()


def test_an_end_tag_of_another_name_ends_nothing():
    """Not where nothing is open, nor where the last element of its slot has another name."""
    page, name = _Page(2), hash_of(b"div")
    assert not page.finish(name)
    page.begin(name)
    assert not page.finish((name + NUM_SLOTS) & MASK)
    assert not page.finish(hash_of(b"b"))
    assert 1 == page.open_now[1]
    assert page.finish(name)


def test_elements_that_ended_give_their_room_back():
    """A thousand elements one after the other take the room of one."""
    page = _Page(2)
    for _ in range(1000):
        page.begin(hash_of(b"div"))
        page.begin(hash_of(b"b"))
        assert page.finish(hash_of(b"div"))
        assert page.finish(hash_of(b"b"))
    assert [0, 0, 0] == page.open_now.tolist()


def test_the_slots_that_kernels_know_are_those_of_their_names():
    """And no two of the names of these tests share one."""
    slots = {name: hash_of(name.encode()) % NUM_SLOTS for name in sorted(SCOPES.union(OTHERS))}
    assert (slots["svg"], slots["math"], slots["select"], slots["table"]) == (SVG, MATH, SELECT, TABLE)
    assert len(slots) == len(set(slots.values()))


@given(st.binary(max_size=300) | st.binary(max_size=4))
@example(b"")
@example(b"\0")
@example(b"\xff" * 300)
def test_the_hash_of_a_name_is_a_polynomial(name):
    """Of its bytes, the last one first, in 40 bits."""
    assert sum(byte * FACTOR**power for power, byte in enumerate(reversed(name))) % 2**40 == hash_of(name)


@given(st.lists(st.integers(0, 9) | NUMBERS, max_size=12), st.integers(-1, 10) | NUMBERS)
@example([], 0)
@example([2**63 - 1], 2**63 - 1)
def test_what_is_listed_is_in_the_list(values, value):
    """Of int64 numbers in ascending order, repeated or not, or of none."""
    assert (value in values) == bool(listed(frozen(np.array(sorted(values), np.int64)), value))
