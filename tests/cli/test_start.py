"""What a command loads: nothing that it does not use."""

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.cli import main
from nearsame.kernels import waiting
from nearsame.kernels._jit import is_built
from nearsame.outputs.progress import watched
from tests.cli.commands import documents, write_jsonl

HEAVY = {"altair", "asyncio", "fastapi", "fsspec", "pandas", "pydantic", "pyspark", "uvicorn"}
HEAVY |= (  # Numba imports what there is of these
    {"llvmlite", "numba", "numpy.random", "scipy", "subprocess"} if is_built() else set()
)
COMMANDS = {
    "dedup": ["dedup", "texts.jsonl", "-o", "out"],
    "minhash": ["dedup", "texts.jsonl", "-o", "out", "--method", "minhash"],
    "simhash": ["dedup", "texts.jsonl", "-o", "out", "--method", "simhash"],
    "pairs": ["pairs", "texts.jsonl", "-o", "out.csv"],
    "pairs of codes": ["pairs", "codes.parquet", "--codes-column", "code", "-o", "out.csv"],
    "compare": ["compare", "one.txt", "other.txt"],
    "plan": ["plan", "--threshold", "0.7"],
    "explain": ["explain", "a rose is a rose is a rose"],
    "index query": ["index", "query", "seen.ns", "a rose is a rose is a rose"],
    "verify": ["verify", "before"],
}
OURS = {  # at most so many modules of ours; each costs some .4 ms of every start
    "dedup": 219,
    "pairs": 219,
    "compare": 168,
    "plan": 56,
    "explain": 147,
    "index query": 215,
}
PROGRAM = """
import dataclasses, json, sys
from nearsame.cli.main import main
try:
    main()
except SystemExit as end:
    by_python = [name for name, each in sys.modules.items() if vars(each).get("dataclass") is dataclasses.dataclass]
    print(json.dumps([end.code, sorted(sys.modules), sorted(by_python)]))
"""


def loaded(folder, arguments):
    """The exit code of a command in a process of its own, what it loaded, and what of that uses Python's dataclass."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def needed(name, folder, tmp_path):
    """What one of the commands loads that does its work, and what of that uses Python's dataclass."""
    code, *found = loaded(folder, [str(tmp_path / each) if each.startswith("out") else each for each in COMMANDS[name]])
    assert code in {0, 1}
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents, an index of them, and an output."""
    folder = tmp_path_factory.mktemp("start")
    write_jsonl(folder / "texts.jsonl", documents())
    codes = {"id": ["a", "b", "c"], "code": pa.array([1, 1, 1 << 63], pa.uint64())}
    pq.write_table(pa.table(codes), folder / "codes.parquet")
    (folder / "one.txt").write_text("a rose is a rose is a rose", "utf-8")
    (folder / "other.txt").write_text("a rose is a rose is a daisy", "utf-8")
    assert 0 == loaded(folder, ["index", "create", "seen.ns"])[0]
    assert 0 == loaded(folder, ["index", "add", "seen.ns", "texts.jsonl"])[0]
    assert 0 == loaded(folder, ["dedup", "texts.jsonl", "-o", "before"])[0]
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_nothing_heavy_that_it_does_not_use(name, folder, tmp_path):
    """Neither what is optional, nor what was installed beside it, nor the compiler where kernels are built."""
    modules, _ = needed(name, folder, tmp_path)
    assert set() == HEAVY & set(modules)


@pytest.mark.parametrize("name", OURS)
def test_a_command_loads_few_modules_of_ours(name, folder, tmp_path):
    """A start is mostly imports: what a command needs for one small thing stands apart from what nobody asked for."""
    modules, _ = needed(name, folder, tmp_path)
    ours = [module for module in modules if module.partition(".")[0] == "nearsame"]
    assert len(ours) <= OURS[name], ours


@pytest.mark.parametrize("name", OURS)
def test_a_command_compiles_no_methods_that_it_does_not_use(name, folder, tmp_path):
    """Of a hundred classes of data: only kernels, whose sources are built, have Python's own."""
    _, by_python = needed(name, folder, tmp_path)
    ours = [module for module in by_python if module.startswith("nearsame.")]
    assert [] == [module for module in ours if not module.startswith(("nearsame.kernels.", "nearsame.dataclass"))]


@pytest.mark.parametrize("name", OURS)
def test_a_command_waits_for_none_of_the_functions_that_arrow_writes(name, folder, tmp_path):
    """`pyarrow.compute` writes 290 of them, a quarter of all that is imported; nearsame.computing has ours."""
    modules, _ = needed(name, folder, tmp_path)
    assert set() == {"pyarrow.compute", "pyarrow.acero", "pyarrow.dataset"} & set(modules)


@pytest.mark.parametrize("name", OURS)
def test_arrow_guesses_no_types(name, folder, tmp_path):
    """For that it imports what there is of dateutil: whoever makes an array says of what. Nor are tables unpacked."""
    modules, _ = needed(name, folder, tmp_path)
    assert set() == ({"dateutil", "zipfile"} if is_built() else {"dateutil"}) & set(modules)


