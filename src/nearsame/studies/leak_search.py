"""What a search for leaks found, text by text, and how its numbers are called.

1. Texts and items are counted through all benchmarks, in order.
2. Texts that are one text were looked for once, and are found together: here each has its own line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.arrow import Int64s, Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.files.passed_over import PassedOver
from nearsame.forms.plain import PlainText
from nearsame.outputs.tables import RowNames
from nearsame.sources import Skipped
from nearsame.sources.folder_keys import folder_names, folder_values
from nearsame.sources.items import Items
from nearsame.stages.features.sought import FLAGS, REASONS, WHOLE, SoughtTexts
from nearsame.stages.features.token_spans import located
from nearsame.stages.texts.page_text import PageTexts

__all__ = ["Searched"]

_EMPTY = "empty"


@dataclass(frozen=True)
class Searched:
    """What was looked for, where, and what the search gave.

    Attributes:
        benchmarks: the items.
        sought: their texts.
        reading: the documents.
        names: what documents are called in which something was found.
        found: LEAKS, by row and text.
        text_bytes: of the documents.
        skipped: items that could not be read.
        passed_over: files of theirs that were not read.
        inputs: every file that was read.
        clock: of the steps.
        settings: what was asked for, JSON-able.
        notes: what one must know of how the benchmarks were read.
        threads: how many work at once; None: one for each processor.
        call: where the benchmarks are, by name, so that they can be read again.
    """

    benchmarks: Sequence[Items]
    sought: SoughtTexts
    reading: Any  # Reading, or on Spark FrameDocuments
    names: RowNames
    found: pa.Table
    text_bytes: int
    skipped: Sequence[Skipped]
    passed_over: PassedOver
    inputs: Inputs
    clock: Clock
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    threads: int | None = None
    call: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> dict[str, float]:
        """Of each step so far."""
        return {step: round(seconds, 4) for step, seconds in self.clock.seconds.items()}

    @cached_property
    def said_by_folders(self) -> dict[str, list[pa.Array | None]]:
        """What names of folders say of the documents, by part."""
        parts = self.reading.parts
        return {name: folder_values(name, parts) for name in folder_names(parts)}

    @property
    def extract(self) -> PageTexts | None:
        """What takes the text out of pages, where there are some."""
        return PageTexts(self.reading.columns.extract) if self.reading.pages else None

    @cached_property
    def places(self) -> Int64s:
        """[n, 2]: of each text its benchmark, and its item, all items counted through."""
        rows, before = [], 0
        for number, items in enumerate(self.benchmarks):
            owners = np.array(items.owners, np.int64) + before
            rows.append(np.stack([np.full(owners.size, number), owners], axis=1))
            before += len(items.ids)
        return np.concatenate([np.zeros((0, 2), np.int64), *rows])

    @cached_property
    def columns(self) -> list[str]:
        """Of each text the column that it stands in."""
        return [column for items in self.benchmarks for column in items.columns]

    @cached_property
    def _items_before(self) -> Int64s:
        return np.cumsum([0, *(len(items.ids) for items in self.benchmarks)])

    def item(self, number: int) -> tuple[str, str]:
        """The benchmark and the id of an item, counted through all benchmarks."""
        at = int(np.searchsorted(self._items_before, number, "right")) - 1
        items = self.benchmarks[at]
        return items.name, items.ids[number - int(self._items_before[at])]

    @cached_property
    def documents(self) -> Rows:
        """The documents in which an item was found, ascending."""
        return np.unique(self.found.column("row").to_numpy())

    @cached_property
    def hits(self) -> dict[str, Any]:
        """What was found, a line for each text that was given: those that are one text are found together."""
        sought, found = self.sought, self.found
        order = np.argsort(sought.of, kind="stable")
        starts, ends = (np.searchsorted(sought.of[order], found.column("text").to_numpy(), side)
                        for side in ("left", "right"))  # fmt: skip
        lines = np.repeat(np.arange(len(found)), ends - starts)
        within = np.arange(lines.size) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
        names = ("row", "shared", "start", "end", "text_start", "text_end")
        columns: dict[str, Any] = {name: found.column(name).to_numpy()[lines] for name in names}
        shingles = sought.sizes[found.column("text").to_numpy()][lines]
        score = columns["shared"] / np.maximum(shingles, 1)
        return {**columns, "line": lines, "text": order[starts[lines] + within], "shingles": shingles, "score": score}

    @cached_property
    def reasons(self) -> list[str]:
        """Of each text why it was not looked for; nothing, where it was."""
        sought = self.sought
        kinds = sought.kinds.tolist()
        return [_EMPTY if of < 0 else "" if kinds[of] <= WHOLE else REASONS[kinds[of]] for of in sought.of.tolist()]

    def passage(self, text: int, first: int, behind: int) -> tuple[int, int, str]:
        """The words of a text from the first on, as it was given: from which character to which, and themselves."""
        at = int(np.searchsorted(self._texts_before, text, "right")) - 1
        pieces = self.benchmarks[at].texts[text - int(self._texts_before[at])]
        read = [PlainText.of(piece) for piece in pieces]
        joined = np.frombuffer(b"\n".join(one.text.tobytes() for one in read), np.uint8)
        starts, ends = located(joined, FLAGS, np.array([first, behind - 1], np.int64))
        before = np.cumsum([0, *(one.text.size + 1 for one in read)])
        chars = np.cumsum([0, *(len(piece) + 1 for piece in pieces)])
        found = list[int]()
        for byte, side in ((int(starts[0]), 0), (int(ends[1]) - 1, 1)):
            piece = int(np.searchsorted(before, byte, "right")) - 1
            own = np.array([byte - before[piece]])
            found.append(int(chars[piece] + read[piece].original(own, own + 1)[side][0]))
        return found[0], found[1], "\n".join(pieces)[found[0] : found[1]]

    @cached_property
    def _texts_before(self) -> Int64s:
        return np.cumsum([0, *(len(items.texts) for items in self.benchmarks)])
