"""Opening: how large reports are, and how soon a browser shows one and follows the query and the slider.

1. Debian's chromium, without a window; each page is opened from disk by a process of its own, so nothing is warm.
2. A page is shown when its first text is painted, and ready when its list of pairs stands; both from the start of the
   navigation. The query and the slider are timed from the event to the frame after it: the slowest of several is told.
3. A page that asks for anything, or says anything in the console, fails the run.
"""

import argparse
import random
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import corpus
import limit
import report
from playwright.sync_api import sync_playwright

import nearsame as ns
from nearsame.demo import corpus_path

PAGE = report.ROOT / "docs" / "report.md"
PACKAGES = ("nearsame", "jinja2", "playwright")
HEADER = ("", "pairs", "MB", "shown, ms", "ready, ms", "query, ms", "slider, ms")
MADE_BYTES = 200_000_000
GROUPS, COPIES, WORDS = 1_000, 46, 40  # 1,035 pairs each
QUERIES = ("a", "e -q", ">.9", "<=.85 1", "id:7", "kind:edits", "no-such-word", "")
TIMED = """async ([queries]) => {
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const took = async (id, value) => {
    const box = document.getElementById(id), began = performance.now();
    box.value = value;
    box.dispatchEvent(new Event("input"));
    await frame();
    return performance.now() - began;
  };
  const slider = document.getElementById("threshold"), times = { query: 0, slider: 0 };
  await frame();
  for (const text of queries) times.query = Math.max(times.query, await took("query", text));
  for (let step = 0; slider && step <= +slider.max; step += 1) {
    times.slider = Math.max(times.slider, await took("threshold", step));
  }
  return times;
}"""
READY = """() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done({
  shown: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now(),
  ready: performance.now(),
}))))"""


class Opened(NamedTuple):
    """What a browser took, in milliseconds."""

    shown: float
    ready: float
    query: float
    slider: float


def many_pairs() -> Iterator[dict[str, str]]:
    """Documents of which a million pairs are similar, over a range of similarity."""
    chance = random.Random(1)
    for group in range(GROUPS):
        words = [f"w{chance.randrange(1 << 30):x}" for _ in range(WORDS)]
        for copy in range(COPIES):
            places = set(chance.sample(range(WORDS), copy % 5))
            text = " ".join(
                f"q{chance.randrange(1 << 30):x}" if at in places else word for at, word in enumerate(words)
            )
            yield {"id": f"{group}-{copy}", "text": text}


def bundled(_: Path) -> Any:
    """Of the corpus that nearsame demo has."""
    return ns.dedup(str(corpus_path()), audit=True)


def made(folder: Path) -> Any:
    """Of 100,000 made documents."""
    corpus.write(folder / "made.parquet", MADE_BYTES)
    return ns.dedup(str(folder / "made.parquet"), method=ns.Jaccard(threshold="0.5"))


def a_million(_: Path) -> Any:
    """Of a million pairs."""
    return ns.pairs(list(many_pairs()), method=ns.Jaccard(threshold="0.6", shingle_size=1))


REPORTS: dict[str, Callable[[Path], Any]] = {
    "the bundled corpus": bundled,
    "100,000 made documents": made,
    "a million pairs": a_million,
}


def opened(playwright: Any, page: Path) -> Opened:
    """A page in a browser that has just started."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
    try:
        tab, odd = browser.new_page(viewport={"width": 1280, "height": 900}), list[str]()
        tab.on("console", lambda message: odd.append(message.text))
        tab.on("pageerror", lambda error: odd.append(str(error)))
        tab.on("request", lambda request: None if request.url == page.as_uri() else odd.append(request.url))
        tab.goto(page.as_uri())
        first, then = tab.evaluate(READY), tab.evaluate(TIMED, [list(QUERIES)])
        if odd:
            raise SystemExit(f"{page.name}: {odd[0]}")
        return Opened(first["shown"], first["ready"], then["query"], then["slider"])
    finally:
        browser.close()


def row(name: str, found: Any, folder: Path, repeats: int) -> tuple[str, ...]:
    """Of one report."""
    page = folder / "report.html"
    told = ns.report(found)
    ns.write_report(told, page, overwrite=True)
    with sync_playwright() as playwright:
        runs = [opened(playwright, page) for _ in range(repeats)]
    times = (f"{statistics.median(values):,.0f}" for values in zip(*runs, strict=True))
    listed = f"{told.num_pairs:,}" + (f", {len(told.pairs):,} listed" if told.leaves_out else "")
    return (name, listed, f"{page.stat().st_size / 1e6:.2f}", *times)


def main(given: Sequence[str]) -> int:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench opening", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-write", action="store_true", help="only print")
    settings = parser.parse_args(given)
    with limit.working_folder(None) as folder:
        rows = [row(name, find(folder), folder, settings.repeats) for name, find in REPORTS.items()]
    about = (
        f"Medians of {settings.repeats} openings in a chromium that has just started; of queries and steps of the "
        "slider the slowest."
    )
    page = None if settings.no_write else PAGE
    report.tell(page, "opening", ("Reports in a browser", HEADER, rows), about, PACKAGES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
