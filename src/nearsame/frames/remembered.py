"""Features beside an answer: a later run compares with the documents that stayed there, and reads no text of theirs.

1. They are those of the documents that stay, with what is known of each of these, as they were when the run compared.
2. A document of the other side has another name than it had where it was judged, as everywhere (documents.py).
3. Other settings make other features: then it is an error that names what differs.
"""

import json
import os
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.spark.places import HadoopPlace, place_at
from nearsame.engines.spark.stored import files_below, stamps, whole
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import NAMED_TWICE
from nearsame.flow.identities import identity_of
from nearsame.flow.steps import steps
from nearsame.frames.corpus import Frames
from nearsame.frames.documents import FrameSide
from nearsame.frames.left import LeftFrame
from nearsame.frames.types import family
from nearsame.frames.writing import STATS
from nearsame.recipes.methods import Method
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep

__all__ = ["FEATURES", "Remembered", "about", "features_told", "remembered_in", "require_like", "staying"]

FEATURES, ABOUT = "features", "features_of"  # the folder in an output, and what its statistics say of it
ORDERS = "orders"  # of that the types of the columns that the order and the groups went by
_NAME = "xxhash64('against', row, fp) & 9223372036854775807L as row"
_FP = "xxhash64('against', fp, row) as fp"


@dataclass(frozen=True, eq=False)
class Remembered:
    """The features in some outputs.

    Attributes:
        session: Spark's.
        places: the folders that they are in, and how many documents each is of.
        method: of the run, with their seed.
        told: what their statistics say of them, by the name of the output.
    """

    session: Any
    places: tuple[tuple[HadoopPlace, int], ...]
    method: Method
    told: Mapping[str, Any]

    def frame(self) -> Any:
        """All of them, as those of documents of the `against` side.

        Raises:
            SourceError: Some are gone, or cannot be read.
        """
        frames = list[Any]()
        for place, number in self.places:
            frames.append(whole(place, number))
            if frames[-1] is None:
                message = f"{place.address} is not what was written: the features of {number:,} documents"
                raise SourceError(message, hint="Repair it, or compare with the documents in kept/.")
        every = reduce(lambda one, other: one.unionByName(other), frames)
        changed = {"row": _NAME, "fp": _FP, "side": "0 as side"}
        return every.selectExpr(*(changed.get(name, f"`{name}`") for name in every.columns))

    @property
    def number(self) -> int:
        """How many documents they are of."""
        return sum(number for _, number in self.places)

    def documents(self, most: int) -> tuple[str, ...]:
        """The folders of these documents, where all are there, as they were written, in files of at most so much."""
        homes, left = [place.beside("kept") for place, _ in self.places], most
        if not most or not all(home.exists() for home in homes):
            return ()
        for home in homes:
            known = files_below(self.session, [home.address])
            ((_, _, written),) = files_below(self.session, [home.beside(STATS).address])  # behind all others
            left -= sum(size for _, size, _ in known)
            if left < 0 or any(changed > written for _, _, changed in known):
                return ()
        return tuple(home.address for home in homes)

    def require_types(self, orders: Mapping[str, str]) -> None:
        """Refuse features whose order or groups went by columns of other types: no value is what an equal one is here.

        Raises:
            ConfigError: Some did; the error names the column.
        """
        mine = types_of(orders)
        for name, own in self.told.items():
            for column, kind in own.get(ORDERS, {}).items():
                if not _alike(kind, mine.get(column, kind), exactly=column == own.get("group_by")):
                    message = f"{name}: column {column!r} of its features was {kind}, and is {mine.get(column)} here"
                    hint = f"Give the column one type, or compare with its documents: {name}/kept."
                    raise ConfigError(message, hint=hint)

    @property
    def stamps(self) -> list[list[Any]]:
        """What changes when they do."""
        return stamps(self.session, [place.address for place, _ in self.places])


def about(method: Method, keep: Keep, columns: Columns, group_by: str | None) -> dict[str, Any]:
    """What the features of a run depend on, and the places of its documents.

    Raises:
        ConfigError: They depend on all documents together.
    """
    if steps(method).weigh is not None or method.drops_boilerplate:
        message = f"{method.name} weighs or drops shingles by all documents of a run, so its features are of no other"
        raise ConfigError(message, hint="Compare with the documents in kept/.")
    known = {**identity_of(method, keep, columns.of_side(against=False)), "group_by": group_by}
    return dict(json.loads(json.dumps(known)))


def features_told(method: Method, judged: FrameSide, *, layered: bool) -> dict[str, Any]:
    """What statistics say of the features of the judged documents.

    Raises:
        ConfigError: Layers have removed what was not compared, or features depend on all documents.
    """
    if layered:
        message = "features and use: what layers remove has no features"
        raise ConfigError(message, hint="Leave one of them out.")
    known = about(method, judged.keep, judged.columns, judged.group_by)
    return {ABOUT: known | ({ORDERS: types_of(judged.orders)} if judged.orders else {})}


def staying(corpus: Frames, gone: Any) -> Any:
    """The features of the judged documents that stay; `gone` has row and times."""
    went = Verbs.aggregated(gone, ["row"], ["sum(times) as times"])
    documents = corpus.documents.filter("side = 1").select("row", "copies").join(went, "row", "left")
    here = documents.selectExpr("row", "copies", "copies - coalesce(times, 0L) as here").filter("here > 0")
    return LeftFrame(here, is_all=False, is_whole=False).of(corpus.features)


def remembered_in(session: Any, sources: Sequence[Any]) -> tuple[dict[int, tuple[HadoopPlace, int]], dict[str, Any]]:
    """The features of outputs among some sources, by place, with their number; and by name what these say of them.

    Raises:
        ConfigError: One is named twice.
        SourceError: One does not say how many there are.
    """
    places, told = dict[int, tuple[HadoopPlace, int]](), dict[str, Any]()
    for number, source in enumerate(sources):
        if not isinstance(source, str | os.PathLike):
            continue
        place = place_at(session, source)
        stats = place.inside(STATS).read_json() if place.inside(FEATURES).exists() else None
        if isinstance(stats, dict) and isinstance(stats.get(ABOUT), dict):
            kept = stats.get("kept")
            if not isinstance(kept, int):
                message = f"{place.inside(STATS).address} does not say how many documents stayed"
                raise SourceError(message, hint="Repair it, or compare with the documents in kept/.")
            if place.inside(FEATURES).address in {other.address for other, _ in places.values()}:
                raise ConfigError(f"{os.fspath(source)} is named twice", hint=NAMED_TWICE)
            places[number] = place.inside(FEATURES), kept
            told[os.fspath(source)] = stats[ABOUT]
    return places, told


def _alike(kind: str, other: str, *, exactly: bool) -> bool:
    """Whether values of two types can be put in order together; of groups, whether equal ones are spelled alike."""
    families = {family(kind), family(other)}
    return kind == other if exactly else len(families) == 1 or families <= {"integer", "number", "decimal"}


def types_of(orders: Mapping[str, str]) -> dict[str, str]:
    """The types of the columns that runs go by, as far as it matters which they are."""
    return {name: "bigint" if kind.endswith("int") else kind for name, kind in orders.items()}


def require_like(told: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse features that were made by other settings.

    Raises:
        ConfigError: Some were; the error names the fields that differ.
    """
    for name, own in told.items():
        fields = {*own, *wanted} - {ORDERS}
        differing = sorted(field for field in fields if own.get(field) != wanted.get(field))
        if differing:
            message = f"{name}: its features were made with another {', '.join(differing)}"
            raise ConfigError(message, hint=f"Use the same settings, or compare with its documents: {name}/kept.")
