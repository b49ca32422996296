"""Whether a DataFrame gives the same rows each time that it is computed, as far as its plan can tell.

1. What stays is found again by the content of its rows, and a task may run twice: a column drawn by chance, or one that
   says the time, makes every row another. What is persisted, or lies in files, stays the same.
2. A condition may ask for the time: then rows come and go as they would for anybody. It must not draw lots.
3. Numbers of partitions and names of files are not chance.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

__all__ = ["changing", "is_tried_cheaply", "known_bytes", "roots", "said_by_folders", "twice_named", "with_file"]

_STEADY = (
    "MonotonicallyIncreasingID",
    "SparkPartitionID",
    "InputFileName",
    "InputFileBlockStart",
    "InputFileBlockLength",
    "CurrentUser",  # as of here: to Spark they are like the time
    "CurrentDatabase",
    "CurrentCatalog",
    "CurrentTimeZone",
)
_CONDITION = "Filter"
_ROW_BY_ROW = frozenset({"Filter", "LocalRelation", "LogicalRDD", "Project", "SubqueryAlias", "Union"})
_SHUFFLED = frozenset({"Repartition", "RepartitionByExpression"})


def changing(frame: Any) -> str | None:
    """What makes rows others each time, as SQL calls it; None if nothing does."""
    plan = frame._jdf.queryExecution().withCachedData()  # noqa: SLF001  (no public word for a plan)
    trees = frame.sparkSession._jvm.org.apache.spark.sql.catalyst.trees  # noqa: SLF001  (likewise)
    time = trees.TreePattern.CURRENT_LIKE()
    if plan.deterministic() and not plan.containsPattern(time):
        return None
    return next(_found(plan, time), None)


def roots(frame: Any) -> list[str]:
    """The files and folders that a frame is read from, persisted or not: what was named, its patterns resolved."""
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001  (likewise)
    return list(dict.fromkeys(_roots(frame.sparkSession, plan)))


def twice_named(frame: Any, header: Sequence[str] = ()) -> list[str]:
    """Columns that its files have, and that names of their folders say, too: Spark takes the folders'.

    Args:
        frame: What is read.
        header: What Spark was told that the files have: of that it holds for the folders' what these say.
    """
    told = {name.lower() for name in header}
    every = [(_lowered(said), _lowered(held)) for said, held in _schemas(frame)]
    return [said[name] for said, held in every for name in said.keys() & (held.keys() | told)]


def said_by_folders(frame: Any) -> dict[str, str]:
    """The types of the columns that names of folders say."""
    fields = (field for said, _ in _schemas(frame) for field in _each(said))
    return {str(field.name()): str(field.dataType().simpleString()) for field in fields}


def _schemas(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Of files that a frame is read from, as Spark's own sources have them: what folders say, and what is in them."""
    from py4j.protocol import Py4JError

    for node in _nodes(frame._jdf.queryExecution().analyzed()):  # noqa: SLF001  (likewise)
        kind = node.getClass().getSimpleName()
        if kind == "LogicalRelation" and node.relation().getClass().getSimpleName() == "HadoopFsRelation":
            yield node.relation().partitionSchema(), node.relation().dataSchema()
        elif kind == "DataSourceV2Relation":
            with suppress(Py4JError):  # it is not made of files that Spark lists
                yield node.table().fileIndex().partitionSchema(), node.table().dataSchema()


def _lowered(schema: Any) -> dict[str, str]:
    return {str(field.name()).lower(): str(field.name()) for field in _each(schema)}


def known_bytes(frame: Any) -> int:
    """How large a frame is as far as its plan knows, files packed as they are; far too much where it knows nothing."""
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  (likewise)
    return int(plan.stats().sizeInBytes())


def is_tried_cheaply(frame: Any) -> bool:
    """Whether the first rows of a frame, made of RDDs, are there without all others being computed.

    They are where rows become rows one by one; and where all lies on the driver, as what was a list of Python's does.
    """
    plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001  (likewise)
    names = {str(node.getClass().getSimpleName()) for node in _nodes(plan)}
    rdds = [node.rdd() for node in _nodes(plan) if node.getClass().getSimpleName() == "LogicalRDD"]
    if names <= _ROW_BY_ROW:
        return bool(rdds)
    first = (str(rdd.getClass().getSimpleName()) for rdd in _rdds(rdds) if rdd.dependencies().isEmpty())
    return bool(rdds) and names <= _ROW_BY_ROW | _SHUFFLED and set(first) == {"ParallelCollectionRDD"}


def with_file(frame: Any, name: str) -> Any:
    """The frame, and in a column the file that each row stands in; null where Spark does not tell."""
    from pyspark.errors import PySparkException

    try:
        return frame.select("*", frame.metadataColumn("_metadata")["file_path"].alias(name))
    except PySparkException:  # it is not of files, or they lie behind a union or a join
        return frame.selectExpr("*", f"cast(null as string) as {name}")


