"""The shape of the house: rooms, layers, arrows, what asks for methods, what stands twice, at one commit or several.

1. Counts are of the source below `src/`, as each commit has it; the working tree is the last column.
2. A room is a folder or a loose module at the top of the package; an arrow is a pair of rooms of which one imports the
   other.
3. What stands twice are pairs of functions in different modules, of 40 tokens or more, whose sets of 5 tokens in a row
   have a Jaccard similarity of a half or more: Nearsame counts them, over the code without docstrings and comments.
"""

import argparse
import ast
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import report

import nearsame as ns

METHODS = {
    "codes": "Codes", "containment": "Containment", "cosine": "Cosine", "digest": "Digest", "hyperplane": "Hyperplane",
    "jaccard": "Jaccard", "minhash": "MinHash", "modp": "ModP", "simhash": "SimHash",
}  # fmt: skip
FAMILIES = {"Banded", "Coded", "Shingled", "Shingling", "TextRecipe"}
_OWN = re.compile(r"(^|/)(methods|base|steps|code_steps|sketching|facets)\.py$|^recipes/")  # where a method is at home
_ARROWS = """
import sys, grimp
name = sys.argv[1]
graph = grimp.build_graph(name, cache_dir=None)
room = lambda module: module.split(".")[1] if "." in module else ""
arrows = {(room(a), room(b)) for a in graph.modules for b in graph.find_modules_directly_imported_by(a)}
print(sum(a != b and bool(a) and bool(b) for a, b in arrows))
"""
_OFF = "no" + "qa"
_LEAST_TOKENS, _SHINGLE, _ALIKE = 40, 5, 0.5
_MOST_ARGUMENTS = 6

Trees = Mapping[str, ast.Module]


def methods_asked_for(tree: ast.AST, classes: Iterable[str], names: Iterable[str]) -> list[str]:
    """The methods that code asks for, by their class (`isinstance`, `case Jaccard()`) or their name (`name == ...`)."""
    classes, names, asked = set(classes), set(names), list[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, kinds]):
                asked += sorted({part.id for part in ast.walk(kinds) if isinstance(part, ast.Name)} & classes)
            case ast.MatchClass(cls=ast.Name(name)) if name in classes:
                asked.append(name)
            case ast.Compare(left=left, comparators=[right]):
                sides = [ast.unparse(side) for side in (left, right)]
                if any(re.search(r"method.*\.name$|\[['\"]method['\"]\]$", side) for side in sides):
                    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
                    asked += [value for value in constants if isinstance(value, str) and value in names]
                    asked += [side for side in sides if side.removesuffix(".name") in classes]
    return asked


def _functions(trees: Trees) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def _num_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return sum(not (name.startswith("_") or name in ("self", "cls")) for name in names)


def _twice(trees: Trees) -> int:
    """Pairs of functions in different modules that are much the same."""
    documents = []
    for path, function in _functions(trees):
        body = function.body[1:] if ast.get_docstring(function) else function.body
        text = "\n".join(ast.unparse(statement) for statement in body)
        if len(re.findall(r"\w+|[^\w\s]", text)) >= _LEAST_TOKENS:
            documents.append({"id": f"{path}:{function.name}:{function.lineno}", "text": text})
    method = ns.Jaccard(threshold=_ALIKE, shingle_size=_SHINGLE, keep_punctuation=True, keep_case=True)
    found = ns.pairs(documents, method=method).table
    places = zip(*(found.column(name).to_pylist() for name in ("a_id", "b_id")), strict=True)
    return sum(a.split(":")[0] != b.split(":")[0] for a, b in places)


def _arrows(source: Path, name: str) -> int:
    run = subprocess.run(
        [sys.executable, "-c", _ARROWS, name],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout)


def _num_layers(root: Path) -> int:
    """Lines of the first contract, that of the package."""
    contract = (root / ".importlinter").read_text("utf-8").partition("layers =\n")[2]
    return len(re.match(r"(?: {4}\S.*\n)*", contract)[0].splitlines())  # type: ignore[index]


def counts(root: Path) -> dict[str, int]:
    """Everything that is counted, of a checkout.

    Args:
        root: the folder that has `src/`.
    """
    package = next(path for path in (root / "src").iterdir() if (path / "__init__.py").exists())
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in package.rglob("*.py")}
    trees = {name: ast.parse(text) for name, text in sorted(texts.items())}
    plain = {name: tree for name, tree in trees.items() if not name.startswith("kernels/")}
    loose = {name for name in trees if "/" not in name} - {"__init__.py", "__main__.py", "_version.py"}
    folders = {name.split("/")[0] for name in trees if "/" in name}
    classes = {*METHODS.values(), *FAMILIES}
    asked = {name: methods_asked_for(tree, classes, METHODS) for name, tree in trees.items() if not _OWN.search(name)}
    proofs = sum(len(found) for name, found in asked.items() if name.startswith("proofs/"))
    lengths = [node.end_lineno - node.lineno + 1 for _, node in _functions(trees) if node.end_lineno]
    return {
        "lines of source": sum(text.count("\n") for text in texts.values()),
        "modules": len(trees),
        "modules of more than 400 lines": sum(text.count("\n") > 400 for text in texts.values()),
        "functions of more than 40 lines": sum(length > 40 for length in lengths),
        "rooms": len(folders) + len(loose),
        "loose modules": len(loose),
        "layers": _num_layers(root),
        "arrows between rooms": _arrows(root / "src", package.name),
        "tests on the method outside its place": sum(map(len, asked.values())) - proofs,
        "the same in proofs": proofs,
        "functions much the same in two modules": _twice(trees),
        "functions of more than six arguments": sum(
            _num_arguments(node) > _MOST_ARGUMENTS for _, node in _functions(plain)
        ),
        "the same in kernels": sum(
            _num_arguments(node) > _MOST_ARGUMENTS for name, node in _functions(trees) if name not in plain
        ),
        'casts to "Any" in flow, frames and engines': sum(
            text.count('cast("Any"') for name, text in texts.items() if not name.startswith(("cli", "service", "web"))
        ),
        "rules switched off": sum(text.count(f"# {_OFF}") for text in texts.values()),
    }


def at(commit: str) -> dict[str, int]:
    """The counts of a commit."""
    packed = subprocess.run(
        ["git", "-C", report.ROOT, "archive", commit, "src", ".importlinter"],  # noqa: S607  (whichever git is there)
        capture_output=True,
        check=True,
    )
    with tempfile.TemporaryDirectory() as home, tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(home, filter="data")
        return counts(Path(home))


def main(arguments: list[str]) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commits", nargs="*", help="before the working tree")
    given = parser.parse_args(arguments)
    columns = {**{commit: at(commit) for commit in given.commits}, "now": counts(report.ROOT)}
    print("| | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    for name in columns["now"]:
        print(f"| {name} | " + " | ".join(f"{column[name]:,}" for column in columns.values()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
