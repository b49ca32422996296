"""The laws of ARCHITECTURE.md, executed: who imports whom, what an import costs, what files may be called."""

import ast
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nearsame.recipes.methods import METHODS, Recipe

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "nearsame"
MODULES = sorted(PACKAGE.rglob("*.py"))
BENCHES = sorted(path for path in (ROOT / "bench").rglob("*.py") if ".venv-peers" not in path.parts)

OPTIONAL_OR_HEAVY = {"altair", "fastapi", "llvmlite", "numba", "pandas", "pyspark", "rich", "scipy", "uvicorn"}
NOT_FOR_HELP = OPTIONAL_OR_HEAVY - {"rich"} | {"numpy", "pyarrow", "pydantic"}
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
# Where a method gets its stages.
CHOOSING = {"flow/code_steps.py", "flow/sketching.py", "flow/steps.py", "index/facets.py"}
TWINS = {"Meeting", "Transaction"}  # of arrays and of frames; of each store: the same thing in two hands
MOST_WITHIN = 10  # arguments of a kernel that other kernels call
VAGUE = {"base_utils", "common", "core", "helper", "helpers", "misc", "util", "utils"}

needs_package = pytest.mark.skipif(not (PACKAGE / "__init__.py").exists(), reason="nearsame/__init__.py is missing")
needs_cli = pytest.mark.skipif(not (PACKAGE / "cli" / "main.py").exists(), reason="nearsame.cli.main is missing")


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """The import contract of the checkout, run over the package below `source`."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / ".importlinter"],
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `code`."""
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(name.split('.')[0] for name in sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def relative(path: Path) -> str:
    """A path as a failure should name it."""
    return path.relative_to(ROOT).as_posix()


def test_the_import_contract_holds() -> None:
    """Layers, stages, purity and homes, as .importlinter states them."""
    run = lint_imports(ROOT / "src")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("utils.py", "", "nearsame.utils"),
        ("stages/common.py", "", "nearsame.stages.common"),
        ("kernels/planted.py", "import nearsame.sources.base", "Each layer imports only from below BROKEN"),
        ("sources/planted.py", "from nearsame.engines import base", "Each layer imports only from below BROKEN"),
        ("stages/keys/planted.py", "from nearsame.stages.pairs import planted", "No stage knows another BROKEN"),
        ("stages/keys/planted.py", "def key():\n    import threading", "Stages and kernels are pure"),
        ("stages/keys/planted.py", "import numba", "Only what compiles kernels imports the compiler BROKEN"),
        ("outputs/planted.py", "import pyspark", "Each heavy or optional package has one home BROKEN"),
    ],
)
def test_the_import_contract_notices(file: str, line: str, broken: str, tmp_path: Path) -> None:
    """A stray module, or an import against the contract, breaks it: the contract is no ornament."""
    package = shutil.copytree(PACKAGE, tmp_path / "nearsame", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    for planted in ("engines/base.py", "stages/pairs/planted.py"):
        (package / planted).touch()
    (package / file).write_text(line + "\n", "utf-8")
    run = lint_imports(tmp_path)
    assert run.returncode != 0
    assert broken in run.stdout + run.stderr


def test_the_page_shows_the_layers_of_the_contract() -> None:
    """ARCHITECTURE.md and .importlinter name the same rooms in the same order."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter")
    shown = re.search(r"\n\n    __main__\n((?:    .+\n)+)", ARCHITECTURE)
    assert shown
    assert contract["importlinter:contract:layers"]["layers"].split() == ["__main__", *shown[1].split()]


def test_the_page_is_read_in_ten_minutes() -> None:
    """At 250 words a minute, tables included; lines of pictures and tables are not words."""
    assert sum(any(map(str.isalnum, word)) for word in ARCHITECTURE.split()) <= 2500


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`([a-z_/]+(?:\.py|/))`", ARCHITECTURE))))
def test_the_page_names_what_is_there(named: str) -> None:
    """Each module or folder that ARCHITECTURE.md names is there, by the end of its path."""
    paths = [relative(path) for path in (*MODULES, *ROOT.glob("tests/**/*.py"))]
    folders = {f"{path.rpartition('/')[0]}/" for path in paths}
    assert any(f"/{path}".endswith(f"/{named}") for path in (*paths, *folders))


def test_a_word_means_one_thing() -> None:
    """A public class has its name alone; proofs and the service's bodies repeat the words of what they speak of."""
    apart = {PACKAGE / "service" / "bodies.py", *(PACKAGE / "proofs").iterdir()}
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path not in apart:
                places.setdefault(node.name, []).append(relative(path))
    known = {name: each for name, each in places.items() if len(each) > 1 and name not in TWINS}
    assert {} == known


@pytest.fixture(scope="module")
def asked_for() -> Iterator[Callable[[str], set[str]]]:
    """The methods that code asks for, as `scripts/bench house` counts them."""
    families = {base for kind in METHODS.values() for base in kind.__mro__ if issubclass(base, Recipe)} - {Recipe}
    classes = {family.__name__ for family in families}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "bench")  # benchmarks are scripts that import each other from their own folder
        house = import_module("house")
        assert classes == {*house.METHODS.values(), *house.FAMILIES}
        yield lambda code: set(house.methods_asked_for(ast.parse(code), classes, METHODS))


