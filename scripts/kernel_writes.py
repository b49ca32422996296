"""Which arrays a kernel writes to, by its source: all others may be read-only, whoever calls it.

1. An array is written to where an item of it (or of a part of it, or of what it is a member of) is assigned, where it
   is sorted or filled, or where it is handed to what writes to it.
2. What is only read but was never seen read-only would otherwise be a call that nothing was built for.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

KERNELS = Path(__file__).resolve().parent.parent / "src" / "nearsame" / "kernels"
_WRITERS = {"store64", "blake2b_rounds"}  # words of the compiler that write to what they are given


class Function(NamedTuple):
    """A function of a kernel's module: its parameters, and those that it writes to, itself or through others.

    Each of `calls` is whom it calls, at which place (None: spread over all), and with which parameter of its own.
    """

    parameters: list[str]
    writes: set[str]
    calls: list[tuple[str, int | None, str]]


def all_functions() -> dict[str, Function]:
    """Those of all kernels' modules, by their full names."""
    functions = dict(each for path in sorted(KERNELS.glob("*.py")) for each in _functions(path))
    is_growing = True
    while is_growing:
        is_growing = False
        for function in functions.values():
            for callee, place, own in function.calls:
                if own not in function.writes and _is_written(functions.get(callee), callee, place):
                    function.writes.add(own)
                    is_growing = True
    return functions


def marked(kinds: str, marks: str, kernel: Function) -> str:
    """The marks of a line of signatures.txt in which arrays that the kernel only reads may be read-only.

    >>> marked("u8:1,i8:1,i8:2", "www", all_functions()["nearsame.kernels.sets.digest_sets"])
    'rrw'
    """
    made = ""
    for parameter, kind in zip(kernel.parameters, _each(kinds), strict=True):
        size = kind.count(":")
        made += marks[len(made) : len(made) + size] if parameter in kernel.writes else "r" * size
    return made or marks


def _each(kinds: str) -> list[str]:
    """The kinds of arguments, one by one: those of a tuple stand in parentheses."""
    found, depth = [""], 0
    for char in kinds:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            found.append("")
        else:
            found[-1] += char
    return found


def _is_written(callee: Function | None, name: str, place: int | None) -> bool:
    if callee is None:
        return name.rpartition(".")[2] in _WRITERS
    if place is None:
        return bool(callee.writes)
    return place < len(callee.parameters) and callee.parameters[place] in callee.writes


def _functions(path: Path) -> Iterator[tuple[str, Function]]:
    tree, module = ast.parse(path.read_text("utf-8")), f"nearsame.kernels.{path.stem}"
    names = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
    }
    here = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names |= {node.name: f"{module}.{node.name}" for node in here}
    for node in here:
        yield f"{module}.{node.name}", _function(node, names)


def _function(node: ast.FunctionDef, names: dict[str, str]) -> Function:
    parameters = [each.arg for each in node.args.args]
    of = _parts(node, parameters)
    function = Function(parameters, set(), [])
    for each in ast.walk(node):
        for target in _targets(each):
            if isinstance(target, ast.Subscript):
                function.writes.update(of.get(_root(target), ()))
        if not isinstance(each, ast.Call):
            continue
        if isinstance(each.func, ast.Attribute) and each.func.attr in {"sort", "fill"}:
            function.writes.update(of.get(_root(each.func), ()))
        if isinstance(each.func, ast.Name):
            callee = names.get(each.func.id, each.func.id)
            for place, given in enumerate(each.args):
                is_spread = isinstance(given, ast.Starred)
                for own in of.get(_root(given.value if isinstance(given, ast.Starred) else given), ()):
                    function.calls.append((callee, None if is_spread else place, own))
    return function


def _parts(node: ast.FunctionDef, parameters: list[str]) -> dict[str, set[str]]:
    """By a name in the function, the parameters that it may be a part of."""
    of = {name: {name} for name in parameters}
    for _ in range(3):  # a part of a part of a part
        for each in ast.walk(node):
            if not isinstance(each, ast.Assign):
                continue
            for target in each.targets:
                several = isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple)
                pairs = zip(target.elts, each.value.elts, strict=True) if several else [(target, each.value)]  # type: ignore[attr-defined]
                for left, right in pairs:
                    for name in left.elts if isinstance(left, ast.Tuple) else [left]:
                        if isinstance(name, ast.Name) and _root(right) in of:
                            of.setdefault(name.id, set()).update(of[_root(right)])
    return of


def _targets(node: ast.AST) -> list[ast.expr]:
    """What is assigned."""
    if isinstance(node, ast.Assign):
        return [one for each in node.targets for one in (each.elts if isinstance(each, ast.Tuple) else [each])]
    if isinstance(node, ast.AugAssign | ast.For):
        return node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    return []


def _root(node: ast.expr) -> str:
    """The name that an item, a part or a member is of; nothing where there is none."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
