"""What the writer is given to do: documents to add, a document to remove.

1. Neighbouring requests of one kind become one call of the index, so one transaction and one pass of the kernels.
2. Answers go back by request, in the order of its documents.
"""

from collections.abc import Sequence
from typing import Any

from nearsame.dataclass import dataclass

__all__ = ["Adding", "Removing"]


@dataclass(frozen=True, eq=False)
class Adding:
    """Documents of one request.

    Attributes:
        given: the documents, as the index takes them.
        if_new: whether only those are added that resemble nothing.
        replace: whether one of the same id and another text takes its place.
        limit: matches of each, at most.
    """

    given: Sequence[dict[str, Any]]
    if_new: bool = False
    replace: bool = False
    limit: int = 10

    @property
    def documents(self) -> int:
        """How many documents it adds."""
        return len(self.given)

    @property
    def kind(self) -> object:
        """Those of equal settings go together."""
        return ("add", self.if_new, self.replace, self.limit)

    def apply(self, index: Any, changes: Sequence["Adding"]) -> list[Any]:
        """Add the documents of all requests in one transaction."""
        together = [document for change in changes for document in change.given]
        added = index.add(together, if_new=self.if_new, replace=self.replace, limit=self.limit)
        answers, done = [], 0
        for change in changes:
            answers.append(added[done : done + len(change.given)])
            done += len(change.given)
        return answers


@dataclass(frozen=True, eq=False)
class Removing:
    """A document to remove."""

    id: str

    @property
    def documents(self) -> int:
        """How many documents it removes: one."""
        return 1

    @property
    def kind(self) -> object:
        """All removals go together."""
        return "remove"

    def apply(self, index: Any, changes: Sequence["Removing"]) -> list[Any]:
        """Remove them in one transaction; whether each was there."""
        with index.transaction():
            return [index.remove(change.id) > 0 for change in changes]
