"""What the keys of a run will cost to shuffle: by the exact join, and by MinHash.

1. While a table of counts has a slot for every two shingles, a document's keys in the exact join follow from its slots,
   since an empty table could tell that a shingle stands in one document only (measured: stages/keys/prefix.py).
2. Past that no table is made: a sample says which shingles are frequent, and each document offers its whole prefix.
3. It is a prediction for documents without a near-duplicate; those that have one offer their whole prefix in any case.
4. What is counted travels, too: each task's own part of it to be added up, and the whole to each executor.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from nearsame.named import NamedTuple
from nearsame.outputs.promises import in_bytes
from nearsame.recipes.methods import MinHash
from nearsame.stages.features.frequent import SAMPLED
from nearsame.stages.keys.bands import choose_bands
from nearsame.stages.keys.prefix import plan_counting

__all__ = ["ITEM_BYTES", "KEY_BYTES", "CountTable", "past_the_table", "planned", "predicted"]

KEY_BYTES = (
    24  # of one key in a shuffle, at most: hashes do not compress, but the row beside them does where it repeats
)
ITEM_BYTES = 16  # of an item and its count
_ENOUGH = 2  # different shingles for a slot, at most
_FREQUENT = 4  # times the table is what the counts of its full slots may take
_COUNT_BYTES = 8  # of one of these
_SLOTS = (0.33, 0.5, 1.0)  # for each different shingle
_SHARES = (0.76, 0.33, 0.0)  # of the prefix


class CountTable(NamedTuple):
    """What tells frequent shingles from others.

    Attributes:
        slots: of a table of counts.
        travels: bytes of what is counted, on all its ways, at most.
        fits: whether there is such a table; else a sample says which are frequent.
    """

    slots: int
    travels: int
    fits: bool = True


def planned(distinct: int, items: int, verbs: Any) -> CountTable:
    """The table for so many different items, of so many in all sets, with no more bytes than one may have."""
    most = verbs.table_bytes
    plan = plan_counting(max(1, min(distinct, 2 * _ENOUGH << (most.bit_length() - 1))), most)
    slots = plan.passes << plan.bits
    full = items // (15 if plan.nibbles else 255)
    if distinct <= _ENOUGH * slots and _COUNT_BYTES * min(full, slots) <= _FREQUENT * max(most, plan.table_bytes):
        return CountTable(slots, plan.table_bytes * verbs.num_copies())
    return CountTable(slots, items // SAMPLED * ITEM_BYTES + most * verbs.num_copies(), fits=False)


def predicted(sets: int, items: int, distinct: int, threshold: Fraction, table: CountTable) -> dict[str, Any]:
    """Keys of each document and bytes of all, by both methods; for the exact join, those of what is counted besides.

    Args:
        sets: how many different sets there are.
        items: in all of them.
        distinct: different items, about.
        threshold: of the Jaccard similarity.
        table: of counts.

    Example:
        >>> table = CountTable(30_000, 90_000, fits=False)
        >>> predicted(1000, 326_000, 300_000, Fraction(4, 5), table)["jaccard"]["keys_per_document"]
        66.0
    """
    size = items // max(1, sets)
    prefix = size - -(-threshold.numerator * size // threshold.denominator) + 1 if size else 0
    share = float(np.interp(table.slots / max(1, distinct), _SLOTS, _SHARES)) if table.fits else 1.0
    bands = choose_bands(
        float(threshold), MinHash.model_fields["recall"].default, MinHash.model_fields["num_perm"].default
    )
    keys = {"jaccard": prefix * share, "minhash": float(bands[0])}
    costs: dict[str, Any] = {
        name: {"keys_per_document": round(num_keys, 2), "bytes": round(sets * num_keys * KEY_BYTES)}
        for name, num_keys in keys.items()
    }
    costs["jaccard"]["table_bytes"] = table.travels
    return {"distinct_shingles": distinct, "slots": table.slots if table.fits else 0, **costs}


def past_the_table(distinct: int, most: int, prediction: dict[str, Any] | None) -> str:
    """What to say where a table of counts would be too large: what is done instead, and what each way costs."""
    said = (
        f"a table of counts of about {distinct:,} different shingles takes more than broadcast_bytes={most:,}: "
        f"a shuffle counts the frequent ones in one of {SAMPLED} documents, and all of each document's prefix is keys"
    )
    if prediction is None:
        return said
    exact, bands = (
        f"about {cost['keys_per_document']:.0f} keys a document, {in_bytes(cost['bytes'] + cost.get('table_bytes', 0))}"
        for cost in (prediction["jaccard"], prediction["minhash"])
    )
    return f"{said} ({exact} with the counts); method=minhash takes {bands}, and measures what it misses"
