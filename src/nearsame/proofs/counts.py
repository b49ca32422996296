"""The counts of stats.json, held to what was counted anew from the sources and to each other.

1. What follows from the sources or the tables is computed and must be equal.
2. What only says how much work the run had (keys, comparisons) cannot be computed here: it must fit the rest, and
   `unproven` names it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nearsame.proofs.claims import Claims
from nearsame.proofs.counting import Boilerplate
from nearsame.proofs.decided import Decided
from nearsame.proofs.settings import TEXTLESS
from nearsame.proofs.tally import Tally
from nearsame.proofs.verdict import Findings
from nearsame.recipes.methods import Method

__all__ = ["check_counts", "check_decisions", "unproven"]

_NAME = "stats.json"
_KEY_BYTES = 21  # of a key with its row, its place and a flag
_MOST_LARGEST = 5
_MOST_PAIRS = 2_000_000  # within a component; of one with more, a sample is measured
_WEAK = ("crc32", "bytesum")  # checksums beside which the text itself is compared
_FORGEABLE = ("md5", "sha1", "xxh3_128")  # beside which SHA-256 is
_WORDS = {"sha256": 4, "sha512": 8, "sha3_256": 4, "blake2b": 8, "md5": 2, "sha1": 3, "ripemd160": 3, "xxh3_128": 2}
_AUDITED = ("cosine", "jaccard")  # measures
_NEVER = ("notes", "room", "seconds", "thread_seconds", "versions")


def unproven(claims: Claims) -> tuple[str, ...]:
    """What of stats.json was held to the rest, and could not be counted again."""
    names = [*_NEVER, "ignored"]
    if not claims.method.by_equality:
        names += ["compared", "comparing", "keys", "meeting"]
    if claims.stats.get("audit") is not None:
        names.append("audit")
    if claims.stats.get("pages"):
        names.append("pages")
    if not _looked_at_all(claims):
        names += ["empty", "layers"]
    if claims.stats.get("component") is not None:
        names.append("component")
    if claims.stats.get("unread"):
        names += ["repeated_ids", "text_bytes"]
    if not _is_counted(claims.method):
        names += ["distinct", "features"]
    return tuple(sorted(names))


def check_counts(
    claims: Claims, tally: Tally, copies: tuple[int, int] | None, boilerplate: Boilerplate, findings: Findings
) -> None:
    """Report every count that is not so.

    Args:
        claims: What the output says.
        tally: What was counted.
        copies: Removed documents with the text of their witness, and others that the method removed; None: not known.
        boilerplate: What was counted of items in too many documents.
        findings: What does not hold.
    """
    stats = claims.stats
    wanted = {**_from_tables(claims), **_from_settings(claims)}
    if claims.is_whole:
        wanted |= _from_sources(claims, tally, boilerplate)
        wanted |= _copies(claims, copies)
        wanted |= {} if not _looked_at_all(claims) else _layers(claims, tally)
    for name, value in sorted(wanted.items()):
        if name in stats and stats[name] != value:
            findings.wrong(_NAME, f"{name} is {_shown(stats[name])}, and should be {_shown(value)}")
    findings.count("counts", len(wanted))
    findings.wrong_all(_NAME, _at_odds(stats, claims))
    findings.wrong_all(_NAME, _volumes(claims, tally, has_changed=findings.num_problems > 0))


def check_decisions(claims: Claims, decided: Decided, findings: Findings) -> None:
    """Report every count of decisions that is not so; those of methods that may miss pairs cannot all be known."""
    known = decided.counts(lambda key: claims.line(key) is not None)
    said = claims.stats.get("decisions", known)
    findings.count("counts", len(known))
    for name, value in known.items():
        if said.get(name) != value:
            findings.wrong(_NAME, f"decisions.{name} is {_shown(said.get(name))}, and should be {_shown(value)}")


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _is_counted(method: Method) -> bool:
    """Whether what documents are compared by is counted here, too: not codes, nor rounded vectors."""
    return method.tells_texts and method.get("algorithm") not in _WEAK


def _scale(method: Method) -> int:
    """Items of what is counted as one here: words of a digest, its length among them."""
    algorithm = method.get("algorithm")
    if algorithm is None:
        return 1
    return _WORDS[algorithm] + 1 + (_WORDS["sha256"] if algorithm in _FORGEABLE else 0)


def _has_digests(claims: Claims) -> bool:
    """Whether layers looked at the texts that are read here, and not at the bytes of pages."""
    return not claims.columns["html"] and all(part.is_own for part in claims.parts)


def _looked_at_all(claims: Claims) -> bool:
    """Whether layers knew of all documents if they have a text; else of those pages that they could bring together."""
    return _has_digests(claims) or bool({"index", "digest", "text"} & {*claims.recipe.get("use", ("text",))})


def _from_tables(claims: Claims) -> dict[str, Any]:
    """What follows from removed.parquet."""
    removed, stats = claims.removed, claims.stats
    sizes = Counter(zip(*(removed.column(name).to_pylist() for name in ("cluster", "witness_id")), strict=True))
    largest = sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0][0]))[:_MOST_LARGEST]
    expected: dict[str, Any] = {
        "removed": len(removed),
        "clusters": len(sizes),
        "largest": [[name, size + 1] for (_, name), size in largest],
        "evidence": {},
        "same_host": None,
        "cross_host": None,
    }
    if {"documents", "against"} <= stats.keys():
        expected["kept"] = stats["documents"] - stats["against"] - len(removed)
    if "evidence" in removed.column_names:
        expected["evidence"] = dict(Counter(removed.column("evidence").combine_chunks().flatten().to_pylist()))
        hosts = Counter(removed.column("same_host").to_pylist())
        expected |= {"same_host": hosts[True], "cross_host": hosts[False]}
    if claims.skips.number is not None:
        expected["skipped"] = claims.skips.number
    return expected


def _from_settings(claims: Claims) -> dict[str, Any]:
    expected: dict[str, Any] = {"measure": claims.method.reports, "least": float(claims.method.least)}
    expected["ignored"] = claims.ignored
    if "decisions" not in claims.recipe:
        expected["decisions"] = {}
    if claims.recipe["clusters"] == "greedy" or not len(claims.removed):
        expected |= {"component": None, "chained": 0}
    elif claims.stats.get("component") is not None:
        below = pc.less(claims.removed.column("similarity"), float(claims.method.least))
        expected["chained"] = pc.sum(below).as_py() or 0
    if claims.method.by_equality:
        expected |= {"keys": 0, "meeting": 0, "compared": 0, "comparing": {}}
    if claims.method.measure not in _AUDITED:
        expected["audit"] = None
    if all(part.is_own for part in claims.parts) and not claims.columns["html"]:
        expected["pages"] = {}
    sizes = [size for part in claims.parts for size, _ in part.stamps if part.form.reads != "nothing"]
    if None not in sizes and sizes:
        expected["bytes_read"] = sum(size for size in sizes if size is not None)
    return expected


def _from_sources(claims: Claims, tally: Tally, boilerplate: Boilerplate) -> dict[str, Any]:
    method, unread = claims.method, claims.stats.get("unread", 0)
    expected: dict[str, Any] = {"documents": tally.documents, "against": tally.against}
    expected |= boilerplate.counts()
    expected["emptied"] = tally.emptied
    if not method.of_vectors:  # of which those of zeros are empty, too
        expected["empty"] = tally.empty - _num_asked(claims)
        if not _looked_at_all(claims):  # of the others it is known only whether they have bytes
            expected["empty"] = min(expected["empty"], claims.stats.get("empty", 0))
    may_be_unread = method.by_equality and all(part.form.reads == "texts" for part in claims.parts)
    if not may_be_unread or method.get("normalise") or "use" in claims.recipe:
        expected["unread"] = unread = 0
    if not unread:  # the ids of files that were not read are not compared
        expected["repeated_ids"] = tally.ids.num_added - tally.ids.totals()[0]
    if tally.texts and not unread and _has_digests(claims):
        expected["text_bytes"] = tally.text_bytes
    if method.of_tokens:
        expected["bare"] = tally.bare
    distinct, sizes = tally.distinct.totals()
    features = distinct if method.by_equality else sizes
    is_compared = "text" in claims.recipe.get("use", ("text",))
    if not is_compared:
        expected["distinct"] = tally.documents - tally.gone
        features = tally.documents - tally.empty
    elif method.tells_texts:
        expected["distinct"] = distinct + tally.left_empty - unread
    if _is_counted(method) and (is_compared or _has_digests(claims)) and not unread:
        expected["features"] = _scale(method) * features
    return expected


def _num_asked(claims: Claims) -> int:
    """Documents of indexes that were asked: they have no texts here."""
    return sum(one["documents"] for one in claims.recipe.get("indexes", ()))


def _copies(claims: Claims, copies: tuple[int, int] | None) -> dict[str, int]:
    """How the removed documents fall into exact, near and other copies."""
    stats, names = claims.stats, ("exact_copies", "near_copies", "other_copies")
    if copies is not None:
        return dict(zip(names, (*copies, len(claims.removed) - sum(copies)), strict=True))
    return {"removed": sum(stats[name] for name in names)} if stats.keys() >= set(names) else {}


def _layers(claims: Claims, tally: Tally) -> dict[str, Any]:
    """What each layer of `use` did."""
    use = claims.recipe.get("use")
    if use is None:
        return {"layers": []}
    removed = claims.removed
    by_layer = Counter(removed.column("layer").to_pylist())
    via = [source is not None for source in removed.column("via_source").to_pylist()]
    inherited = Counter(removed.filter(pa.array(via, pa.bool_())).column("layer").to_pylist())
    layers, gone, gone_empty, asked = [], 0, 0, _num_asked(claims)
    for name in use:
        entered = tally.documents - asked - gone
        if name not in TEXTLESS and name != "text":
            entered -= tally.empty - asked - gone_empty
        counts = {"documents": entered, "removed": by_layer[name], "other_text": tally.other_texts[name]}
        layers.append({"layer": name, **counts, "inherited": inherited[name]})
        gone, gone_empty = gone + by_layer[name], gone_empty + tally.gone_empty[name]
    return {"layers": layers}


def _at_odds(stats: Mapping[str, Any], claims: Claims) -> Iterator[str]:
    """Counts of work that cannot be, besides the others."""
    get = stats.get
    met, keys, compared = get("meeting", 0), get("keys", 0), get("compared", 0)
    if met > get("distinct", met):
        yield f"meeting is {met:,}, and there are {get('distinct'):,} distinct documents"
    if met > keys:
        yield f"meeting is {met:,}, and there are {keys:,} keys"
    removed = claims.removed
    less = pc.less(removed.column("similarity"), 1.0)
    if "layer" in removed.column_names:
        less = pc.and_(less, pc.equal(removed.column("layer"), "text"))
    is_compared = bool(pc.any(less).as_py())
    if is_compared and not compared:
        yield "compared is 0, and documents were removed for others that are not their like"
    comparing = get("comparing") or {}
    steps = [comparing.get(name, compared) for name in ("left_by_places", "left_by_bits")]
    if steps[0] != compared or not 0 <= steps[1] <= steps[0] <= comparing.get("met", compared):
        yield f"compared is {compared:,}, and comparing {comparing}"
    most = met + len(stats.get("recipe", {}).get("decisions", ()))  # copies that were told apart are compared, too
    if compared > most * (most - 1):
        yield f"compared is {compared:,}, and {met:,} documents have met"
    yield from _component_problems(claims, is_joined=is_compared)


def _component_problems(claims: Claims, *, is_joined: bool) -> Iterator[str]:
    """What is wrong with the largest component, where documents go by chains of similar pairs."""
    component = claims.stats.get("component")
    if claims.recipe["clusters"] == "greedy" or "component" not in claims.stats:
        return
    if component is None:
        if is_joined:
            yield "component is missing, and documents were joined"
        return
    has_copies = claims.recipe.get("confirm") != "edit"  # else equal sets, too, are joined as pairs
    if not is_joined and has_copies and claims.method.reports == "jaccard":
        yield "component is given, though no documents were joined"
    size = component["distinct"]
    if component["pairs"] != size * (size - 1) // 2 or not size <= component["documents"]:
        yield f"component: {size:,} distinct documents of {component['documents']:,} make {component['pairs']:,} pairs"
    if not (component["pairs_measured"] == component["pairs"] or component["pairs"] > _MOST_PAIRS):
        yield f"component: of {component['pairs']:,} pairs {component['pairs_measured']:,} were measured"
    if not component["least_similarity"] <= 1 or component["bridges"] >= size or not component["number"]:
        yield f"component: {component} is impossible"


def _volumes(claims: Claims, tally: Tally, *, has_changed: bool) -> Iterator[str]:
    """What `bytes` says of steps, which the counts say, too; of files that are known to have changed, not how large."""
    volumes, stats = claims.stats.get("bytes"), claims.stats
    names = {"distinct", "documents", "features", "keys", "meeting", "unread", "kept"}
    if volumes is None or not names <= stats.keys():
        return
    rows = stats["documents"] - stats["unread"]
    leaders = stats["distinct"] + (tally.gone if claims.is_whole else 0)
    distinct = 8 * stats["features"]
    made = volumes.get("identical", {}).get("in")
    wanted: dict[str, dict[str, Any]] = {
        "features": {"documents": rows, "in": volumes.get("features", {}).get("in"), "out": made},
        "identical": {"documents": rows, "in": made, "out": distinct},
    }
    if not claims.method.by_equality:
        keys = _KEY_BYTES * stats["keys"]
        known = {} if claims.method.keys_of_sketches else {"in": distinct}
        wanted["keys"] = {"documents": leaders, **known, "out": keys}
        out = volumes.get("meeting", {}).get("out")
        wanted["meeting"] = {"documents": stats["meeting"], "in": keys, "out": out}
    if claims.is_whole and tally.texts and _has_digests(claims) and not stats["unread"]:
        wanted["features"]["in"] = (
            tally.left_bytes if "text" in claims.recipe.get("use", ("text",)) else tally.text_bytes
        )
    if claims.is_whole and _is_counted(claims.method) and not claims.method.by_equality:
        wanted["features"]["out"] = wanted["identical"]["in"] = 8 * tally.items
    documents = 0 if claims.has_mask else stats["documents"] if claims.written["annotate"] else stats["kept"]
    size = volumes.get("writing", {}).get("out") if has_changed else _num_bytes(claims.home)
    wanted["writing"] = {"documents": documents, "out": size}
    if volumes != wanted:
        for step in sorted({*volumes, *wanted}):
            if volumes.get(step) != wanted.get(step):
                yield f"bytes.{step} is {_shown(volumes.get(step))}, and should be {_shown(wanted.get(step))}"
    yield from _sizes(volumes, wanted)


def _sizes(volumes: Mapping[str, Mapping[str, int]], wanted: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What is not known here must be whole numbers of items, no more than there are."""
    out = volumes.get("meeting", {}).get("out", 0) if "meeting" in wanted else 0
    made, distinct = volumes.get("identical", {}).get("in", 0), volumes.get("identical", {}).get("out", 0)
    if out % 8 or made % 8 or made < distinct:
        yield f"bytes.meeting.out is {out:,}, bytes.identical.in {made:,} and out {distinct:,}, which is impossible"


def _num_bytes(home: Path) -> int:
    """Of all files but the one that says it, and the list of files that an output at an address has."""
    others = (home / _NAME, home / "_nearsame.json")
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file() and path not in others)
