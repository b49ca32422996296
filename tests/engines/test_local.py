"""The engine of one machine: its threads."""

import threading

import pytest

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
