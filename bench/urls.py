"""Merges of canonical URLs, drawn to be judged by a reader, and the table of the verdicts.

1. `draw FILE` takes crawled URLs that are in NEARSAME_DATA, and writes merges as lines: `COUNT` drawn by a fixed seed,
   all that no other library makes, and all whose pages others do not list as near-duplicates. A merge is a URL beside
   the first one that has its canonical form.
2. A reader writes `right`, `wrong` or `unsure` into the first column: whether whoever asks for the one URL is content
   with the page of the other, going by the URLs, the site, and whether others list both as near-duplicates.
3. `count FILE` makes the table for docs/web.md: by degree, and by the rules without which the two would be apart.
   The URLs themselves are never committed: they are others' data.
"""

import argparse
import csv
import gzip
import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import environments
import report

from nearsame.recipes.urls import DEGREES, CanonicalUrl
from nearsame.stages.keys.urls import Canonical

NAME = "urls"
PAGE = report.ROOT / "docs" / "web.md"
LIBRARIES = ["courlan==1.4.0", "ural==1.6.2", "url-normalize==3.1.0", "w3lib==2.5.0", "yarl==1.25.1"]
PACKAGES = ("nearsame", "can_ada")
RECIPE = CanonicalUrl(www=True)
COUNT, SEED = 200, 17
COLUMNS = ("verdict", "drawn", "alone", "degree", "rules", "listed", "url", "other")
VERDICTS = ("right", "wrong", "unsure")


class Page(NamedTuple):
    """A URL of the crawl."""

    url: str
    group: str  # of near-duplicates, by content; empty: in none


class Merge(NamedTuple):
    """Two URLs with one canonical form."""

    one: Page
    other: Page


def pages(data: Path) -> list[Page]:
    """The crawled URLs."""
    with gzip.open(data / "web" / "clueweb12-url-groups.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        return [Page(row["url"], row["group"]) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


def merges(found: Sequence[Page]) -> list[Merge]:
    """Each URL beside the first one with its canonical form."""
    form, first, made = Canonical(RECIPE), dict[str, Page](), list[Merge]()
    for page in found:
        one = first.setdefault(form(page.url), page)
        if one.url != page.url:
            made.append(Merge(one, page))
    return made


def needed(merge: Merge) -> tuple[str, ...]:
    """The rules without any of which the two would be apart; `several` where each could go alone."""
    form = Canonical(RECIPE)
    used = dict.fromkeys((*form.trace(merge.one.url).rules, *form.trace(merge.other.url).rules))
    apart = [rule for rule in used if len({Canonical(RECIPE.without(rule))(page.url) for page in merge}) > 1]
    return tuple(sorted(apart)) or ("several",) if used else ("normal form",)


def degree(merge: Merge) -> str:
    """The surest degree of rules by which the two are one."""
    forms = ((name, Canonical(RECIPE.at_most(name))) for name in DEGREES)
    return next(name for name, form in forms if form(merge.one.url) == form(merge.other.url))


def alone(found: Sequence[Merge], home: Path) -> list[bool]:
    """Which merges no other library makes."""
    python = environments.installed(LIBRARIES, home / NAME)
    script = str(report.ROOT / "bench" / "adapters" / "url_forms.py")
    urls = [page.url for merge in found for page in merge]
    done = subprocess.run([str(python), script], input="\n".join(urls), capture_output=True, text=True, check=True)
    forms = [json.loads(line) for line in done.stdout.splitlines()]
    pairs = zip(forms[::2], forms[1::2], strict=True)
    return [not any(a is not None and a == b for a, b in zip(*both, strict=True)) for both in pairs]


def draw(data: Path, out: Path, home: Path) -> None:
    """Write the merges that are to be judged."""
    found = merges(pages(data))
    chosen = set(random.Random(SEED).sample(range(len(found)), COUNT))
    with out.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, delimiter="\t")
        writer.writerow(COLUMNS)
        for number, (merge, is_alone) in enumerate(zip(found, alone(found, home), strict=True)):
            listed = merge.one.group == merge.other.group != ""
            if number in chosen or is_alone or not listed:
                facts = (number in chosen, is_alone, degree(merge), ",".join(needed(merge)), listed)
                writer.writerow(("", *facts, merge.one.url, merge.other.url))
    print(f"{out}: {len(found)} merges, {len(chosen)} of them drawn")


def table(rows: Sequence[dict[str, str]]) -> Iterator[tuple[str, ...]]:
    """A row for each sample and degree, and for each set of rules."""
    samples = (
        ("drawn at random", "drawn", "True"),
        ("made by no other library", "alone", "True"),
        ("not listed as near-duplicates", "listed", "False"),
    )
    for title, name, value in samples:
        some = [row for row in rows if row[name] == value]
        yield _counted(f"**{title}**", some)
        for one in DEGREES:
            if mine := [row for row in some if row["degree"] == one]:
                yield _counted(f"{one}", mine)
    groups = defaultdict[str, list[dict[str, str]]](list)
    for row in rows:
        groups[row["rules"]].append(row)
    yield _counted("**all that were read**", rows)
    for rules, mine in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield _counted(" ".join(f"`{rule}`" for rule in rules.split(",")), mine)


def _counted(title: str, rows: Sequence[dict[str, str]]) -> tuple[str, ...]:
    counts = Counter(row["verdict"] for row in rows)
    unknown = set(counts) - set(VERDICTS)
    if unknown:
        raise SystemExit(f"{', '.join(map(repr, unknown))}: the verdict is one of {', '.join(VERDICTS)}")
    listed = sum(row["listed"] == "True" for row in rows)
    return title, f"{len(rows)}", *(f"{counts[each]}" for each in VERDICTS), f"{listed}"


def count(file: Path, *, write: bool) -> None:
    """Count the verdicts of a reader."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    header, found = ("", "merges", *VERDICTS, "listed"), list(table(rows))
    report.show("Merges of canonical URLs", header, found)
    if write:
        libraries = ", ".join(" ".join(each.split("==")) for each in LIBRARIES)
        made_by = f"{report.made_by(NAME, PACKAGES)} Other libraries: {libraries}."
        report.write_between(PAGE, NAME, f"\n{report.markdown(header, found)}\n\n{made_by}")


def main() -> None:
    """Draw, or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "count"))
    parser.add_argument("file", type=Path, help="the lines that are to be judged, or were")
    parser.add_argument("--home", type=Path, default=environments.HOME, help="where the other libraries are installed")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_args()
    data = Path(os.environ.get("NEARSAME_DATA") or report.ROOT.parent / "shared" / "data")
    if given.what == "draw":
        draw(data, given.file, given.home)
    else:
        count(given.file, write=given.write)


if __name__ == "__main__":
    main()
