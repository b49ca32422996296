"""What benchmarks write: tables on the terminal, and tables between markers in a page, with the machine that made them.

1. A page has `<!-- bench NAME -->` and `<!-- end NAME -->` on lines of their own; what is between them is a script's.
2. A table never goes without the machine, the versions and the commit.
"""

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent

_MOST_COLUMNS = 250  # of a table: figures are never cut, however narrow the terminal

Row = Sequence[str]


def processor() -> str:
    """The processor's name, as the system has it."""
    file = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", file.read_text("utf-8"), re.MULTILINE) if file.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def memory_bytes() -> int:
    """How much memory the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def commit(root: Path = ROOT) -> str:
    """The commit that is checked out, and whether the package or the benchmarks have changed since."""
    head = _git(root, "rev-parse", "--short", "HEAD")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src", "bench")
    return f"{head}, with changes" if changed else head


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)  # noqa: S607  (git is where it is)
    return done.stdout.strip() or ("" if done.returncode == 0 else "no commit")


def made_by(script: str, packages: Iterable[str]) -> str:
    """The line below a table."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    processors, memory = len(os.sched_getaffinity(0)), f"{memory_bytes() / 1e9:.0f} GB"
    return (
        f"Made by `scripts/bench {script}` on {datetime.now(UTC):%Y-%m-%d} at commit {commit()}: {processor()}, "
        f"{processors} processors, {memory}; Python {platform.python_version()}, {versions}."
    )


def show(title: str, header: Row, rows: Iterable[Row]) -> None:
    """Print a table, as wide as it is; the first column is text, the others are numbers."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    needed = console.measure(table, options=console.options.update(max_width=_MOST_COLUMNS)).maximum
    console.width = max(console.width, needed)
    console.print(table)


def markdown(header: Row, rows: Iterable[Row]) -> str:
    """The same table for a page."""
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, marks, *rows))


def has_place(page: Path, name: str) -> bool:
    """Whether a page has markers of this name."""
    return page.exists() and _place(name).search(page.read_text("utf-8")) is not None


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text between the markers of this name, in the place of what stands there."""
    old = page.read_text("utf-8")
    if not _place(name).search(old):
        raise SystemExit(
            f"{page.name} has no <!-- bench {name} --> and <!-- end {name} -->: add them where the table goes"
        )
    new = _place(name).sub(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", old)
    page.write_text(new, "utf-8")


def tell(
    page: Path | None, name: str, table: tuple[str, Row, Sequence[Row]], about: str, packages: Iterable[str]
) -> None:
    """Print a table (title, header, rows), what is said of it and what made it; write it where a page has a place."""
    title, header, rows = table
    made = made_by(name, packages)
    show(title, header, rows)
    print(f"{about}\n\n{made}")
    if page is not None and has_place(page, name):
        write_between(page, name, "\n\n".join([about, markdown(header, rows), made]))


def _place(name: str) -> re.Pattern[str]:
    escaped = re.escape(name)
    return re.compile(rf"^(<!-- bench {escaped} -->\n).*?^(<!-- end {escaped} -->)$", re.MULTILINE | re.DOTALL)
