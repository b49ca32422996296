"""Whether a witness comes before what is removed for it: by side, size, value and place.

1. Looked at is what can be compared without doubt: a column of mixed or odd types is left to the run.
   What is left to it is named in a note, and so is a policy that is not known here.
2. With `ties="content"` or an order column, places say nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Priority"]

_DESCENDING = ("longest", "max")


@dataclass(frozen=True)
class Priority:
    """The order of priority of a run.

    Attributes:
        recipe: its record.
        kinds: the types of all values that it goes by.
    """

    recipe: Mapping[str, Any]
    kinds: frozenset[type] = frozenset()

    def check(
        self,
        removed: Mapping[str, Any],
        witness: Mapping[str, Any],
        wrong: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        """Report a witness that comes after what is removed for it; note what cannot be known."""
        if witness["against"] or self.recipe["method"] == "containment" or not removed["content"]:
            return  # the other side comes first; there, sizes do; what has no text goes whatever it is
        keep = self.recipe["keep"].partition(":")[0]
        if keep in ("first", "last"):
            mine, other = (0, 0), (0, 0)
        else:
            values = self._values(keep, removed, witness)
            if isinstance(values, str):
                note(f"not checked: which document comes first by --keep {self.recipe['keep']}, since {values}")
                return
            mine, other = values
        if mine < other:
            wrong(f"the witness comes after it by --keep {self.recipe['keep']}")
        elif mine == other and self.recipe["ties"] == "reading":
            before = witness["key"] < removed["key"]
            if before == (keep == "last"):
                wrong(f"the witness comes after it by --keep {self.recipe['keep']}, in the order of reading")

    def _values(self, keep: str, *both: Mapping[str, Any]) -> tuple[tuple[int, Any], tuple[int, Any]] | str:
        """(removed, witness) as what is better when it is lower; or why they cannot be compared without doubt."""
        if keep in ("longest", "shortest"):
            if not all(isinstance(document["content"], str) for document in both):
                return "contents are not all texts"
            values: list[Any] = [len(document["content"].encode("utf-8", "surrogatepass")) for document in both]
        elif keep in ("max", "min"):
            if not self.kinds <= {int}:
                return "its values are not all whole numbers"
            values = [document["order"] for document in both]
        elif keep in ("newest", "oldest"):
            return "dates are not compared here"
        else:
            return "this policy is not known here"
        sign = -1 if keep in _DESCENDING else 1
        return (0, sign * values[0]), (0, sign * values[1])
