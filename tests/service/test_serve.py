"""`nearsame serve` as a process: where it listens, how it ends, and what it has written by then."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from nearsame.cli.main import commands
from nearsame.index.index import Index
from nearsame.installation import install_command
from nearsame.recipes.methods import MinHash
from nearsame.service import lookups
from tests.patience import PATIENCE, eventually

READ, WRITE = "r" * 32, "w" * 32
ANYWHERE = "0.0.0.0"  # noqa: S104  (what is tested is that it is refused, or secured)


@pytest.fixture
def index(tmp_path):
    """A new index."""
    path = tmp_path / "seen.ns"
    Index.create(path, method=MinHash(shingle_size=1), store="text").close()
    return path


def command(*arguments):
    """What a user types."""
    return [sys.executable, "-m", "nearsame", "serve", *map(str, arguments)]


class Process:
    """A running `nearsame serve`."""

    def __init__(self, run, url):
        self.run = run
        self.url = url

    def stop(self, number=signal.SIGTERM):
        """Send a signal; the exit code and the log."""
        self.run.send_signal(number)
        _, log = self.run.communicate(timeout=PATIENCE)
        return self.run.returncode, log


@contextmanager
def served(index, *arguments):
    """Start it, wait for its address, end it."""
    line = command(index, "--port", 0, *arguments)
    run = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert select.select([run.stdout], [], [], PATIENCE)[0]
        said = run.stdout.readline()
        assert "http://" in said, run.communicate(timeout=PATIENCE)
        yield Process(run, re.search(r"http://\S+", said)[0])
    finally:
        run.kill()
        run.communicate()


def refused(index, *arguments):
    """What it says when it doesn't start."""
    done = subprocess.run(command(index, *arguments), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def refused_here(index, *arguments):
    """The same of what is found before anything listens, without a process of its own."""
    done = CliRunner().invoke(commands, ["serve", str(index), *map(str, arguments)])
    assert done.exit_code in {2, 3}
    return done.stderr


def test_it_listens_on_this_machine_alone_unless_secured(index, tmp_path):
    """Elsewhere only with tokens, or when it is told that everybody may."""
    code, said = refused(index, "--host", ANYWHERE, "--port", 0)
    assert 2 == code
    assert f"--host {ANYWHERE} can be reached from other machines" in said
    assert "--token-file" in said
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {READ}\n", "utf-8")
    tokens.chmod(0o644)
    with served(index, "--host", ANYWHERE, "--token-file", tokens) as process:
        url = process.url.replace(ANYWHERE, "127.0.0.1")
        assert 401 == httpx.get(f"{url}/stats", timeout=PATIENCE).status_code
        assert "chmod 600" in process.stop()[1]
    with served(index, "--host", ANYWHERE, "--insecure") as process:
        url = process.url.replace(ANYWHERE, "127.0.0.1")
        assert 200 == httpx.get(f"{url}/stats", timeout=PATIENCE).status_code


@pytest.mark.slow
def test_what_cannot_be_is_said_in_a_line(index, tmp_path):
    """A port in use, a host that is not, tokens that are none, an index that is none, sizes that are none."""
    with served(index) as process:
        port = process.url.rpartition(":")[2]
        assert f"port {port}" in refused(index, "--port", port)[1]
    assert "nowhere.invalid" in refused(index, "--host", "nowhere.invalid")[1]
    assert "tokens" in refused_here(index, "--token-file", tmp_path / "tokens")
    assert "missing.ns" in refused_here(tmp_path / "missing.ns")
    assert "10 metres" in refused_here(index, "--max-body", "10 metres")
    assert "soon" in refused_here(index, "--timeout", "soon")


@pytest.mark.parametrize("option", ["--timeout", "--max-body", "--memory", "--max-batch"])
def test_bounds_have_bounds(index, option):
    """What no clock and no number holds is refused before anything listens, and not at the end."""
    for value in ("1" + "0" * 20, "9" * 400, "9" * 5000):
        assert f"Invalid value for '{option}'" in refused_here(index, option, value)


def test_a_day_is_time_enough(index):
    """The system's own alarm, which ends what does not end, can be set to it."""
    assert "86401s' is more than a day, 86400s" in refused_here(index, "--timeout", "86401s")
    with served(index, "--timeout", "1440min") as process:
        assert 0 == process.stop()[0]


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "python_multipart"])
def test_a_missing_package_says_its_install_line(index, package, monkeypatch):
    """Before anything is opened."""
    monkeypatch.setattr("nearsame.cli.serve.find_spec", lambda name: None if name == package else name)
    done = CliRunner().invoke(commands, ["serve", str(index)])
    assert 2 == done.exit_code
    assert package in done.stderr
    assert install_command("serve") in done.stderr


