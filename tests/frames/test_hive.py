"""Tables of a Hive metastore as sources: read by name, and never written over, wherever their partitions lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import sparks

# Of a process of its own: a session with Hive cannot be had beside one without.
_PROGRAM = """
import json, sys
import nearsame as ns
from pyspark.sql import SparkSession

home, conf = sys.argv[1], json.loads(sys.argv[2])
spark = SparkSession.builder.master("local[2]").config(map=conf).enableHiveSupport().getOrCreate()
engine, answer, warehouse = ns.Spark(spark), f"{home}/clean day", f"{home}/warehouse/mydb.db"
ns.dedup(["a text", "another one"], engine=engine).write(answer)
rows = [(str(number), f"one and the same text of some words {number // 2}", number % 2) for number in range(8)]
columns = "id string, text string"
frame = spark.createDataFrame(rows, f"{columns}, year int").coalesce(1)
spark.sql("create database mydb")
for kind in ("parquet", "textfile", "orc"):
    spark.sql(f"create table mydb.{kind}_parts ({columns}) partitioned by (year int) stored as {kind}")
    frame.write.insertInto(f"mydb.{kind}_parts")
spark.sql(f"create table mydb.lines ({columns}, year int) stored as textfile location '{home}/a table'")
frame.write.insertInto("mydb.lines")
frame.select("id", "text").write.parquet(f"{answer}/parquet")
frame.select("id", "text").write.option("sep", "\\1").csv(f"{answer}/textfile")
for kind in ("parquet", "textfile"):
    spark.sql(f"alter table mydb.{kind}_parts add partition (year=7) location '{answer}/{kind}'")
spark.sql("create view mydb.view as select * from mydb.textfile_parts where id > ''")
told, elsewhere = {}, {"lines": f"{home}/a table", "view": f"{warehouse}/textfile_parts"}
for name in ("parquet_parts", "textfile_parts", "view", "orc_parts", "lines"):
    found = ns.dedup(f"mydb.{name}", engine=engine)
    told[name] = [found.stats.documents, found.stats.removed]
    own = elsewhere.get(name, f"{warehouse}/{name}")
    for place in (own, f"{own}/new", home, answer):
        try:
            found.write(place, overwrite=True)
            told[name].append("written")
        except ns.OutputError as error:
            told[name].append("refused" if "the source" in str(error) else str(error))
print(json.dumps(told))
"""


@pytest.mark.slow
def test_tables_of_hive_are_sources_and_are_not_written_over(tmp_path: Path) -> None:
    """In Parquet, ORC and text, with partitions in and outside of their folder, and behind a view."""
    sparks.require_java()
    own = {
        "spark.sql.warehouse.dir": f"{tmp_path}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path), json.dumps(sparks.CONF | own)]
    environment = os.environ | sparks.environment()
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert 0 == ended.returncode, ended.stderr[-2000:]
    refused = ["refused"] * 3
    inside, outside = [8, 4, *refused, "written"], [16, 12, *refused, "refused"]
    expected = {
        "parquet_parts": outside,
        "textfile_parts": outside,
        "view": outside,
        "orc_parts": inside,
        "lines": inside,
    }
    assert expected == json.loads(ended.stdout.splitlines()[-1])
