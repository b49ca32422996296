"""What is known of every document: the noun of the flow, which each engine fills in its own way.

1. On one machine these are arrays by row (arrays.py), on a cluster the rows of a DataFrame (frames/corpus.py).
2. What the flow asks of a corpus is all here; what a flow of batches goes through is the engine's (engines/base.py).
3. A corpus does not change: each step gives one that knows more. What it knows is known to no stage.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar

import pyarrow as pa

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.flow.steps import OneSide, Steps
from nearsame.named import NamedTuple
from nearsame.recipes.choices import ClusterKind
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.apart import Apart
from nearsame.stages.clusters.components import Connected
from nearsame.stages.clusters.keepers import Greedy
from nearsame.stages.clusters.policies import Keep, Order
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.pairs.join import AllPairs
from nearsame.stages.pairs.linking import Linking

if TYPE_CHECKING:
    from nearsame.stages.features.host_boilerplate import Hosts

__all__ = ["NOTHING_DROPPED", "Corpus", "Dropped", "DroppedOfHost", "Met", "Question", "State"]

Known_co = TypeVar("Known_co", covariant=True)


class DroppedOfHost(NamedTuple):
    """What was taken out of the features of one host's documents."""

    host: str
    documents: int  # that have shingles
    shingles: int  # different ones
    occurrences: int  # documents that each stands in, summed


@dataclass(frozen=True)
class Dropped:
    """What boilerplate was taken out of the features."""

    shingles: int = 0  # different ones, of each host
    occurrences: int = 0  # documents that each stands in, summed
    documents: int = 0  # that had nothing else
    hosts: tuple[DroppedOfHost, ...] = ()  # where it is about hosts, those that lost something, most first


NOTHING_DROPPED = Dropped()


@dataclass(frozen=True)
class Met:
    """Documents that share a key, brought together.

    Attributes:
        num_keys: of all documents.
        meeting: the engine's own; None where equal features are all there is.
        notes: what one must know of the way there.
    """

    num_keys: int = 0
    meeting: Any = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """What is asked of documents that meet.

    Attributes:
        threshold: at least the recipe's.
        kind: `greedy` and `components` ask who goes, `pairs` which are similar.
        within: whether documents that are not on the `against` side are compared with each other.
        in_groups: whether only those that share a key may be compared.
    """

    threshold: Fraction
    kind: ClusterKind | Literal["pairs"] = "greedy"
    within: bool = True
    in_groups: bool = False

    @classmethod
    def of_run(cls, method: Method, settings: Mapping[str, Any]) -> Self:
        """Who goes, as a run with these settings asks it of a method."""
        return cls(method.least, settings["clusters"], settings["within"], settings.get("group_by") is not None)

    def rule(
        self, step: Steps, num_against: int, weights: Rows, one_side: OneSide = None, apart: Apart | None = None
    ) -> Any:
        """The rule that answers it.

        Args:
            step: of the method.
            num_against: documents with a number below it are the `against` side.
            weights: how many documents each stands for.
            one_side: which stand for documents of the `against` side only.
            apart: pairs that were told apart.
        """
        bound = step.bound(self.threshold)
        match self.kind:
            case "pairs":
                return step.joining(bound, one_side)
            case "greedy":
                return step.deciding(Greedy(bound, num_against, self.within, apart))
            case "components":
                # What is left out since a pair joins it already may not be joined without that pair.
                linking = step.deciding(AllPairs(bound) if apart else Linking(bound, num_against, self.within))
                linking = step.linking(bound) if step.linking and not self.in_groups else linking
                return Connected(linking, bound, weights, num_against, self.within, apart)


class Corpus(Protocol):
    """What is known of every document, and what is done with all of them."""

    @property
    def engine(self) -> Any:
        """The engine that runs the flows over it."""

    @property
    def keep(self) -> Keep:
        """Which of two similar documents stays."""

    @property
    def at_once(self) -> bool:
        """Whether all codes can meet in one place, to list their pairs."""

    @property
    def size_bytes(self) -> int | None:
        """What there is to read, where that is known."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What one must know of the documents and their order."""

    def hosts_by(self, share: float) -> "Callable[[], Hosts]":
        """What gives the hosts of all documents once these have been read.

        Args:
            share: what asks for them, `boilerplate_per_host`: named where it is refused.
        """

    def load(self, method: Method, step: Steps) -> Any:
        """A flow of the documents, as the first stage of a method reads them."""

    def countable(self, features: Any) -> Any:
        """The same features, whose frequencies there is room for."""

    def kept(self, features: Any, step: str = "") -> Any:
        """Features, computed once, as `collapse` can compare them."""

    def slots(self, features: Any) -> int:
        """How many slots a table that counts all of their items needs, at most."""

    def described(self, features: Any) -> tuple[Any, Any]:
        """(features, a corpus that knows every document)."""

    def ranked(self, order: Order) -> Any:
        """A corpus that knows each document's place in an order, the first the most worth keeping."""

    def collapsed(self, features: Any) -> Any:
        """A corpus that knows of each document the best one with equal features."""

    def leaders(self, features: Any) -> Any:
        """The features of the documents that stand for all others."""

    def once(self, meet: Callable[[], Met]) -> Met:
        """What documents that met became, computed or, where an earlier run got so far, found."""

    def counted(
        self, made: Any, method: Method, step: Steps, note: Callable[[str], None]
    ) -> tuple[Any, Any, tuple[str, ...]]:
        """(what keys are made of, what they must know of all of it, what there is to say of that and was noted)."""

    def offered(self, keys: Any) -> tuple[Any, int]:
        """Keys, computed once, and how many there are."""

    def meet(self, keys: Any, lists: Any, columns: Sequence[str]) -> Any:
        """Documents that share a key, grouped by it, and what they are compared by: columns of the lists."""

    def answer(self, state: "State[Any]", question: Question) -> Any:
        """Who of the leaders goes, and by whose witness; or which of them are similar."""

    def inherit(self, decision: Any, *, within: bool) -> Any:
        """The same of all documents: who equals another shares its fate, or has it as a witness."""


@dataclass(frozen=True)
class State(Generic[Known_co]):
    """What a run knows once all documents that could be similar have met.

    Attributes:
        method: the recipe.
        step: what stands at each arrow.
        corpus: what is known of every document.
        leaders: the features of the documents that stand for all others; None once nobody needs them.
        met: who met.
        frequencies: of all features, where they were weighed by them.
        dropped: what boilerplate was taken out.
    """

    method: Method
    step: Steps
    corpus: Known_co
    leaders: Any = None
    met: Met = field(default_factory=Met)
    frequencies: FrequencyTable | None = None
    dropped: Dropped = NOTHING_DROPPED

    @property
    def meeting(self) -> Any:
        """Documents that share a key."""
        return self.met.meeting

    @cached_property
    def frequency_table(self) -> pa.Table | None:
        """Of TF-IDF: in how many documents each feature stands, to weigh those of a later run."""
        return None if self.frequencies is None else self.frequencies.table()
