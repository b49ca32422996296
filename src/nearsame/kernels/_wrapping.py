"""Around each kernel that Numba compiled, a function that takes its arguments from words; building.py runs it.

Numba's own convention for calls, and the functions of its runtime that arrays and lists in a kernel need, are its
internals: runtime.ll has the functions, and what the whole still leaves open is held to a list in building.py.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import from_dtype, types
from numba.core import cgutils, codegen
from numba.core.caching import Cache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array

from nearsame.errors import ConfigError

__all__ = ["compile_all"]

_RUNTIME = Path(__file__).with_name("runtime.ll")
_WORD = ir.IntType(64)
_STATUS = ir.IntType(32)


def compile_all(level: str, lines: list[tuple[int, str]]) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """Compile kernels for a level of processors: an object file, and what is in it.

    Args:
        level: As LLVM names it.
        lines: Of signatures.txt, with their numbers.

    Raises:
        ConfigError: One of them cannot be compiled.
    """
    codegen.JITCodeLibrary._finalize_specific = lambda _: None  # noqa: SLF001  (this process runs none of them)
    Cache.save_overload = lambda *_: None  # which would make an object file of each
    whole = binding.parse_assembly(_RUNTIME.read_text("ascii"))
    contents: dict[str, dict[str, Any]] = {}
    for number, line in lines:
        name, kinds, reads = line.split(" ")
        entry, made = _wrapped(name, kinds, reads, f"nearsame_{number}")
        whole.link_in(made)
        contents.setdefault(name, {})[kinds] = entry
    target = binding.Target.from_triple(binding.get_process_triple())
    machine = target.create_target_machine(cpu=level, features="", opt=3, reloc="pic", codemodel="default")
    _clean(whole, machine)
    return machine.emit_object(whole), contents


def _wrapped(name: str, kinds: str, reads: str, symbol: str) -> tuple[list[Any], Any]:
    """The entry of a kernel for arguments of these kinds, and a module with it alone to be seen."""
    readers = iter(reads)
    arguments = tuple(_type_of(kind, readers) for kind in _split(kinds))
    module, _, function = name.rpartition(".")
    try:
        kernel = getattr(import_module(module), function)
        kernel.compile(arguments)
    except (AttributeError, ImportError, NumbaError) as error:
        hint = "Run scripts/make-signatures with the tests that call it."
        raise ConfigError(f"{name} cannot be compiled for {kinds}: {error}", hint=hint) from error
    made = kernel.overloads[arguments]
    outer, returned, num_words = _module(made, arguments, symbol)
    outer.link_in(binding.parse_assembly(str(made.library._final_module)))  # noqa: SLF001  (what inspect_llvm shows)
    for each in (*outer.functions, *outer.global_variables):
        if not each.is_declaration and each.name != symbol:
            each.linkage = "internal"
    return [symbol, [mark == "w" for mark in reads if mark != "-"], returned, num_words], outer


def _clean(module: Any, machine: Any) -> None:
    """Take out what nothing calls."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and not each.name.startswith("nearsame_"):
            each.linkage = "internal"
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=2))
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def _split(kinds: str) -> list[str]:
    """The kinds between commas, but for those in parentheses."""
    return re.findall(r"[\w.]*\([^()]*\)|[^,()]+", kinds)


def _type_of(kind: str, readers: Any) -> Any:
    if kind.endswith(")"):
        name, _, inside = kind[:-1].partition("(")
        inner = [_type_of(each, readers) for each in _split(inside)]
        module, _, of = name.rpartition(".")
        return types.NamedTuple(inner, getattr(import_module(module), of)) if name else types.Tuple(inner)
    dtype, _, dimensions = kind.partition(":")
    number = from_dtype(np.dtype(dtype))
    return types.Array(number, int(dimensions), "C", readonly=next(readers) == "r") if dimensions else number


