"""What a run promises of its answer, and what was measured of it, in words.

1. A promise is about documents that were read: where none were, nothing is promised.
2. What was measured is called what it is: a share of pairs or of documents, with its interval.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from nearsame.answers.stats import Stats
from nearsame.recipes.methods import METHODS
from nearsame.recipes.promises import Asked, known, promise
from nearsame.shares import counted, cut, exactly, plural

__all__ = [
    "below",
    "component",
    "condition",
    "content",
    "dropped",
    "guarantee",
    "in_bytes",
    "measured",
    "near",
    "shuffled",
]

_WORDS = {"url", "redirect", "canonical", "revisit"}  # layers that go by what is said, not by what is there


def guarantee(stats: Stats) -> str:
    """What a run promises about its result, in words; nothing where no document was read."""
    if not stats.documents:
        return ""
    groups = stats.recipe.get("group_by")
    within = f" All of it holds within each group of one {groups}: no others were compared." if groups else ""
    return (_layered(stats) if stats.layers else _promised(stats)) + within


def _promised(stats: Stats) -> str:
    linked = stats.component is not None
    decided = stats.decisions.get("both_kept", 0)
    across = stats.against > sum(known["documents"] for known in stats.recipe.get("indexes", ()))
    asked = Asked(stats.measure, stats.least, across=across, linked=linked, decided=decided)
    return promise(stats.recipe, asked)


def _layered(stats: Stats) -> str:
    """What holds of several layers: the method's word is about what the others left to it."""
    names = [layer["layer"] for layer in stats.layers]
    by_word = [layer["layer"] for layer in stats.layers if layer["layer"] in _WORDS and layer["removed"]]
    parts = ["every removed document has a kept witness", *map(known, stats.recipe.get("indexes", ()))]
    if by_word:
        parts.append(f"what {' or '.join(by_word)} removed may have another text: that was not compared")
    chained = sum(layer["inherited"] for layer in stats.layers)
    if chained:
        parts.append(f"the first witness of {counted(chained, 'document')} went later (see via_id)")
    if "text" in names:
        return f"{'; '.join(parts)}. Of the documents that entered the layer text, {_promised(stats)}"
    if "digest" in names:
        decided = stats.decisions.get("both_kept", 0)
        told = f", but for {counted(decided, 'pair')} that {'was' if decided == 1 else 'were'} decided"
        parts.append(f"no two kept documents have the same text{told if decided else ''}")
    return f"{'; '.join(parts)}."


def component(stats: Stats) -> str:
    """What the largest component is like, in words."""
    largest = stats.component
    if largest is None:
        return ""
    sampled = f" of {largest.pairs_measured:,} sampled pairs" if largest.pairs_measured < largest.pairs else ""
    bridges = f"{counted(largest.bridges, 'pair')} without which it falls apart"
    return (
        f"largest component: {largest.documents:,} documents, {largest.distinct:,} distinct, least similarity"
        f" {cut(largest.least_similarity, 3)}{sampled}, {bridges}."
    )


def measured(audit: Mapping[str, Any]) -> str:
    """What the audit found, in a line.

    >>> measured({"threshold": 0.8, "of": "pairs", "sampled": 10, "recall": None, "residual": None, "precision": None})
    'none of 10 sampled documents has a true near-duplicate (Jaccard >= 0.8): recall is unknown.'
    """
    least = f"{'cosine' if audit.get('measure') == 'cosine' else 'Jaccard'} >= {exactly(audit['threshold'])}"
    least += f" and {audit['confirm']} >= {exactly(audit['confirm_threshold'])}" if audit.get("confirm") else ""
    sampled, recall, parts = f"{audit['sampled']:,} sampled documents", audit["recall"], []
    if recall is None:
        why = "has a true near-duplicate" if audit["of"] == "pairs" else "has a true near-duplicate that outranks it"
        parts.append(f"none of {sampled} {why} ({least}): recall is unknown")
    elif audit["of"] == "pairs":
        whose = f"the {audit['with_partner']:,} of {sampled} that have any"
        parts.append(f"recall ({least}) {_percent(recall)} of the true pairs of {whose}")
    else:
        parts.append(f"recall ({least}) {_percent(recall)}: of {sampled} {recall['of']:,} had to go")
    if audit["residual"] is not None and (recall is not None or audit["residual"]["num"]):
        parts.append(f"residual duplicates {_percent(audit['residual'])} of what is kept")
    if audit["precision"] is not None:
        parts.append(f"precision {_percent(audit['precision'])}")
    return "; ".join(parts) + "."


