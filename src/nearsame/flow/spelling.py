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

    def longest(self, text: str, items: arrow.UInt64s) -> str | None:
        """The longest run of shingles of a text that are all among the items, on one line.

        None where none of them is found, as the n-th copy of a shingle is not, where copies are counted.
        """
        stage = self.stage
        aligned = align(text, nfkc=self.recipe.nfkc, strip_accents=self.recipe.strip_accents)
        placed = place(aligned.text, stage.flags & 0xFF, stage.seed, stage.stop_words)
        step = stage.size if stage.flags & shingles.NOT_OVERLAPPING else 1
        is_one = np.isin(runs(placed.hashes, stage.size, stage.seed, step=step), items)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_one, [False]]).astype(np.int8)))
        if edges.size == 0:
            return None
        starts, ends = edges[::2], edges[1::2]
        longest = int(np.argmax(ends - starts))
        first = int(starts[longest]) * step
        last = min((int(ends[longest]) - 1) * step + stage.size, placed.ends.size) - 1
        run = aligned.text[placed.starts[first] : placed.ends[last]].tobytes().decode("utf-8", "replace")
        plain = " ".join("".join(char if char.isprintable() else " " for char in run).split())
        return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."
