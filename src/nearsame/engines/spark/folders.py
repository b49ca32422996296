"""What names of folders say of files, as `year=2024`: whole numbers or texts, by the rule of one machine."""

import os
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from nearsame.engines.spark.files import require_apart
from nearsame.engines.spark.places import as_name, as_path
from nearsame.engines.spark.plans import said_by_folders
from nearsame.errors import ColumnError
from nearsame.files.keys import are_whole, said_by_path

__all__ = ["with_folders"]

_WHOLE = ("int", "bigint")


def with_folders(reader: Any, paths: list[str], texts: AbstractSet[str]) -> Any:
    """What a reader makes of paths; what names of folders say are whole numbers or texts, as on one machine."""
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    frame = reader.load(paths)
    said = said_by_folders(frame)
    ours = next((name for name in said if name.lower().startswith("nearsame_")), None)
    if ours is not None:
        message = f"{as_name(paths[0])} has a folder {ours}=…: names that begin with nearsame_ are nearsame's own"
        raise ColumnError(message, hint="Rename it.")
    whole = {name for name in _whole_numbers(frame, said, as_name(paths[0])) if name not in texts}
    odd = {
        name: LongType() if name in whole else StringType()
        for name, kind in said.items()
        if kind not in (_WHOLE if name in whole else ("string",))
    }
    if not odd:
        return frame
    fields = [
        StructField(field.name, odd[field.name], field.nullable) if field.name in odd else field
        for field in frame.schema.fields
    ]
    return reader.schema(StructType(fields)).load(paths)


def _whole_numbers(frame: Any, said: Iterable[str], name: str) -> set[str]:
    """What of it names of folders say whole numbers of, by the rule of one machine: Spark has others, or none.

    Raises:
        ColumnError: Names differ in capitals alone, which Spark takes for one.
    """
    if not said:
        return set()
    values: dict[str, set[str]] = {}
    folders = {as_path(file).rpartition("/")[0] for file in frame.inputFiles()}
    for folder in folders:
        for key, value in said_by_path(folder).items():
            values.setdefault(key, set()).add(value)
    above = os.path.commonprefix([*folders]).rpartition("/")[0]  # noqa: RUF071  (addresses have two slashes; up to the last one)
    below = {key for folder in folders for key in said_by_path(folder.removeprefix(above))}
    lowered = {one.lower() for one in said}
    require_apart(sorted(key for key in below if key.lower() in lowered), name)
    return {key for key in values if key in said and are_whole(values[key])}