def below(audit: Mapping[str, Any]) -> str:
    """What an audit has seen below the threshold, in words; nothing where it did not look.

    >>> below({"of": "pairs", "below": {"sampled": 10, "stands_for": 5.0, "bins": [[0.6, 3], [0.7, 0]]}})
    'Pale, below the threshold: estimated from 10 sampled documents. About 15 pairs are similar by 0.6 or more.'
    """
    if not audit.get("below"):
        return ""
    seen, of_pairs = audit["below"], audit["of"] == "pairs"
    least, total = seen["bins"][0][0], sum(number for _, number in seen["bins"])
    stays = "" if of_pairs else " that stay"
    is_whole = seen["stands_for"] <= 1
    who = f"{'all ' if is_whole else ''}{seen['sampled']:,}{'' if is_whole else ' sampled'} documents{stays}"
    if not total:
        return f"Below the threshold is a gap: nothing was found down to {least:g} ({who} were looked at)."
    about = total * seen["stands_for"]
    number = f"{about:,.0f}" if is_whole else f"About {float(f'{about:.2g}'):,.0f}"
    what = "pairs are similar by" if of_pairs else "documents that stay resemble one before them that stays by"
    how = "counted among" if is_whole else "estimated from"
    return f"Pale, below the threshold: {how} {who}. {number} {what} {least:g} or more."


def _percent(share: Mapping[str, Any]) -> str:
    low, high = 100 * share["low"], 100 * share["high"]
    return f"{100 * share['value']:.4g} % [{low:.4g}, {high:.4g}]"


def dropped(stats: Stats) -> str:
    """What became of boilerplate, in words."""
    number, shingles = stats.dropped_shingles, plural(stats.dropped_shingles, "shingle")
    emptied = f"; {counted(stats.emptied, 'document')} had nothing else" if stats.emptied else ""
    if stats.dropped_by_host:
        hosts, most = stats.dropped_hosts, stats.dropped_by_host[0]
        on = most["host"] if hosts == 1 else f"{hosts:,} hosts, most on {most['host']} ({most['shingles']:,} shingles)"
        share = 100 * Fraction(str(stats.recipe["boilerplate_per_host"]))
        return f"{number:,} {shingles} in {float(share):g} % of a host's documents dropped on {on}{emptied}."
    most_documents = stats.recipe["drop_boilerplate"]
    return f"{number:,} {shingles} in more than {most_documents:,} documents each dropped{emptied}."


def shuffled(stats: Stats) -> str:
    """What went between executors, and what keys were predicted by both methods, in words; empty on one machine."""
    shuffle = stats.room.get("shuffle")
    if not shuffle or "written_bytes" not in shuffle:
        return ""
    predicted = shuffle.get("predicted", {})
    methods = [
        f"{name} {said['keys_per_document']:g} a document, {in_bytes(said['bytes'])}"
        + (f" and {in_bytes(said['table_bytes'])} of count tables" if "table_bytes" in said else "")
        for name, said in ((name, predicted[name]) for name in ("jaccard", "minhash") if name in predicted)
    ]
    keys = f", of it {in_bytes(shuffle['keys_bytes'])} of keys" if shuffle.get("keys_bytes") else ""
    return (
        f"Shuffled: {in_bytes(shuffle['written_bytes'])}{keys}"
        f"{'; predicted keys: ' if methods else ''}{'; '.join(methods)}."
    )


def content(stats: Stats, of_vectors: str = "numbers") -> str:
    """What documents are: text, or numbers."""
    method = METHODS[stats.recipe["method"]]
    return of_vectors if method.of_vectors else "code" if method.of_codes else "text"


def near(stats: Stats) -> str:
    """What is near: to the method, and to what confirms guesses about URLs, which alone may have been asked for."""
    used, guesses = stats.recipe.get("use") or ("text",), stats.recipe.get("guesses")
    ways = [(stats.measure, stats.least)] if "text" in used or not guesses else []
    if guesses:
        ways.append((METHODS[guesses["method"]].measure, guesses.get("threshold", 1)))
    said = ["equal after normalising" if way == "digest" else f"{way} >= {exactly(least)}" for way, least in ways]
    return "; of one URL by a guess, ".join(dict.fromkeys(said))


def condition(stats: Stats) -> str:
    """What makes a pair one, in words."""
    condition = "equal" if stats.measure == "digest" else f"{stats.measure} >= {exactly(stats.least)}"
    return f"{condition}, across the two sides" if stats.against else condition


def in_bytes(num_bytes: int) -> str:
    """Bytes in a unit that one reads.

    >>> in_bytes(1_500_000)
    '1.5 MB'
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if num_bytes >= size:
            return f"{num_bytes / size:.1f} {unit}"
    return f"{num_bytes} bytes"
