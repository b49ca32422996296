"""A run that was killed, or had no room left, goes on where it was, and ends as if nothing had happened."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.disks import fill, small_disk
from tests.patience import PATIENCE

from .commands import words

NEARSAME = Path(sys.executable).with_name("nearsame")
TIMINGS = ("seconds", "thread_seconds")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Thirty files of many documents, so thirty batches; every third document is an edited copy of an earlier one."""
    home = tmp_path_factory.mktemp("corpus")
    chance = random.Random(3)
    made: list[list[str]] = []
    for number in range(30):
        lines = []
        for _ in range(260):
            text = words(60, chance.randrange(1 << 30))
            if made and chance.random() < 1 / 3:
                text = [*chance.choice(made)]
                text[chance.randrange(60)] = "edited"
            made.append(text)
            lines.append(json.dumps({"text": " ".join(text)}) + "\n")
        (home / f"{number:02d}.jsonl").write_text("".join(lines), "utf-8")
    return home


def command(corpus: Path, home: Path) -> list[object]:
    """The command whose work directory and output are in a folder."""
    return [NEARSAME, "dedup", corpus, "-o", home / "out", "--workdir", home / "work", "--pairs", "--memory", "1GB"]


def contents(home: Path) -> dict[str, object]:
    """What the output folder holds, byte by byte; of stats.json all but timings."""
    found: dict[str, object] = {}
    for path in sorted((home / "out").rglob("*")):
        if path.is_file():
            found[path.relative_to(home).as_posix()] = path.read_bytes()
    stats = json.loads(found.pop("out/stats.json"))
    return {**found, "stats": {name: value for name, value in stats.items() if name not in TIMINGS}}


def run(arguments: list[object]) -> subprocess.CompletedProcess[str]:
    """The command to its end."""
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=PATIENCE)


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory):
    """What a run leaves that nobody disturbs, and how many seconds it takes."""
    home = tmp_path_factory.mktemp("undisturbed")
    run(command(corpus, tmp_path_factory.mktemp("warm")))  # compiles what has to be
    began = time.monotonic()
    done = run(command(corpus, home))
    assert (0, []) == (done.returncode, [*home.glob("work/*.tmp"), *home.glob(".*")])
    return contents(home), time.monotonic() - began


def moment(chance: random.Random, seconds: float, home: Path, *, early: bool):
    """A moment to wait for: a time, or an event that is over in no time; then a little more.

    An early one comes while most is still to be done, however fast the machine is.
    """
    kind = "batch" if early else chance.choice(["time", "time", "batch", "half", "step", "out"])
    least = 1 if early else chance.randrange(1, 30)
    wait = chance.uniform(0.2, 1) * seconds
    events = {
        "time": lambda: False,
        "batch": lambda: len([*home.glob("work/features/*.arrow")]) >= least,
        "half": lambda: any(home.glob("work/features/*.tmp")),
        "step": lambda: any(home.glob("work/*.tmp")),
        "out": lambda: any(home.glob(".out.*")),
    }
    until = time.monotonic() + (PATIENCE if early else wait if kind == "time" else seconds + 1)
    while time.monotonic() < until and not events[kind]():
        yield
    time.sleep(chance.choice([0, 0.001, 0.01]))


