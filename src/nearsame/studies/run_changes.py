"""What a run decides otherwise than an older one, and why, as far as the two outputs say it.

1. Documents are the same where their ids are; an id that several removed documents have is left out, and counted.
2. A reason is looked for in an order, the most certain first: what people decided, what was read, what became of the
   witness, the threshold. What remains is put down to the settings that differ, or to the documents.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.answers.changes import ChangedDocument, RunChanges, WhyChanged
from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.flow.decisions import Decisions
from nearsame.named import NamedTuple
from nearsame.printable import shortened
from nearsame.shares import cut, exactly
from nearsame.studies.finished import Finished
from nearsame.studies.report_room import LONGEST_NAME, costs, spread_within

__all__ = ["changes"]

_LISTED, _LISTED_BYTES = 500, 100_000  # of each direction, and of the page that their names take
_WHY = 400  # characters of a reason
_NO_MEASURE = {
    "threshold",
    "keep",
    "decisions",
    "clusters",
    "within",
    "ties",
    "order_column",
}  # of the settings: similarity is the same whatever they are
_JOINED = ("component", "chain")  # by others, whatever their own similarity
_COLUMNS = ("a_id", "a_source", "a_row", "b_id", "b_source", "similarity", "measure", "cluster")
_WORDS: dict[WhyChanged, str] = {
    "decision": "decided by people",
    "unread": "a source that only one run has read",
    "swapped": "the other of the two goes",
    "witness": "its witness goes itself",
    "threshold": "below the threshold",
    "settings": "other settings",
    "documents": "other documents",
}


def changes(newer: Finished, older: Finished, name: str) -> RunChanges:
    """What `newer` decides otherwise than `older`, which is called `name`."""
    now, then = _Run(newer), _Run(older)
    gone, back = _Direction(now, then, "then"), _Direction(then, now, "now")
    both = set(now.witness) & set(then.witness)
    counted = [(is_gone, one.reasons) for is_gone, one in ((True, gone), (False, back))]
    reasons = sorted(
        ((is_gone, _WORDS[kind], number) for is_gone, kinds in counted for kind, number in kinds.items()),
        key=lambda reason: (not reason[0], -reason[2], reason[1]),
    )
    return RunChanges(
        older=name,
        settings=tuple(_settings(then.recipe, now.recipe)),
        removed=(older.stats.removed, newer.stats.removed),
        num_gone=gone.rows.size,
        num_back=back.rows.size,
        num_moved=sum(now.witness[id] != then.witness[id] for id in both),
        num_unknown=now.num_unknown + then.num_unknown,
        reasons=tuple(reasons),
        gone=gone.listed,
        back=back.listed,
    )


def _name(text: str) -> str:
    return shortened(text, LONGEST_NAME)


def _settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in dict.fromkeys([*then, *now]):
        if then.get(name) != now.get(name):
            yield name, _shown(name, then.get(name)), _shown(name, now.get(name))


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name == "decisions":
        return f"{len(value):,} of people"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Why(NamedTuple):
    kind: WhyChanged
    words: str


@dataclass(frozen=True)
class _Run:
    """One of the two runs, by ids."""

    run: Finished

    @property
    def recipe(self) -> dict[str, Any]:
        """What decided it."""
        return self.run.stats.recipe

    @cached_property
    def _decided(self) -> Decisions:
        return Decisions.of(self.recipe.get("decisions") or [])

    @cached_property
    def apart(self) -> set[tuple[str, str]]:
        """The pairs that people keep apart."""
        return set(self._decided.apart)

    @cached_property
    def chosen(self) -> set[tuple[str, str]]:
        """Pairs of which people want the first to stay."""
        return set(self._decided.chosen)

    @cached_property
    def staying(self) -> set[str]:
        """Whom people have chosen to stay."""
        return {stays for stays, _ in self.chosen}

    @cached_property
    def rows(self) -> Int64s:
        """The removed documents whose id no other one has."""
        ids = self.run.pairs.column("a_id").combine_chunks()
        counts = pc.value_counts(ids)
        several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        alone: Int64s = np.flatnonzero(pc.invert(pc.is_in(ids, several)).to_numpy(zero_copy_only=False))
        return alone

    @property
    def num_unknown(self) -> int:
        """How many removed documents are left out."""
        return int(self.run.pairs.num_rows - self.rows.size)

    @cached_property
    def ids(self) -> pa.Array:
        """Those of `rows`."""
        return self.run.pairs.column("a_id").combine_chunks().take(pa.array(self.rows))

    @cached_property
    def witness(self) -> dict[str, str]:
        """What each goes for."""
        witnesses = self.run.pairs.column("b_id").take(pa.array(self.rows))
        return dict(zip(self.ids.to_pylist(), witnesses.to_pylist(), strict=True))

    @cached_property
    def staying_witnesses(self) -> set[str]:
        """Ids of documents that others go for: where a removed one has the same, it cannot be told which is meant."""
        return set(pc.unique(self.run.pairs.column("b_id")).to_pylist())

    @cached_property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """What was read: the files of each name, as far as they are known."""
        read = self.run.sources
        return dict(zip(read.names, read.places(), strict=True))

    def has_read(self, source: str, places: tuple[str, ...]) -> bool:
        """Whether it has read a source of that name, or of these files."""
        return source in self.sources or (bool(places) and places in self._places)

    @cached_property
    def _places(self) -> set[tuple[str, ...]]:
        return set(self.sources.values())


@dataclass(frozen=True)
class _Direction:
    """What goes in one run and not in the other.

    Attributes:
        goes: the run in which it goes.
        stays: the other.
        when: that is, in words.
    """

    goes: _Run
    stays: _Run
    when: str

    @cached_property
    def rows(self) -> Int64s:
        """Of the pairs of the run in which they go."""
        gone = self.stays.run.pairs.column("a_id").combine_chunks()
        others = pc.is_in(self.goes.ids, gone).to_numpy(zero_copy_only=False)
        rows: Int64s = self.goes.rows[~others]
        return rows

    @cached_property
    def _whys(self) -> list[_Why]:
        rows = self.goes.run.pairs.select(_COLUMNS).take(pa.array(self.rows))
        return [self._why(row) for batch in rows.to_batches() for row in batch.to_pylist()]

    @property
    def reasons(self) -> Counter[WhyChanged]:
        """Why, for how many."""
        return Counter(why.kind for why in self._whys)

    @property
    def listed(self) -> tuple[ChangedDocument, ...]:
        """Some, over the whole range of similarity."""
        similarity = self.goes.run.pairs.column("similarity").to_numpy()[self.rows]
        chosen = spread_within(similarity, _LISTED, self._costs, _LISTED_BYTES)
        rows = self.goes.run.pairs.select(_COLUMNS).take(pa.array(self.rows[chosen])).to_pylist()
        return tuple(
            ChangedDocument(
                _name(row["a_id"]), _name(row["a_source"]), row["a_row"], _name(row["b_id"]), row["similarity"],
                row["measure"], row["cluster"], self._whys[at].kind, shortened(self._whys[at].words, _WHY),
            )
            for at, row in zip(chosen.tolist(), rows, strict=True)
        )  # fmt: skip

    def _costs(self, chosen: Int64s) -> Int64s:
        return costs(self.goes.run.pairs, self.rows[chosen])

    def _why(self, row: Mapping[str, Any]) -> _Why:
        """Why the other run did not remove it for this witness."""
        id, witness = row["a_id"], row["b_id"]
        if words := self._decided(id, witness):
            return _Why("decision", words)
        for what, source in (("it is in", row["a_source"]), ("its witness is in", row["b_source"])):
            if not self.stays.has_read(source, self.goes.sources.get(source, ())):
                return _Why("unread", f"{what} {source}, which was not read {self.when}")
        other = None if witness in self.stays.staying_witnesses else self.stays.witness.get(witness)
        if other is not None:
            rest = f"{self.when} {witness} goes"
            return _Why("swapped", f"{rest} for it") if other == id else _Why("witness", f"{rest} itself, for {other}")
        least = self.stays.run.stats.least
        if row["similarity"] < least and row["measure"] not in _JOINED and self._is_measured_alike:
            return _Why("threshold", f"{cut(row['similarity'])} is below {exactly(least)}, the threshold {self.when}")
        if names := self._differing:
            return _Why("settings", f"another setting: {', '.join(names)}")
        return _Why("documents", f"the documents were others {self.when}, or the order of reading was")

    def _decided(self, id: str, witness: str) -> str:
        pair = (id, witness) if id < witness else (witness, id)
        there, here = self.stays, self.goes
        if pair in there.apart:
            return f"{self.when} the two are kept apart, as people have decided"
        if id in there.staying:
            return f"{self.when} it stays, as people have decided"
        return "people have decided that the other one stays" if (witness, id) in here.chosen else ""

    @cached_property
    def _differing(self) -> list[str]:
        return [name for name, *_ in _settings(self.goes.recipe, self.stays.recipe)]

    @cached_property
    def _is_measured_alike(self) -> bool:
        return set(self._differing) <= _NO_MEASURE
