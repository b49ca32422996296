"""The engine of one machine: its threads."""

import threading

import pytest

import nearsame as ns
from nearsame.engines.local import Local


@pytest.mark.threaded
def test_ctrl_c_while_a_thread_starts_leaves_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process waits for its threads when it ends, and nobody else would end this one; the engine goes on."""
    started, start = [], threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        started.append(thread)
        if len(started) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    engine = Local(2)
    with pytest.raises(KeyboardInterrupt):
        list(engine.each([1, 2, 3], abs))
    started[0].join()
    assert [1, 2, 3] == list(engine.each([-1, 2, -3], abs))
    engine.close()


@pytest.mark.parametrize(("number", "words", "is_little"), [(64, 5, True), (65, 5, False), (2, 20_000, False)])
def test_little_is_done_by_whoever_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, number: int, words: int, is_little: bool
) -> None:
    """No thread is started for it; the answer is the same."""
    started, start = [], threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    texts = [" ".join(f"w{at}-{word % (at % 7 + 5)}" for word in range(words)) for at in range(number - 1)]
    found = ns.dedup([*texts, texts[0]], threads=2)
    assert (number, 1) == (found.stats.documents, found.stats.removed)
    assert is_little == (not started)