@pytest.mark.parametrize("store", ["sketch", "shingles", "text"])
def test_an_index_of_given_bands_can_be_served(tmp_path, store):
    """What a service does first is compare two texts, by its recipe."""
    with Index.create(tmp_path / "seen.ns", method=MinHash(bands=20, rows=5), store=store) as index:
        index.add(["one two three four five six", "one two three four five six seven"])
        lookups.warm_up(index)


def test_the_address_may_be_of_version_6(index):
    """It is printed so that it can be clicked on."""
    with served(index, "--host", "::1") as process:
        assert process.url.startswith("http://[::1]:")
        assert 200 == httpx.get(f"{process.url}/readyz", timeout=PATIENCE).status_code


def test_tokens_are_read_again_on_sighup(index, tmp_path):
    """A new one is valid, an old one is not; a file that is wrong changes nothing."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {READ}\n", "utf-8")
    with served(index, "--token-file", tokens) as process:

        def status(token):
            headers = {"Authorization": f"Bearer {token}"}
            return httpx.get(f"{process.url}/stats", headers=headers, timeout=PATIENCE).status_code

        assert (200, 401) == (status(READ), status(WRITE))
        for text, expected in ((f"read {WRITE}\n", (401, 200)), ("nonsense\n", (401, 200))):
            tokens.write_text(text, "utf-8")
            process.run.send_signal(signal.SIGHUP)
            eventually(lambda: expected == (status(READ), status(WRITE)), 0.05)  # noqa: B023  (called in the loop)
        assert "the tokens read before stay valid" in process.stop()[1]


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (signal.SIGHUP, "unauthorized"),
        (signal.SIGTERM, "stopping"),
        pytest.param(None, "stopping", marks=pytest.mark.slow),
    ],
)
def test_a_stream_ends_with_its_token_and_with_the_service(index, tmp_path, ending, code):
    """In a last line that says why; also one of which nothing comes any more. What was answered is stored."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {READ}\nwrite {WRITE}\n", "utf-8")
    with served(index, "--token-file", tokens) as process:
        address = httpx.URL(process.url)
        with socket.create_connection((address.host, address.port), PATIENCE) as client, client.makefile("rb") as lines:

            def send(name):
                line = json.dumps({"id": name, "text": f"{name} alpha beta gamma delta"}).encode() + b"\n"
                client.sendall(b"%x\r\n%s\r\n" % (len(line), line))

            head = f"POST /documents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRITE}\r\n"
            kind = "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
            client.sendall(f"{head}{kind}".encode())
            send("one")
            while b'"added"' not in (line := lines.readline()):
                assert line
            tokens.write_text(f"read {READ}\n", "utf-8")
            process.run.send_signal(ending or signal.SIGTERM)
            if ending:
                with suppress(OSError):  # it may have ended before
                    for number in range(10_000):
                        send(f"more {number}")
                        time.sleep(0.01)
                        if select.select([client], [], [], 0)[0] and b'"done"' in client.recv(1 << 20, socket.MSG_PEEK):
                            break
            while b'"done"' not in (line := lines.readline()):
                assert line
            last = json.loads(line)
        assert (False, code) == (last["done"], last["error"]["code"])
        exit_code = process.stop()[0]
        assert not ending or exit_code == 0
    with Index.open(index, read_only=True) as found:
        assert "one" in set(found.ids())


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_graceful_stop_loses_nothing(index, number):
    """Under load: exit code 0, and every document that was acknowledged is in the index, as a whole."""
    acknowledged, refusals, stop = set(), [], threading.Event()

    def client(name):
        with httpx.Client(timeout=PATIENCE, trust_env=False) as session:
            for turn in range(10_000):
                id = f"{name}-{turn}"
                document = {"id": id, "text": " ".join(f"{id}{letter}" for letter in "abcdefgh")}
                try:
                    answer = session.post(f"{process.url}/documents", json=document)
                except httpx.TransportError:
                    return
                if answer.status_code == 200:
                    acknowledged.add(id)
                else:
                    refusals.append(answer.status_code)
                if stop.is_set():
                    return

    with served(index) as process:
        threads = [threading.Thread(target=client, args=(f"c{number}",)) for number in range(12)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) >= 150)
        code, log = process.stop(number)
        stop.set()
        for thread in threads:
            thread.join()
    assert 0 == code
    assert '"event":"stopped"' in log
    assert {503} >= set(refusals)
    assert len(acknowledged) >= 150
    with Index.open(index, read_only=True) as reopened:
        assert [] == reopened.check()
        found = set(reopened.ids())
        assert set() == acknowledged - found
        assert len(found) - len(acknowledged) <= 12  # at most one of each client, written as the connection ended


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="memory is read from /proc")
def test_a_flood_of_bodies_takes_no_memory(index):
    """Requests that never end are bounded together; the process stays small and answers."""
    with served(index, "--memory", "20MB", "--max-body", "10MB", "--timeout", "5s", "--no-request-log") as process:
        httpx.post(f"{process.url}/query", json={"text": "warm"}, timeout=PATIENCE)
        before = resident(process.run.pid)
        statuses = []

        def flood():
            def endless():
                for _ in range(200):
                    yield b"x" * 100_000

            try:
                answer = httpx.post(
                    f"{process.url}/query", content=endless(), headers={"Content-Type": "text/plain"}, timeout=PATIENCE
                )
            except httpx.TransportError:
                statuses.append(0)
            else:
                statuses.append(answer.status_code)

        threads = [threading.Thread(target=flood) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {0, 413, 429} >= set(statuses)
        assert {413, 429} & set(statuses)
        assert resident(process.run.pid) - before < 120_000_000
        assert 200 == httpx.get(f"{process.url}/healthz", timeout=PATIENCE).status_code


def resident(pid):
    """Bytes of memory that a process has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_who_asks_twice_for_the_end_makes_no_failure_of_it(index, number):
    """Also where the second signal comes as Python ends, and has taken its own handlers away."""
    line = [sys.executable, "-c", _TWICE.format(number=int(number)), "serve", str(index), "--port", "0"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (0, True) == (done.returncode, '"stopped"' in done.stderr), done.stderr


_TWICE = """
import os, signal, sys
from nearsame.cli.main import main
from nearsame.service import server

class Last:
    def __del__(self, kill=os.kill, us=os.getpid(), number={number}):
        kill(us, number)

def announce(*_):
    os.kill(os.getpid(), signal.SIGTERM)

server._announce = announce
sys.last = Last()  # goes last of all
main()
"""


def test_a_hangup_breaks_into_nothing(index, tmp_path):
    """Whatever the service does when it comes, such as to write a line of the log: the loop reads the tokens later."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {READ}\n", "utf-8")
    script = _WITHIN_A_LINE.format(index=str(index), tokens=str(tokens))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert 0 == done.returncode, done.stderr
    events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    assert "stopped" == events[-1]
    assert 2 <= events.count("tokens")


_WITHIN_A_LINE = """
import os, signal, sys
from nearsame.index.index import Index
from nearsame.service.logs import Log
from nearsame.service import server
from nearsame.service.settings import Settings

class Stream:
    inside, first = False, True

    def write(self, line):
        assert not self.inside, "a line within a line"
        self.inside = True
        os.kill(os.getpid(), signal.SIGHUP)
        for _ in range(1000):  # where Python looks for signals
            pass
        self.inside = False
        sys.stdout.write(line)
        if '"tokens"' in line:
            os.kill(os.getpid(), signal.SIGHUP if self.first else signal.SIGTERM)
            self.first = False

    def flush(self):
        pass

settings = Settings(token_file={tokens!r}, port=0)
opener = lambda *, read_only: Index.open({index!r}, read_only=read_only)
server.serve(opener, "test", settings, say=lambda address: None, log=Log(Stream()))
"""
