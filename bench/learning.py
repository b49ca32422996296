"""Learning URL rules from pages that change between two fetches: how much is found, and how much of it is right.

1. Sites are made: on each, some parameters and rewritings never matter, some matter always, and one matters in one
   folder. A page's content changes with the given chance at each fetch; a share of the URLs is fetched twice.
2. Recall is of the pairs of URLs that the planted rules bring together, precision of the pairs that the learnt ones do;
   both by the contents before anything changed.
3. Work is counted: how many rules were held against how many URLs. Times are CPU seconds of this process.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import report
from _sites import crawl, quality

from nearsame.web.dust import learn_urls
from nearsame.web.learning import Learning

NAME = "learning"
PAGE = report.ROOT / "docs" / "web.md"
NOISES = (0.0, 0.01, 0.02, 0.05)
SHAPES = ((1, 60), (10, 6), (10, 50))  # hosts, and stories of each: ten URLs a story
HEADER = ("hosts x URLs", "pages that change", "recall", "precision", "rules", "CPU s")


def rows(shapes: Iterable[tuple[int, int]], noises: Iterable[float], seeds: int) -> Iterator[tuple[str, ...]]:
    """A row for each size and noise: the least of several runs."""
    for hosts, stories in shapes:
        for noise in noises:
            recalls, precisions, rules, seconds = [], [], [], []
            for seed in range(seeds):
                made, began = crawl(hosts, stories, noise, seed=seed), time.process_time()
                found = learn_urls(made.pages, cluster_column="content", learning=Learning())
                seconds.append(time.process_time() - began)
                recall, precision = quality(found, made)
                recalls.append(recall)
                precisions.append(precision)
                rules.append(len(found.rules))
            print(hosts, stories, noise, recalls, precisions, rules, seconds, file=sys.stderr)
            yield (
                f"{hosts} x {10 * stories}", f"{noise:.0%}", f"{min(recalls):.3f}", f"{min(precisions):.4f}",
                f"{max(rules)}", f"{max(seconds):.1f}",
            )  # fmt: skip


def main() -> None:
    """Learn at each noise, and show or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each; the worst is shown")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_args()
    found = list(rows(SHAPES, NOISES, given.seeds))
    report.show("Learnt rules under noise (the worst of several runs)", HEADER, found)
    if given.write:
        text = f"\n{report.markdown(HEADER, found)}\n\n{report.made_by(NAME, ('nearsame', 'can_ada'))}"
        report.write_between(Path(PAGE), NAME, text)


if __name__ == "__main__":
    main()
