"""A PostgreSQL server of the tests' own: made in a temporary folder, on a free loopback port, gone at the end.

1. Nothing of the machine's own servers is touched: other folder, other port, other socket folder, own password.
2. PostgreSQL refuses to run as root, so there it runs as the user that Debian's package has made for it.
3. Nothing is forced to the disk unless a test is about that: `durable=True`.
"""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["Server", "programs"]

_USER = "postgres"
_ATTEMPTS = 5  # another process may take the port that was free


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, of the newest version; None where PostgreSQL is not installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    found = versions[-1] if versions else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Server:
    """One server: its database is `postgres`, its user too; each schema is another world."""

    def __init__(self, *, durable: bool = False, programs_in: Path | None = None) -> None:
        folder = programs_in or programs()
        assert folder is not None
        self.programs = folder
        self.home = Path(tempfile.mkdtemp(prefix="nearsame-pg-"))
        self.password = secrets.token_hex(12)
        self.port = 0
        self.durable = durable
        try:
            self._create()
            self.start()
        except BaseException:
            self.close()
            raise

    def url(self, schema: str | None = None, *, password: str | None = None) -> str:
        """Where it is."""
        place = f"postgresql://{_USER}:{password or self.password}@127.0.0.1:{self.port}/postgres"
        return place if schema is None else f"{place}?schema={schema}"

    def start(self) -> None:
        """Start it, and wait until it answers; once it had a port, on the same."""
        attempts = 1 if self.port else _ATTEMPTS
        for last in (False,) * (attempts - 1) + (True,):
            port = self.port or _free_port()
            settings = f"-p {port} -k {self.home} -c listen_addresses=127.0.0.1"
            if self._run("pg_ctl", "-l", self.home / "log", "-w", "-t", 60, "-o", settings, "start", check=last) == 0:
                self.port = port
                return

    def stop(self, *, crash: bool = False) -> None:
        """Stop it; `crash` as if the power were cut, so that the next start recovers from the log."""
        self._run("pg_ctl", "-w", "-m", "immediate" if crash else "fast", "stop", check=crash)

    def close(self) -> None:
        """Stop it, and take away what it wrote."""
        if (self.home / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-w", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """What a statement gives, in a connection of its own."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            found = connection.execute(statement)  # type: ignore[call-overload]
            return list(found) if found.description else []

    def _create(self) -> None:
        secret = self.home / "password"
        secret.write_text(self.password, "utf-8")
        if os.getuid() == 0:
            shutil.chown(self.home, _USER, _USER)
            shutil.chown(secret, _USER, _USER)
        options = ("-U", _USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-locale", "--no-sync")
        self._run("initdb", *options)
        settings = ["shared_buffers = 64MB", "max_connections = 60", "timezone = UTC"]
        if not self.durable:
            settings += ["fsync = off", "synchronous_commit = off", "full_page_writes = off"]
        with (self.home / "data" / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("\n".join(settings) + "\n")

    def _run(self, program: str, *arguments: object, check: bool = True) -> int:
        """Run one of PostgreSQL's programs as the user that may; its words are shown if it fails."""
        account: dict[str, Any] = {"user": _USER, "group": _USER, "extra_groups": []} if os.getuid() == 0 else {}
        command = [str(self.programs / program), "-D", str(self.home / "data"), *map(str, arguments)]
        said = self.home / f"{program}.said"  # no pipe: the server would keep it open after pg_ctl has ended
        with said.open("wb") as out:
            run = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home, check=False, **account
            )
        if check and run.returncode:
            log = self.home / "log"
            words = said.read_text("utf-8", "replace") + (log.read_text("utf-8", "replace") if log.exists() else "")
            raise RuntimeError(f"{program} ended with {run.returncode}:\n{words[-4000:]}")
        return run.returncode


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
