"""Ctrl-C at each line of the stores: what was open stays usable, holds up nobody, and changes are whole or not made."""

import sys
from pathlib import Path

import pytest

import nearsame as ns
from nearsame import stores

FOLDER = str(Path(stores.__file__).parent)
TEXTS = [f"text {n} of {n * n} words that nobody else has {n * 7}" for n in range(4)]


class Interrupting:
    """Raises a KeyboardInterrupt before the nth line of a module of the stores that is run."""

    def __init__(self, nth):
        self.left = nth

    def __call__(self, frame, event, _argument):
        """A frame, or a line of one."""
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self

    def within(self, work):
        """Whether some work was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


@pytest.mark.parametrize("what", ["add", "query", "remove"])
def test_an_interrupt_leaves_an_index_as_it_was_or_changed(place, what):
    """Wherever it comes."""
    with ns.Index.create(place) as index, ns.Index.open(place, timeout_seconds=60) as other:
        index.add([{"id": f"{n}", "text": text} for n, text in enumerate(TEXTS)])
        nth, interrupted = 0, True
        while interrupted:
            nth += 1
            index.add({"id": "x", "text": "what goes"}) if what == "remove" else index.remove("x")
            work = {
                "add": lambda: index.add({"id": "x", "text": "what comes"}),
                "remove": lambda: index.remove("x"),
                "query": lambda: index.query(TEXTS[0]),
            }[what]
            interrupted = Interrupting(nth).within(work)
            assert ["0"] == [match.id for match in index.query(TEXTS[0])], f"line {nth}"
            assert other.add({"id": "other", "text": "what another one says"})[0].added, f"line {nth}"
            other.remove("other")
            assert list(index.ids()) == list(other.ids())
            assert {"0", "1", "2", "3"} == {*index.ids()} - {"x"}
        assert nth > 20
        assert [] == index.check()
