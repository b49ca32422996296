"""How shingles read in a text: features are hashes, and people want words."""

import numpy as np

from nearsame import arrow
from nearsame.forms.aligned import align
from nearsame.kernels import shingles
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Shingled
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.features.token_spans import place, runs

__all__ = ["ShingleSpelling"]

_SHOWN = 60  # characters


class ShingleSpelling(NamedTuple):
    """The recipe by which texts became shingles, and the stage that made them."""

    recipe: Shingled
    stage: ShingleSets

    def around(self, text: str, items: arrow.UInt64s, one: np.uint64) -> str | None:
        """The longest run of shingles of a text that are all among the items, on one line, of those that one is in.

        Where that one is not found, as the n-th copy of a shingle is not, of all runs; None where there is none.
        """
        stage = self.stage
        aligned = align(text, nfkc=self.recipe.nfkc, strip_accents=self.recipe.strip_accents)
        placed = place(aligned.text, stage.flags & 0xFF, stage.seed, stage.stop_words)
        step = stage.size if stage.flags & shingles.NOT_OVERLAPPING else 1
        found = runs(placed.hashes, stage.size, stage.seed, step=step)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], np.isin(found, items), [False]]).astype(np.int8)))
        starts, ends = edges[::2], edges[1::2]
        if edges.size == 0:
            return None
        has_it = np.unique(np.searchsorted(ends, np.flatnonzero(found == one), "right"))
        numbers = has_it if has_it.size else np.arange(starts.size)
        longest = int(numbers[np.argmax((ends - starts)[numbers])])
        first = int(starts[longest]) * step
        last = min((int(ends[longest]) - 1) * step + stage.size, placed.ends.size) - 1
        run = aligned.text[placed.starts[first] : placed.ends[last]].tobytes().decode("utf-8", "replace")
        plain = " ".join("".join(char if char.isprintable() else " " for char in run).split())
        return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."