@pytest.mark.parametrize("name", ["pairs", "compare", "plan", "explain"])
def test_what_writes_no_parquet_loads_nothing_of_it(name, folder, tmp_path):
    """Nor the file systems of clouds, which come with it."""
    modules, _ = needed(name, folder, tmp_path)
    assert set() == {"pyarrow.parquet", "pyarrow.fs"} & set(modules)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux lists them")
@pytest.mark.parametrize("wanted", [None, "2"])
def test_numpy_starts_no_threads_that_nobody_asked_for(wanted, folder):
    """Those for linear algebra wait busily for their first work: a fifth of what a small run took."""
    program = (  # threads of pyarrow have names of their own
        "import os, pathlib, sys; sys.exit = print; from nearsame.cli.main import main; main(); import numpy;"
        "names = [each.read_text() for each in pathlib.Path('/proc/self/task').glob('*/comm')];"
        "print(os.environ['OPENBLAS_NUM_THREADS'], names.count(pathlib.Path('/proc/self/comm').read_text()))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if wanted is None else {"OPENBLAS_NUM_THREADS": wanted}
    command = [sys.executable, "-c", program, "plan", "--threshold", "0.7"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=environment)
    found, threads = run.stdout.split()[-2:]
    assert (wanted or "1") == found
    assert threads == "1" or wanted is not None


def test_a_command_runs_behind_a_frame_with_room_for_all_others(monkeypatch):
    """Otherwise imports take memory for their frames and give it back nine hundred times."""
    sizes = []
    monkeypatch.setattr(main.commands, "main", lambda: sizes.append(sys._getframe(1).f_code.co_stacksize))
    monkeypatch.setattr(main.signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = gc.get_threshold()
    try:
        main.main()
    finally:
        gc.set_threshold(*before)
    assert [True] == [size > 30_000 for size in sizes]


@pytest.mark.parametrize("name", ["dedup", "pairs"])
def test_a_report_to_a_file_needs_no_rich_and_numbers_no_masked_arrays(name, folder, tmp_path):
    """What Rich and `numpy.ma` do for them is done without (outputs/lines.py, arrow.py)."""
    modules, _ = needed(name, folder, tmp_path)
    assert set() == {"rich.console", "rich.text", "numpy.ma"} & set(modules)


def test_a_run_loads_no_other_command_and_no_other_method(folder, tmp_path):
    """Nor what reads other formats or draws progress."""
    modules, _ = needed("dedup", folder, tmp_path)
    others = {"nearsame.cli.urls", "nearsame.cli.serve", "nearsame.flow.code_steps", "nearsame.sources.mhtml"}
    others |= {"nearsame.flow.layers", "nearsame.flow.audits", "nearsame.stages.keys.urls", "nearsame.sources.revisits"}
    others |= {"nearsame.outputs.live", "rich.progress", "pyarrow.csv", "pyarrow.orc"}
    assert set() == others & set(modules)


@pytest.mark.slow
def test_where_numba_compiles_the_first_run_says_so(tmp_path):
    """In one line, of whatever command; as on a platform that no kernels were compiled ahead for."""
    environment = {**os.environ, "NEARSAME_KERNELS": "jit", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    told = "first run: compiling for this processor takes up to half a minute more; the result is kept"
    (tmp_path / "a.txt").write_text("A rose is a rose.")
    for expected in ([told], []):
        command = [sys.executable, "-m", "nearsame", "compare", tmp_path / "a.txt", tmp_path / "a.txt.txt"]
        shutil.copy(tmp_path / "a.txt", tmp_path / "a.txt.txt")
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert expected == run.stderr.splitlines()


def test_whoever_watches_is_told_what_compiles(caplog, capsys, monkeypatch):
    """The innermost who listens, and once; the log where nobody does."""
    told = []
    with waiting.telling(told.append), waiting.telling(lambda _: told.append("inner")):
        monkeypatch.setattr(waiting, "_TOLD", [])
        waiting.tell()
        waiting.tell()
    assert ["inner"] == told
    caplog.set_level("INFO", "nearsame")
    monkeypatch.setattr(waiting, "_TOLD", [])
    waiting.tell()
    assert [record.message.partition(":")[0] for record in caplog.records] == ["first run"]
    monkeypatch.setattr(waiting, "_TOLD", [])
    with watched(quiet=True):
        waiting.tell()
    assert "" == capsys.readouterr().err


def test_who_calls_the_library_has_pandas_all_the_same(tmp_path):
    """Only a process of the command line does without: pyarrow tells missing values from NaN by it."""
    code = """if True:
        import nearsame as ns
        ns.dedup(["a rose", "a rose"])
        import pandas, pyarrow
        print(pyarrow.array(pandas.Series([1.0, None])).null_count)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "1" == run.stdout.strip()