def kill_and_continue(corpus, home, chance, seconds, kills):
    """Run, kill, and run again, so many times, then to the end: how many were killed before it."""
    killed = 0
    for turn in range(kills):
        with subprocess.Popen(command(corpus, home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            for _ in moment(chance, seconds, home, early=turn == 0):
                if process.poll() is not None:
                    break
                time.sleep(0.0005)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        if (home / "out").exists():
            shutil.rmtree(home / "out")  # it was quicker than the signal
            if chance.random() < 0.5:
                shutil.rmtree(home / "work")
    done = run(command(corpus, home))
    assert (0, "") == (done.returncode, "\n".join(line for line in done.stderr.splitlines() if "error" in line))
    return killed


@pytest.mark.parametrize(
    ("seed", "kills"),
    [(1, 5), pytest.param(2, 20, marks=pytest.mark.slow), pytest.param(3, 60, marks=pytest.mark.long)],
)
@pytest.mark.timeout(900)
def test_a_run_that_is_killed_again_and_again_ends_the_same(seed, kills, corpus, undisturbed, tmp_path):
    """At moments drawn by chance, in the midst of writing among them."""
    expected, seconds = undisturbed
    killed = kill_and_continue(corpus, tmp_path, random.Random(seed), seconds, kills)
    assert expected == contents(tmp_path)
    assert killed > 0
    assert [] == [*tmp_path.glob("work/*.tmp"), *tmp_path.glob("work/*/*.tmp"), *tmp_path.glob("work/.nearsame-*")]


def run_with_the_disk_filled(corpus: Path, home: Path, when: str) -> tuple[int, str]:
    """The exit code and what was said, the disk being filled as soon as something is there."""
    with subprocess.Popen(
        command(corpus, home), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        while process.poll() is None and not any(home.glob(when)):
            time.sleep(0.001)
        process.send_signal(signal.SIGSTOP)
        try:
            fill(home)
            process.send_signal(signal.SIGCONT)
            said = process.communicate(timeout=PATIENCE)[1]
        except BaseException:
            process.kill()  # else leaving the block waits for a stopped process
            raise
    return process.returncode, said


@pytest.mark.parametrize("when", ["work/features/00000003.arrow", "work/identical", ".out.*/new/kept"])
def test_a_disk_that_fills_is_an_error_and_with_more_room_the_run_goes_on(when, corpus, undisturbed, tmp_path):
    """While features are put away, while documents are brought together, while the output is written."""
    with small_disk(tmp_path / "disk", "64M") as home:
        code, said = run_with_the_disk_filled(corpus, home, when)
        assert (2, False) == (code, "Traceback" in said)
        assert "No space left on device" in said
        assert "bytes free)" in said
        assert "hint: " in said
        assert ["ballast", "work"] == sorted(path.name for path in home.iterdir())
        (home / "ballast").unlink()
        assert 0 == run(command(corpus, home)).returncode
        assert undisturbed[0] == contents(home)


def test_too_small_a_disk_is_said_before_anything_is_read(corpus, undisturbed, tmp_path):
    """With both numbers; after it has grown the same command goes on."""
    with small_disk(tmp_path / "disk", "1M") as home:
        done = run(command(corpus, home))
        assert 2 == done.returncode
        assert "bytes will have to be stored in" in done.stderr
        assert [] == [*home.glob("work/features/*")]
        assert 0 == run(["mount", "-o", "remount,size=64M", home]).returncode
        assert 0 == run(command(corpus, home)).returncode
        assert undisturbed[0] == contents(home)


def test_a_second_process_in_the_same_work_directory_is_refused_at_once(corpus, tmp_path):
    """With the number of the first, and a clear hint."""
    with subprocess.Popen(command(corpus, tmp_path), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as first:
        while first.poll() is None and not any(tmp_path.glob("work/features/*")):
            time.sleep(0.001)
        first.send_signal(signal.SIGSTOP)
        try:
            second = run([*command(corpus, tmp_path)[:4], tmp_path / "other", *command(corpus, tmp_path)[5:]])
        finally:
            first.send_signal(signal.SIGKILL)
    assert 2 == second.returncode
    assert f"error: {tmp_path / 'work'} is in use by process {first.pid}" in second.stderr
    assert 0 == run(command(corpus, tmp_path)).returncode


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_ended_leaves_no_spilled_files(number, status, corpus, tmp_path):
    """The folder in the system's place for temporary files goes, too."""
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    code = "import nearsame.engines.space as s; s.Space.free_bytes = 0; import nearsame.cli.main as m; m.main()"
    arguments = [sys.executable, "-c", code, "dedup", corpus, "-o", tmp_path / "out", "-q"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment) as process:
        while process.poll() is None and not any((tmp_path / "temporary").glob(".nearsame-*/*")):
            time.sleep(0.001)
        process.send_signal(number)
        said = process.communicate(timeout=PATIENCE)[1]
    assert (status, "") == (process.returncode, said.strip())
    assert [] == list((tmp_path / "temporary").iterdir())
