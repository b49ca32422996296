"""Copies that are made at once do not take each other's names."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nearsame.outputs.annotations import Verdict
from nearsame.outputs.tables import RowNames
from nearsame.outputs.writing import copy_parts
from nearsame.schemas import ORIGINS


@dataclass
class _Part:
    name: str
    done: list[str]
    copied_last: bool = False
    target: str = field(default="x")

    def copy(self, *_: Any, **_how: Any) -> None:
        self.done.append(self.name)


def test_who_takes_a_free_name_comes_when_all_others_have_theirs(tmp_path: Path) -> None:
    """Wherever it stands among the sources: a copy would overwrite annotations that came before it."""
    done: list[str] = []
    parts = [_Part("texts", done, copied_last=True), *(_Part(f"file {number}", done) for number in range(4))]
    nothing = np.array([], np.int64)
    verdict = Verdict(RowNames(ORIGINS.empty_table(), [part.name for part in parts]), nothing, nothing)
    copy_parts(dict(enumerate(parts)), verdict, tmp_path)
    assert ("texts", 5) == (done[-1], len(done))
