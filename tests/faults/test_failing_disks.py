"""The Nth call to the file system fails, or the process is killed in it, for every N: nothing lost, nothing half there.

The default suite takes a sample of the calls; `scripts/test -m long tests/faults` takes them all.
"""

import pytest

from .disks import CASES, QUICK, hidden, some, tree


def judge(bench, answer, states, where):
    """What must be so after a call has failed."""
    (old, new, sources), found = states, bench.found()
    assert sources == tree(bench.home / "in"), f"{where}: a source was touched"
    assert answer["status"] in (0, 2, 3), f"{where}: {answer}"
    assert "Traceback" not in answer["said"], f"{where}: {answer['said']}"
    assert "unexpected" not in answer["said"], f"{where}: {answer['said']}"
    if answer["status"] == 0:
        assert new == found, f"{where}: done, and the output is not there"
    else:
        assert answer["said"].startswith("error: "), f"{where}: {answer['said']}"
        assert found in (old, new), f"{where}: neither the old output nor the new one: {answer['said']}"
    assert [] == hidden(bench.home), f"{where}: something was left behind"


def each_failure(bench, mode, chosen):
    """Fail, and judge, call after call."""
    bench.reset()
    old = bench.found()
    sources = tree(bench.home / "in")
    counted = bench.run("count", 0)
    assert 0 == counted["status"], counted
    new = bench.found()
    assert old != new
    assert counted["calls"] > 3
    for nth in chosen(counted["calls"]):
        bench.reset()
        answer = bench.run(mode, nth)
        if mode == "kill":
            judge_kill(bench, answer, (old, new, sources), f"kill at call {nth} of {counted['calls']}")
        else:
            judge(bench, answer, (old, new, sources), f"{mode} from call {nth} of {counted['calls']}")


def judge_kill(bench, answer, states, where):
    """What must be so after a kill, and after the next run."""
    old, new, sources = states
    assert answer["status"] in (-9, 0), f"{where}: {answer}"
    assert bench.found() in (old, new), f"{where}: neither the old output nor the new one"
    again = bench.run("count", 0)
    assert 0 == again["status"], f"{where}: {again}"
    assert new == bench.found(), f"{where}: the next run does not give the output"
    assert [] == hidden(bench.home), f"{where}: the next run leaves something behind"
    assert sources == tree(bench.home / "in")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fail", "full", "kill"])
@pytest.mark.parametrize(
    "bench", [case for case in CASES if case.name in QUICK], indirect=True, ids=lambda case: case.name
)
def test_some_calls(bench, mode):
    """One call fails; the disk is full from a call on; the process is killed in a call."""
    each_failure(bench, mode, some)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mode", ["fail", "full", "kill"])
def test_every_call(bench, mode):
    """The same for every command with an output, and all calls."""
    each_failure(bench, mode, lambda calls: range(1, calls + 1))
