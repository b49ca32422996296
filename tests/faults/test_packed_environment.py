"""What docs/spark.md tells those who have a cluster: an environment packed once, and shipped by spark-submit."""

import os
import subprocess
import sys

import pyarrow.dataset as ds
import pytest

import nearsame as ns
from tests import sparks
from tests.parity import corpora

from .cluster_job import in_files
from .standalone import ROOT, cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # it installs and packs a gigabyte

_LOCAL = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "700m"}


def _told(*command, cwd, **environment):
    """What a command writes; it knows nothing of this process's environment but what is given."""
    environment |= {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    environment |= {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "JAVA_"))}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """An environment with a wheel of this checkout and what it needs, and the same as one file."""
    home = tmp_path_factory.mktemp("packed")
    environment, file = home / "environment", home / "environment.tar.gz"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "-w", home, ROOT]
    _told(*build, cwd=home, NEARSAME_WHEEL_KERNELS="checkout")
    _told(sys.executable, "-m", "venv", environment, cwd=home)
    wheel = next(home.glob("*.whl"))
    pip = [environment / "bin" / "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    _told(*pip, f"{wheel}[spark]", "venv-pack", "setuptools", cwd=home)
    _told(environment / "bin" / "venv-pack", "-p", environment, "-o", file, cwd=home)
    return environment, file


def test_workers_need_nothing_but_what_is_shipped(packed, tmp_path):
    """The example of a job, sent to workers that have never heard of nearsame; the answer is one machine's."""
    sparks.require_java()
    environment, file = packed
    table = corpora.mixed(7)
    crawl = in_files(table.filter(table["text"].is_valid()), tmp_path / "crawl")
    example = (ROOT / "examples" / "spark_job.py").read_text("utf-8")
    assert 1 == example.count("ns.Spark(session)")  # few documents would come to the driver
    (tmp_path / "job.py").write_text(example.replace("ns.Spark(session)", "ns.Spark(session, driver_bytes=0)"), "utf-8")
    with cluster(tmp_path / "cluster", knows_nearsame=False) as workers:
        options = ["--master", workers.url, "--archives", f"{file}#environment"]
        options += [word for item in _LOCAL.items() for word in ("--conf", "=".join(item))]
        printed = _told(
            environment / "bin" / "spark-submit", *options, tmp_path / "job.py", crawl, tmp_path / "clean",
            cwd=tmp_path, PYSPARK_PYTHON="./environment/bin/python",
            PYSPARK_DRIVER_PYTHON=str(environment / "bin" / "python"),
        )  # fmt: skip
        assert [*(tmp_path / "cluster").glob("worker-*/app-*/*/environment")], "no executor has unpacked it"
    method = ns.MinHash(threshold="0.8", recall=0.99)
    expected = ns.dedup(crawl, method=method, keep="longest", ties="content")
    stats = expected.stats
    assert f"{stats.documents:,} documents, {stats.removed:,} removed, {stats.kept:,} kept\n" in printed
    found = ds.dataset(tmp_path / "clean" / "kept", format="parquet").to_table(columns=["number"])
    assert sorted(expected.kept()["number"].to_pylist()) == sorted(found["number"].to_pylist())
    assert 0 < stats.removed < stats.documents