def _roots(session: Any, plan: Any) -> Iterator[str]:
    read = _READ.get(str(plan.getClass().getSimpleName()))
    if read is not None:
        yield from read(session, plan)
    for one in (plan.children(), plan.subqueries()):
        for child in _each(one):
            yield from _roots(session, child)


def _of_files(session: Any, plan: Any) -> Iterator[str]:
    relation, table = plan.relation(), plan.catalogTable()
    if relation.getClass().getSimpleName() == "HadoopFsRelation":
        yield from (str(path.toString()) for path in _each(relation.location().rootPaths()))
    if table.isDefined():
        yield from _of_partitions(session, table.get())


def _of_partitions(session: Any, table: Any) -> Iterator[str]:
    """Where the partitions of a table of the catalog lie: each may be anywhere."""
    if table.partitionColumnNames().isEmpty():
        return
    catalog = session._jsparkSession.sessionState().catalog()  # noqa: SLF001  (likewise)
    anything = session._jvm.scala.Option.empty()  # noqa: SLF001  (likewise)
    for part in _each(catalog.listPartitions(table.identifier(), anything)):
        if part.storage().locationUri().isDefined():
            yield _path_of(session, part.location())


def _path_of(session: Any, uri: Any) -> str:
    """A URI as a path, in which no sign is escaped."""
    return str(session._jvm.org.apache.hadoop.fs.Path(uri).toString())  # noqa: SLF001  (likewise)


def _of_a_table(_session: Any, plan: Any) -> Iterator[str]:
    """Of sources of the second version: files as they are, and tables that say where they lie."""
    from py4j.protocol import Py4JError

    table = plan.table()
    try:
        yield from (str(path.toString()) for path in _each(table.fileIndex().rootPaths()))
    except Py4JError:  # it is not made of files that Spark lists
        location = table.properties().get("location")
        if location is not None:
            yield str(location)


def _of_hive(session: Any, plan: Any) -> Iterator[str]:
    yield _path_of(session, plan.tableMeta().location())
    yield from _of_partitions(session, plan.tableMeta())


def _of_rdd(_session: Any, plan: Any) -> Iterator[str]:
    """What the RDD that a frame was made of is read from, back to its first ones."""
    for rdd in _rdds([plan.rdd()]):
        kind = str(rdd.getClass().getSimpleName())
        if kind == "FileScanRDD":
            files = (file for part in _each(rdd.filePartitions()) for file in part.files())
            yield from {str(file.toPath().getParent().toString()) for file in files}
        elif kind in _NAMED_BY_PATHS and rdd.name() is not None:
            yield from str(rdd.name()).split(",")


def _rdds(left: list[Any]) -> Iterator[Any]:
    """RDDs, and those that they are made of, back to the first ones."""
    left, seen = [*left], set[int]()
    while left:
        rdd = left.pop()
        if rdd.id() not in seen:
            seen.add(rdd.id())
            yield rdd
            left += [dependency.rdd() for dependency in _each(rdd.dependencies())]


def _nodes(plan: Any) -> Iterator[Any]:
    """A plan's nodes, from the top."""
    yield plan
    for child in _each(plan.children()):
        yield from _nodes(child)


_NAMED_BY_PATHS = frozenset({"HadoopRDD", "NewHadoopRDD", "WholeTextFileRDD", "BinaryFileRDD"})
_READ: Mapping[str, Callable[[Any, Any], Iterator[str]]] = {
    "LogicalRelation": _of_files,
    "DataSourceV2Relation": _of_a_table,
    "HiveTableRelation": _of_hive,
    "LogicalRDD": _of_rdd,
    "ExternalRDD": _of_rdd,
}


def _found(plan: Any, time: Any) -> Iterator[str]:
    timeless = plan.nodeName() == _CONDITION
    for expression in _each(plan.expressions()):
        yield from _drawn(expression, time, timeless=timeless)
    for child in _each(plan.children()):
        yield from _found(child, time)


def _drawn(expression: Any, time: Any, *, timeless: bool) -> Iterator[str]:
    """The innermost expressions that say something else each time."""
    tells_time = not timeless and expression.containsPattern(time)
    if expression.deterministic() and not tells_time:
        return
    children = list(_each(expression.children()))
    for child in children:
        yield from _drawn(child, time, timeless=timeless)
    own = tells_time and not any(child.containsPattern(time) for child in children)
    own = own or (not expression.deterministic() and all(child.deterministic() for child in children))
    if own and expression.getClass().getSimpleName() not in _STEADY:
        yield f"{expression.prettyName()}()"


def _each(several: Any) -> Iterator[Any]:
    return (several.apply(number) for number in range(several.size()))
