"""Where a run runs: on this machine, or on Spark, in a session that lives as long as the command.

1. An option that the chosen engine does not have is an error that names it; none is ever ignored.
2. Nothing of Spark is loaded, or looked for, before it is asked for.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from nearsame.errors import ConfigError
from nearsame.printable import printable

__all__ = ["check", "running_on"]

_ONE_MACHINE = {
    "threads": "--threads",
    "memory": "--memory",
    "annotate": "--annotate",
    "copy_files": "--copy",
    "url_rules": "--url-rules",
    "up_to": "--up-to",
    "spreadsheet": "--spreadsheet",
    "drop_unreadable": "--drop-unreadable",
    "revisits": "--revisits",
    "mask": "--mask",
    "encoding": "--encoding",
    "codes_column": "--codes-column",
    "include": "--include",
    "exclude": "--exclude",
    "read_as": "--as",
}
_OF_LAYERS = ("url_rules", "up_to")  # which Spark has, too
_INSTEAD = {
    **dict.fromkeys(_OF_LAYERS, "Add --use, or leave it out."),
    "threads": "Choose with --master, as in local[4].",
    "memory": "Set --conf spark.driver.memory=4g, or spark.executor.memory on a cluster.",
}
_SPARK = {
    "master": "--master",
    "conf": "--conf",
    "partitions": "--partitions",
    "broadcast_bytes": "--broadcast",
    "driver_bytes": "--on-driver",
}


def check(given: Mapping[str, Any], *, anywhere: Collection[str] = ()) -> None:
    """See that every option that was given is one of the engine's, but for those that are about neither.

    Raises:
        ConfigError: One is the other engine's.
    """
    if given["engine"] == "spark":
        anywhere = (*anywhere, *(_OF_LAYERS if given.get("use") else ()))
        for name, option in _ONE_MACHINE.items():
            if _is_given(given.get(name)) and name not in anywhere:
                where = "on Spark without --use" if name in _OF_LAYERS else "with --engine spark"
                hint = _INSTEAD.get(name, "Leave it out.")
                raise ConfigError(f"{option} does nothing {where}", hint=hint)
        if "-" in (*given["sources"], *given.get("against", ())):
            raise ConfigError("Spark cannot read standard input", hint="Write it to a file that all executors see.")
        return
    for name, option in _SPARK.items():
        if _is_given(given.get(name)):
            raise ConfigError(f"{option} does nothing without --engine spark", hint="Add --engine spark.")


@contextmanager
def running_on(given: Mapping[str, Any], *, listing: bool = False) -> Iterator[dict[str, Any]]:
    """What a run needs to know of the engine, while it runs; the place to write to has been checked."""
    if given["engine"] == "local":
        yield {name: given[name] for name in ("threads", "memory", "workdir") if name in given}
        return
    from nearsame.engines.spark import start
    from nearsame.engines.spark.settings import Spark
    from nearsame.frames.writing import MADE, STATS, check_target, format_of

    chosen = {
        name: given[name] for name in ("partitions", "broadcast_bytes", "driver_bytes") if given.get(name) is not None
    }
    Spark(None, **chosen)  # what cannot be is said before a session is started
    target, sources = given["output"], [*given["sources"], *given.get("against", ())]
    if target is not None and listing:
        format_of(target)
    with start.started(given["master"], given["conf"]) as session:
        if target is not None:
            mark = MADE if listing else STATS
            for note in check_target(session, target, sources, mark, overwrite=given["overwrite"]):
                click.echo(printable(note), err=True)
        workdir = {"workdir": given["workdir"]} if "workdir" in given else {}
        yield {"engine": Spark(session, **chosen), **workdir}


def _is_given(value: Any) -> bool:
    """Whether an option was given, be it 0."""
    return value is not None and value is not False and value != ()
