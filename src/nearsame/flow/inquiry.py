"""What a call of `dedup` or `pairs` asks for, before anything is read: by which recipe, of which columns, where."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.engines.checkpoints import Checkpoints
from nearsame.engines.local import Local
from nearsame.engines.space import num_bytes
from nearsame.errors import ConfigError
from nearsame.flow.checks import chosen_codes, chosen_ties, chosen_vectors
from nearsame.flow.decisions import Decisions
from nearsame.flow.evidence import OneForm
from nearsame.flow.layer_names import INDEX
from nearsame.flow.options import RunOptions
from nearsame.flow.page_reading import with_encoding, with_max_record, with_pages
from nearsame.recipes.arguments import require_number
from nearsame.recipes.choices import OwnLayer
from nearsame.recipes.methods import Method
from nearsame.recipes.urls import CanonicalUrl
from nearsame.sources import Columns
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.policies import Keep

if TYPE_CHECKING:
    from nearsame.flow.asked import Known

__all__ = ["Inquiry", "columns_of", "priority"]


@dataclass(frozen=True)
class Inquiry:
    """What a call asks for, seen to: `options` are those of the call, `settings` what is recorded of it."""

    method: Method
    keep: Keep
    columns: Columns
    options: RunOptions
    settings: dict[str, Any]
    layers: tuple[OwnLayer, ...] | None = None
    urls: CanonicalUrl | OneForm = field(default_factory=CanonicalUrl)
    within: bool = True
    listing: bool = False
    decisions: Decisions | None = None
    indexes: "tuple[Known, ...]" = ()  # that are asked
    clock: Clock | None = None  # of a run that has begun
    called: Callable[[Reading], pa.Table] | None = None  # what rows are called, if not as sources call them

    def __post_init__(self) -> None:
        for name in ("threads", "batch_rows"):
            if (number := self.options.get(name)) is not None:
                require_number(name, number, 1)

    def asking(self, indexes: "Sequence[Known]") -> Self:
        """The same with indexes that are asked, in a layer before all others.

        Raises:
            ConfigError: What is asked of the run cannot be asked of them.
        """
        if not indexes:
            return self
        asked = {
            "pairs": self.listing,
            "decisions": self.decisions is not None,
            f"group_by={self.settings.get('group_by')!r}": "group_by" in self.settings,
            f"method={self.method.name}": self.method.is_textless or self.method.across_only,
        }
        for what, is_asked in asked.items():
            if is_asked:
                message = f"{what} and {indexes[0].where}: this index stores no texts, and only says what is like it"
                hint = "Ask it with nearsame index query, or create it with --store text: then texts are compared."
                raise ConfigError(message, hint=hint)
        used = (INDEX, *(self.layers or ("text",)))
        told = {"use": list(used), "urls": self.urls.record(), "indexes": [known.record for known in indexes]}
        return replace(self, layers=used, indexes=tuple(indexes), settings={**self.settings, **told})

    def engine(self, identity: dict[str, Any] | None = None, growth: float = 1) -> Local:
        """This machine; with the identity of the run, in its work directory."""
        memory, threads = self.options["memory"], self.options["threads"] or 0
        workdir = None if identity is None else self.options["workdir"]
        engine = Local(
            threads,
            None if memory is None else num_bytes(memory),
            None if workdir is None else Path(workdir),
            growth=growth,
        )
        if engine.workdir is not None:
            engine.checkpoints = Checkpoints(engine.workdir, identity or {})
        return engine


def priority(keep: str | Sequence[str], options: RunOptions) -> Keep:
    """Which of two documents comes first."""
    order_column = options["order_column"]
    return Keep.parse(keep, chosen_ties(options["ties"], order_column, options["engine"]), order_column)


def columns_of(options: RunOptions, method: Method, keep: Keep, other_columns: tuple[str, ...] = ()) -> Columns:
    """What is read of the sources; besides the content, the URL and what else is named."""
    columns = Columns(
        options["text_column"],
        options["id_column"],
        keep.reads,
        options["features_column"],
        chosen_vectors(method, options["vector_column"]),
        (options["url_column"] or "url", *other_columns),
    )
    columns = chosen_codes(columns, method, options["codes_column"])
    columns = with_max_record(with_pages(columns, options), options["max_record"])
    text, identity = options["against_text_column"], options["against_id_column"]
    other = next((name for name in ("items", "vectors", "codes", "html") if getattr(columns, name) is not None), None)
    if text is not None and other is not None:
        message = f"against_text_column={text!r}: the documents are not read from a column of texts"
        raise ConfigError(message, hint="Leave it out.")
    return replace(with_encoding(columns, options["encoding"]), against_text=text, against_id=identity)