@global_compiler_lock
def _module(made: Any, arguments: tuple[Any, ...], symbol: str) -> tuple[Any, Any, int]:
    """A module with the function of words, what it returns, and how many words it is given or gives at most."""
    context = cpu_target.target_context
    module = context.codegen().create_library(symbol).create_ir_module(symbol)
    of = made.fndesc
    function = ir.Function(module, context.call_conv.get_function_type(of.restype, of.argtypes), of.llvm_func_name)
    outer = ir.Function(module, ir.FunctionType(_STATUS, [_WORD.as_pointer()]), symbol)
    builder = ir.IRBuilder(outer.append_basic_block())
    row = _Row(context, builder, outer.args[0])
    values = [row.take(each) for each in arguments]
    taken, row.at = row.at, 0
    status, given = context.call_conv.call_function(builder, function, of.restype, of.argtypes, values)
    with builder.if_then(status.is_error):
        builder.ret(status.code)
    returned = row.give(of.restype, given)
    builder.ret(_STATUS(0))
    return binding.parse_assembly(cgutils.normalize_ir_text(str(module))), returned, max(taken, row.at, 1)


class _Row:
    """The words of a call, read and written one after the other."""

    def __init__(self, context: Any, builder: Any, start: Any) -> None:
        self.context, self.builder, self.start = context, builder, start
        self.at = 0

    def _place(self) -> Any:
        self.at += 1
        return self.builder.gep(self.start, [_WORD(self.at - 1)])

    def take(self, kind: Any) -> Any:
        """The value of an argument."""
        if isinstance(kind, types.Array):
            return self._array(kind)
        if isinstance(kind, types.BaseTuple):
            parts = [self.take(each) for each in kind.types]
            return self.context.make_tuple(self.builder, kind, parts)
        word = self.builder.load(self._place())
        if kind == types.boolean:
            return self.builder.trunc(word, ir.IntType(1))
        if kind == types.float64:
            return self.builder.bitcast(word, ir.DoubleType())
        return word if kind.bitwidth == 64 else self.builder.trunc(word, ir.IntType(kind.bitwidth))

    def _array(self, kind: Any) -> Any:
        element = self.context.get_data_type(kind.dtype)
        data = self.builder.inttoptr(self.builder.load(self._place()), element.as_pointer())
        shape = [self.builder.load(self._place()) for _ in range(kind.ndim)]
        size = _WORD(self.context.get_abi_sizeof(element))
        strides: list[Any] = []
        step = size
        for extent in reversed(shape):
            strides.insert(0, step)
            step = self.builder.mul(step, extent)
        array = self.context.make_array(kind)(self.context, self.builder)
        populate_array(
            array, data=data, shape=cgutils.pack_array(self.builder, shape),
            strides=cgutils.pack_array(self.builder, strides), itemsize=size, meminfo=None,
        )  # fmt: skip
        return array._getvalue()  # noqa: SLF001  (as all of Numba's lowering does)

    def give(self, kind: Any, value: Any) -> Any:
        """Write what is returned; its kind, as _built.py reads it."""
        builder = self.builder
        if kind == types.none:
            return None
        if isinstance(kind, types.BaseTuple):
            return [self.give(each, builder.extract_value(value, place)) for place, each in enumerate(kind.types)]
        if isinstance(kind, types.Array):
            array = self.context.make_array(kind)(self.context, builder, value=value)
            for pointer in (array.meminfo, array.data):
                builder.store(builder.ptrtoint(pointer, _WORD), self._place())
            for extent in cgutils.unpack_tuple(builder, array.shape):
                builder.store(extent, self._place())
            dtype = np.dtype(str(kind.dtype)) if kind.dtype != types.boolean else np.dtype(bool)
            return f"{dtype.kind}{dtype.itemsize}:{kind.ndim}"
        return self._number(kind, value)

    def _number(self, kind: Any, value: Any) -> str:
        builder = self.builder
        if kind == types.boolean:
            builder.store(builder.zext(value, _WORD), self._place())
            return "b1"
        if kind == types.float64:
            builder.store(builder.bitcast(value, _WORD), self._place())
            return "f8"
        if kind.bitwidth < 64:
            value = (builder.sext if kind.signed else builder.zext)(value, _WORD)
        builder.store(value, self._place())
        return "i8" if kind.signed else "u8"
