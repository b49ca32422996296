"""What the keys of a run will cost to shuffle: by the exact join, and by MinHash.

1. A document's keys in the exact join follow from the slots of the count table for each different shingle, since
   an empty table could tell that a shingle stands in one document only (measured: stages/keys/prefix.py).
2. It is a prediction for documents without a near-duplicate; those that have one offer their whole prefix in any case.
3. The count table travels, too: each task's own part of it to be added up, and the whole to each executor.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from nearsame.recipes.methods import MinHash
from nearsame.stages.keys.bands import choose_bands

__all__ = ["KEY_BYTES", "advice", "predicted"]

KEY_BYTES = (
    24  # of one key in a shuffle, at most: hashes do not compress, but the row beside them does where it repeats
)
_ENOUGH = 0.5  # slots for each different shingle
_SLOTS = (0.1, 0.33, 0.5, 1.0)
_SHARES = (1.0, 0.76, 0.33, 0.0)  # of the prefix


def predicted(  # noqa: PLR0913, PLR0917  (what is known of the sets, and of the table)
    sets: int, items: int, distinct: int, slots: int, threshold: Fraction, table_bytes: int
) -> dict[str, Any]:
    """Keys of each document and bytes of all, by both methods; for the exact join, those of the table besides.

    Args:
        sets: how many different sets there are.
        items: in all of them.
        distinct: different items, about.
        slots: of the count table.
        threshold: of the Jaccard similarity.
        table_bytes: what all copies of the count table take on their way, at most.

    Example:
        >>> predicted(1000, 326_000, 300_000, 30_000, Fraction(4, 5), 90_000)["jaccard"]["keys_per_document"]
        66.0
    """
    size = items // max(1, sets)
    prefix = size - -(-threshold.numerator * size // threshold.denominator) + 1 if size else 0
    share = float(np.interp(slots / max(1, distinct), _SLOTS, _SHARES))
    bands = choose_bands(
        float(threshold), MinHash.model_fields["recall"].default, MinHash.model_fields["num_perm"].default
    )
    keys = {"jaccard": prefix * share, "minhash": float(bands[0])}
    costs: dict[str, Any] = {
        name: {"keys_per_document": round(num_keys, 2), "bytes": round(sets * num_keys * KEY_BYTES)}
        for name, num_keys in keys.items()
    }
    costs["jaccard"]["table_bytes"] = table_bytes
    return {"distinct_shingles": distinct, "slots": slots, **costs}


def advice(prediction: dict[str, Any]) -> str | None:
    """What to say where the count table is too small for its shingles; None where it is not."""
    ratio = prediction["slots"] / max(1, prediction["distinct_shingles"])
    if ratio >= _ENOUGH:
        return None
    exact, bands = (prediction[name]["keys_per_document"] for name in ("jaccard", "minhash"))
    return (
        f"the count table has {ratio:.2g} slots for each of about {prediction['distinct_shingles']:,} different "
        f"shingles: about {exact:.0f} keys of each document are shuffled, where minhash has {bands:.0f}; "
        "raise broadcast_bytes, or choose minhash"
    )
