"""Whether a witness comes before what is removed for it: by side, size, value and place.

1. Looked at is what can be compared without doubt: a column of mixed or odd types is left to the run.
   What is left to it is named in a note, and so is a policy that is not known here.
2. Of several policies a later one counts where the earlier ones leave the two equal; nulls come last.
3. With `ties="content"` or an order column, places say nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nearsame.recipes.choices import KEEP_BY_COLUMN, KEEP_PLAIN

__all__ = ["Priority", "policies_of"]

_DESCENDING = ("longest", "max")
_PLAIN, _NAMED = "|".join(KEEP_PLAIN), f"(?:{'|'.join(KEEP_BY_COLUMN)}):"
_POLICY = re.compile(f"{_PLAIN}|{_NAMED}.+", re.DOTALL)
_COMMA = re.compile(rf"\s*,\s*(?=(?:{_PLAIN})\s*(?:,|$)|{_NAMED})")


def policies_of(keep: Any) -> list[tuple[str, str | None]]:
    """The policies of a recipe, each with its column; none where it has something else there.

    Example:
        >>> policies_of("max:a,b, longest")
        [('max', 'a,b'), ('longest', None)]
    """
    texts = _COMMA.split(keep) if isinstance(keep, str) else keep if isinstance(keep, list) else []
    if not all(isinstance(text, str) and _POLICY.fullmatch(text) for text in texts):
        return []
    return [(word, column or None) for word, _, column in (text.partition(":") for text in texts)]


@dataclass(frozen=True)
class Priority:
    """The order of priority of a run.

    Attributes:
        recipe: its record.
        kinds: the types of all values that it goes by, with their columns.
        by_length: whether lengths are those of the contents; layers of pages go by their bytes.
        chosen: documents that people have chosen, by key, each with its place.
    """

    recipe: Mapping[str, Any]
    kinds: frozenset[tuple[str, type]] = frozenset()
    by_length: bool = True
    chosen: Mapping[int, int] = field(default_factory=dict)

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
        own, its = (self.chosen.get(document["key"], len(self.chosen)) for document in (removed, witness))
        if own != its:
            if own < its:
                wrong("it was chosen to be kept, and the witness comes after it")
            return
        keep, last = self.recipe["keep"], ""
        for last, column in policies_of(keep) or [("", None)]:
            if last in ("first", "last"):
                break
            values = self._values(last, column, removed, witness)
            if isinstance(values, str):
                note(f"not checked: which document comes first by --keep {keep}, since {values}")
                return
            mine, other = values
            if mine != other:
                if mine < other:
                    wrong(f"the witness comes after it by --keep {keep}")
                return
        if self.recipe["ties"] == "reading" and (witness["key"] < removed["key"]) == (last == "last"):
            wrong(f"the witness comes after it by --keep {keep}, in the order of reading")

    def _values(
        self, word: str, column: str | None, *both: Mapping[str, Any]
    ) -> tuple[tuple[bool, Any], tuple[bool, Any]] | str:
        """(removed, witness) as what is better when it is lower; or why they cannot be compared without doubt."""
        if word in ("longest", "shortest"):
            if not self.by_length:
                return "with --use the length of a page is that of its bytes"
            if not all(isinstance(document["content"], str) for document in both):
                return "contents are not all texts"
            values: list[Any] = [len(document["content"].encode("utf-8", "surrogatepass")) for document in both]
        elif word in ("max", "min"):
            if not {kind for name, kind in self.kinds if name == column} <= {int, type(None)}:
                return "its values are not all whole numbers"
            values = [document["order"][column] for document in both]
        elif word in ("newest", "oldest"):
            return "dates are not compared here"
        else:
            return "this policy is not known here"
        sign = -1 if word in _DESCENDING else 1
        removed, witness = ((value is None, sign * (value or 0)) for value in values)
        return removed, witness
