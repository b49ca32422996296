"""A file of each released format of the index, and what it answers: made by scripts/make-index-file, kept for ever.

1. The texts are made up here, and few. They are short and long, equal and nearly equal, in several scripts, and empty.
2. A file is never made again: what an older version wrote is what counts.
"""

import json
import sys
from pathlib import Path
from typing import Any

import nearsame as ns
from nearsame.stores.base import FORMAT

__all__ = ["FOLDER", "answers"]

FOLDER = Path(__file__).parent / "formats"
_METHODS = ["minhash", "simhash", "digest", "url"]
_LINE = "The ferry leaves the old harbour at nine, passes the lighthouse, and is back before the rain begins to fall."
_TEXTS = (
    _LINE,
    _LINE.replace("nine", "ten"),
    _LINE.upper(),
    f"{_LINE} {_LINE.replace('ferry', 'boat')} On Sundays there is none.",
    f"{_LINE} {_LINE.replace('ferry', 'boat')} On Sundays there are none.",
    "Der Fluß fließt unter der Brücke hindurch, und am Ufer sitzen die Angler und reden über das Wetter von gestern.",
    "\u6e21\u8239\u304c\u53e4\u3044\u6e2f\u3092\u51fa\u3066\u3001\u706f\u53f0\u306e\u524d\u3092\u901a\u308b\u3002",
    "... !",
    "",
)


def answers(index: ns.Index) -> dict[str, Any]:
    """What an index of these texts says."""
    where = {"where": "lang=en"} if index.stats().columns else {}
    return {
        "ids": list(index.ids()),
        "documents": [index.get(id_).record() for id_ in index.ids()],
        "clusters": [group.record() for group in index.clusters()],
        "queries": [[match.record() for match in index.query(text)] for text in _TEXTS],
        "chosen": [[match.record() for match in index.query(text, **where)] for text in _TEXTS],
        "url": [match.id for match in index.query({"text": "", "url": "https://EXAMPLE.org/1?utm_source=x"})],
    }


def make(place: Path) -> None:
    """An index with a past, in a file without a log."""
    with ns.Index.create(place, method=_METHODS, store="text", keep_columns=["lang", "year"]) as index:
        for number, text in enumerate(_TEXTS):
            columns = {"lang": ("en", "de", None)[number % 3], "year": 2020 + number}
            index.add({"id": f"id-{number}", "url": f"https://example.org/{number}", "text": text, **columns})
        index.remove("id-0")
        index.add({"id": "id-7", "url": "https://example.org/7", "text": _TEXTS[3]}, replace=True)
        found = answers(index)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    place.with_suffix(".json").write_text(text, encoding="utf-8")


def main() -> int:
    """Make the file of this format, unless it is there."""
    place = FOLDER / f"format-{FORMAT}-columns.ns"  # a first one of format 3 is older than columns are
    if place.exists():
        sys.stderr.write(f"{place} is there, and is kept as it is\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    make(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