def elsewhere(path: Path) -> bool:
    """Whether a module has no business with what method it is; proofs are looked at apart."""
    room = path.relative_to(PACKAGE).as_posix()
    return room not in CHOOSING and not room.startswith(("recipes/", "proofs/"))


@pytest.mark.parametrize("path", [path for path in MODULES if elsewhere(path)], ids=relative)
def test_nobody_asks_which_method_it_is(path: Path, asked_for: Callable[[str], set[str]]) -> None:
    """What differs between methods is a property of recipes, or a stage."""
    assert set() == asked_for(path.read_text("utf-8"))


@pytest.mark.parametrize("path", sorted((PACKAGE / "proofs").glob("*.py")), ids=relative)
def test_proofs_ask_for_no_class_of_a_method(path: Path, asked_for: Callable[[str], set[str]]) -> None:
    """They have tables of their own, by the names in records."""
    assert asked_for(path.read_text("utf-8")) <= {*METHODS}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("MinHash", "isinstance(method, MinHash)"),
        ("Shingled", "isinstance(method, Shingled | Digest)"),
        ("Jaccard", "match method:\n    case Jaccard():\n        pass"),
        ("minhash", "method.name == 'minhash'"),
        ("digest", "stats.recipe['method'] in ('digest', 'jaccard')"),
        ("MinHash.name", "record['method'] == MinHash.name"),
    ],
)
def test_a_question_for_the_method_is_noticed(asked: str, code: str, asked_for: Callable[[str], set[str]]) -> None:
    """The law above is no ornament."""
    assert asked in asked_for(code)


def test_nothing_inside_imports_the_package_itself() -> None:
    """`import nearsame` within nearsame would go around the layers, which its __init__ is not part of."""
    graph = grimp.build_graph("nearsame", cache_dir=None)
    assert set() == graph.find_modules_that_directly_import("nearsame")


def test_tables_come_into_spark_in_one_place() -> None:
    """There nothing is lost on the way: engines/spark/crossing.py is the only one that calls createDataFrame."""
    calling = {
        relative(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "createDataFrame"
    }
    assert {"src/nearsame/engines/spark/crossing.py"} == calling


@needs_package
def test_import_nearsame_loads_nothing_heavy() -> None:
    """What is optional, compiles or draws is loaded when it is used, not by `import nearsame`."""
    assert set() == OPTIONAL_OR_HEAVY & loaded_by("import nearsame")


@needs_package
def test_every_public_name_is_there() -> None:
    """Lazy names are a promise: each one of `__all__` resolves, and `dir()` shows it."""
    code = """
import nearsame
assert set(nearsame.__all__) <= set(dir(nearsame))
for name in nearsame.__all__:
    getattr(nearsame, name)"""
    assert "nearsame" in loaded_by(code)


@needs_cli
@pytest.mark.parametrize("arguments", [["--help"], ["dedup", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """`--help` answers at once: neither the compiler nor Arrow nor the recipes are needed for it."""
    code = f"""
sys.argv = ["nearsame", *{arguments!r}]
try:
    from nearsame.cli.main import main
    status = main()
except SystemExit as end:
    status = end.code
assert not status, status"""
    assert set() == NOT_FOR_HELP & loaded_by(code)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_file_is_named_for_what_it_holds(path: Path) -> None:
    """No utils, common, core or helpers: not as a file, not as a folder."""
    assert set() == VAGUE & {*path.relative_to(PACKAGE).parts, path.stem}


@pytest.mark.parametrize("path", [path for path in MODULES if path.read_text("utf-8").strip()], ids=relative)
def test_a_module_states_its_law_and_its_public_names(path: Path) -> None:
    """A docstring first, and an `__all__` of names that exist wherever something is public."""
    tree = ast.parse(path.read_text("utf-8"))
    defined = set()
    listed = None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__":
                listed = ast.literal_eval(node.value)
            defined.add(node.targets[0].id)
    assert ast.get_docstring(tree), "no docstring"
    public = {name for name in defined if not name.startswith("_")}
    assert listed is not None or not public, f"no __all__, though {sorted(public)} are public"


def test_public_names_are_sorted() -> None:
    """Every `__all__` is in the order that ruff keeps: constants, classes, functions, each by name."""
    run = subprocess.run(
        [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select", "RUF022", "--quiet", PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_kernels_within_kernels_take_named_tuples_and_not_long_lists() -> None:
    """Only what Python calls is flat, whatever its length: a kernel that kernels call has ten arguments at most."""
    functions = [
        node
        for path in sorted((PACKAGE / "kernels").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    kernels = {function for function in functions if "jit" in map(ast.unparse, function.decorator_list)}
    called = {
        call.func.id
        for function in kernels
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }
    within = {function.name: len(function.args.args) for function in kernels if function.name in called}
    assert len(within) > MOST_WITHIN  # else nothing was looked at
    assert {} == {name: number for name, number in within.items() if number > MOST_WITHIN}


def test_every_exemption_in_the_settings_has_its_reason() -> None:
    """A rule switched off carries its reason on the same line."""
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    rule = re.compile(r'^\s+"[A-Z]+[0-9]*",')
    assert [] == [line for line in lines if rule.match(line) and not re.search(r", +# \S", line)]


@pytest.mark.parametrize("path", [*MODULES, *BENCHES], ids=relative)
def test_every_exemption_in_the_code_has_its_reason(path: Path) -> None:
    """`noqa` names its rules, and a reason follows them; the lines right below it may share it."""
    lines = path.read_text("utf-8").splitlines()
    rules = [re.findall(r"# noqa: ([A-Z0-9]+(?:, ?[A-Z0-9]+)*)", line) for line in lines]
    reasoned = [re.search(r"# noqa: [A-Z0-9, ]+\W+[a-z]", line) is not None for line in lines]
    for i, line in enumerate(lines):
        reasoned[i] |= i > 0 and reasoned[i - 1] and rules[i] == rules[i - 1]
        assert "# noqa" not in line or reasoned[i], line


def test_pins_are_plain_and_complete() -> None:
    """constraints.txt is `name==version` lines, and has everything that pyproject.toml asks for."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert [] == [pin for pin in pins.items() if not re.fullmatch(r"[a-z0-9-]+ [0-9][0-9a-z.]*", " ".join(pin))]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"].values()
    asked = [
        *settings["project"]["dependencies"],
        *settings["dependency-groups"]["dev"],
        *(i for e in extras for i in e),
    ]
    wanted = [Requirement(line) for line in asked]
    assert [] == [str(r) for r in wanted if pins.get(canonicalize_name(r.name), "0") not in r.specifier]


def test_tests_on_spark_that_every_run_has_stand_in_one_module() -> None:
    """Of the processes of a run one starts Java, which takes longer than these tests."""
    usual = {path.name for path in (ROOT / "tests").rglob("*.py") if re.search(r"mark\.usual", path.read_text("utf-8"))}
    assert {"test_parity.py"} == usual
