"""Kernels that were compiled ahead: a library of machine code, its table of contents, and how they are called.

1. `built/contents.json` names the sources that the library was built from by their digest: a library of other sources
   is passed over. It stands in the package, and nowhere that somebody else may write to.
2. A call packs its arguments into a row of 64-bit words: numbers as they are, an array as its address and shape. The
   kernel writes what it returns over them. The interpreter's lock is not held while it runs.
3. An array that a kernel returns owns its memory, and gives it back when the last view of it is gone.
4. A call that nothing was built for (other types, an array with gaps, one that may not be written to) goes to Numba.
"""

import array
import ctypes
import functools
import hashlib
import json
import os
import struct
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.kernels._deferred import Deferred
from nearsame.named import NamedTuple

__all__ = [
    "CONTENTS",
    "FOLDER",
    "BuiltKernel",
    "Kernel",
    "Library",
    "Word",
    "WrittenDown",
    "digest",
    "digest_of_sources",
    "flags_of_processor",
    "kind_of",
    "library",
]  # fmt: skip

FOLDER = Path(__file__).parent / "built"
CONTENTS = "contents.json"
_PLAIN = 0x101  # an array without gaps, and aligned: bits of its `flags.num`
_NUMBERS: dict[type, str] = {int: "i8", bool: "b1", float: "f8", np.bool_: "b1"} | {
    kind: f"{np.dtype(kind).kind}{np.dtype(kind).itemsize}"
    for kind in (
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
        np.float32,
        np.float64,
    )
}


class BuiltKernel(NamedTuple):
    """A kernel for arguments of certain kinds.

    Attributes:
        symbol: Its name in the library.
        writes: For each array among the arguments, in order, whether it must be one that can be written to.
        returns: The kind of what it returns; a list is a tuple of kinds.
        words: How many words its arguments, or what it returns, take.
    """

    symbol: str
    writes: list[bool]
    returns: Any
    words: int


# A kernel for arguments of certain kinds: its entry, its function, which of the arrays it writes to, and the words that
# it returns beyond those of its arguments.
_Ready = tuple[BuiltKernel, Any, list[int], list[int]]


class Library(NamedTuple):
    """A library that is loaded, and what it holds: by a kernel's name and the kinds of its arguments."""

    code: ctypes.CDLL
    entries: dict[str, dict[str, list[Any]]]  # of each, the fields of a BuiltKernel


def digest(data: bytes) -> str:
    """What a file is known by."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def digest_of_sources() -> str:
    """What the kernels' sources are known by."""
    folder = os.path.dirname(__file__)  # noqa: PTH120  (a Path for each file takes longer than to read it)
    files = os.listdir(folder)  # noqa: PTH208  (likewise)
    names = sorted(name for name in files if name.endswith((".py", ".ll", ".txt")))
    return digest(b"".join(name.encode() + b"\0" + _content(f"{folder}/{name}") + b"\0" for name in names))


def _content(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(functools.partial(os.read, file, 1 << 20), b""))
    finally:
        os.close(file)


def library(folder: Path = FOLDER) -> Library | None:
    """The library for this processor, if one was built from these sources."""
    try:
        contents = json.loads((folder / CONTENTS).read_bytes())
        if contents["sources"] != digest_of_sources():
            return None
        levels = [each["file"] for each in contents["levels"].values() if set(each["needs"]) <= flags_of_processor()]
        return Library(ctypes.CDLL(str(folder / levels[0])), contents["kernels"]) if levels else None
    except (OSError, ValueError, LookupError, TypeError):  # there is none, or another one is just being made
        return None


@functools.cache
def flags_of_processor() -> frozenset[str]:
    """What the processor can do, in the words of Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text("ascii", "replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), ()))


def kind_of(value: Any) -> str:
    """The kind of an argument: a number's type and width, an array's with its dimensions, a tuple's in parentheses.

    >>> kind_of(np.zeros((2, 2), np.uint64)), kind_of(7), kind_of((True, 7))
    ('u8:2', 'i8', '(b1,i8)')
    """
    found = _NUMBERS.get(type(value))
    if found is not None:
        return "u8" if type(value) is int and value >> 63 > 0 else found
    if type(value) is np.ndarray:
        return f"{value.dtype.kind}{value.dtype.itemsize}:{value.ndim}"
    if isinstance(value, tuple):
        named = f"{type(value).__module__}.{type(value).__qualname__}" if hasattr(value, "_fields") else ""
        return f"{named}({','.join(map(kind_of, value))})"
    return "?"


class Word:
    """An operation that only compiled code has; in a kernel that Numba compiles it is Numba's."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def compiled(self) -> Any:
        """Numba's."""
        from nearsame.kernels import _numba  # noqa: PLC0415  (what takes its time to import, and is seldom needed)

        return getattr(_numba, self.name)


def _with_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the words of the compiler that its module only has names of."""
    known = {name: each.compiled if isinstance(each, Word) else each for name, each in function.__globals__.items()}
    found = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    return functools.update_wrapper(found, function)


class _Deferred(Deferred):
    """A kernel whose calls go to Numba where nothing was built for them."""

    @functools.cached_property
    def compiled(self) -> Any:
        """The kernel that Numba compiles."""
        from nearsame.kernels import _numba  # noqa: PLC0415  (what takes its time to import, and is seldom needed)

        return _numba.jit(_with_words(self.py_func))


class WrittenDown(_Deferred):
    """A kernel whose calls are written down, for signatures.txt."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        super().__init__(function)
        self._folder = folder
        self._seen: set[tuple[str, str]] = set()

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run it, and write down its arguments' kinds, and which arrays could not have been written to."""
        arrays: list[npt.NDArray[Any]] = []
        if not named and _pack(args, [], [], arrays):
            marks = "".join("w" if array.flags.writeable else "r" for array in arrays) or "-"
            call = (",".join(map(kind_of, args)), marks)
            if call not in self._seen:
                self._seen.add(call)
                with (self._folder / f"{os.getpid()}.txt").open("a") as file:
                    file.write(f"{self.full_name} {' '.join(call)}\n")
        return self.compiled(*args, **named)


class Kernel(_Deferred):
    """A kernel that was built."""

    def __init__(self, function: Callable[..., Any], library: Library) -> None:
        super().__init__(function)
        self._entries = library.entries.get(self.full_name, {})
        self._code = library.code
        self._ready: dict[tuple[Any, ...], _Ready] = {}

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run it; the interpreter's lock is released meanwhile."""
        kinds: list[Any] = []
        words: list[int] = []
        arrays: list[npt.NDArray[Any]] = []
        if named or not _pack(args, kinds, words, arrays):
            return self.compiled(*args, **named)
        known = tuple(kinds)
        ready = self._ready.get(known) or self._look_up(known, args)
        if ready is None:
            return self.compiled(*args)
        entry, function, written, rest = ready
        for place in written:
            if not arrays[place].flags.writeable:
                return self.compiled(*args)
        row = array.array("q", words + rest)
        if function(row.buffer_info()[0]) != 0:
            raise MemoryError(f"no memory for what {self.py_func.__name__} works with")
        return None if entry.returns is None else _unpack(entry.returns, iter(row), self._code, arrays)

    def _look_up(self, known: tuple[Any, ...], args: tuple[Any, ...]) -> _Ready | None:
        fields = self._entries.get(",".join(map(kind_of, args)))
        if fields is None:
            return None
        entry = BuiltKernel(*fields)
        function = getattr(self._code, entry.symbol)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
        words: list[int] = []
        _pack(args, [], words, [])
        written = [place for place, writes in enumerate(entry.writes) if writes]
        ready = self._ready[known] = entry, function, written, [0] * (entry.words - len(words))
        return ready


def _pack(args: tuple[Any, ...], kinds: list[Any], words: list[int], arrays: list[npt.NDArray[Any]]) -> bool:
    """The arguments as words, and what tells their kinds; whether that can be done."""
    for value in args:
        if type(value) is np.ndarray:
            if value.flags.num & _PLAIN != _PLAIN:
                return False
            kinds += (value.dtype, value.ndim)
            words.append(_address(value))
            words += value.shape
            arrays.append(value)
        elif isinstance(value, tuple):
            kinds += (type(value), len(value))
            if not _pack(value, kinds, words, arrays):
                return False
        elif isinstance(value, (float, np.floating)):
            kinds.append(type(value))
            words.append(struct.unpack("q", struct.pack("d", value))[0])
        else:
            number = int(value)
            is_large = number >> 63 > 0
            kinds += (type(value), is_large)
            words.append(number - 2**64 if is_large else number)
    return True


def _address_quickly(value: npt.NDArray[Any]) -> int:
    """Where an array's numbers are: the word behind what every object begins with. Ten times as quick as `ctypes`."""
    return _word_at(id(value) + object.__basicsize__).value


def _address_by_ctypes(value: npt.NDArray[Any]) -> int:
    """The same, as NumPy tells it."""
    return int(value.ctypes.data)


def _told_by(quickly: Callable[[Any], int], surely: Callable[[Any], int]) -> Callable[[Any], int]:
    """What tells addresses here: the quick way, if it says of some arrays what the sure one says."""
    if sys.implementation.name != "cpython":
        return surely
    tried = np.arange(24, dtype=np.uint64).reshape(4, 6)
    views = (tried, tried[1:], tried.view(np.int32), tried[2], np.zeros(0), np.zeros((), np.int8))
    return quickly if all(quickly(view) == surely(view) for view in views) else surely


_word_at = ctypes.c_size_t.from_address
_address = _told_by(_address_quickly, _address_by_ctypes)


def _unpack(kind: Any, words: Any, code: ctypes.CDLL, arrays: list[npt.NDArray[Any]]) -> Any:
    """What a kernel returned."""
    if isinstance(kind, list):
        return tuple([_unpack(each, words, code, arrays) for each in kind])
    if ":" in kind:
        return _array(kind, words, code, arrays)
    word = next(words)
    if kind == "b1":
        return bool(word)
    if kind == "f8":
        return struct.unpack("d", struct.pack("q", word))[0]
    return word & (2**64 - 1) if kind == "u8" else word


def _array(kind: str, words: Any, code: ctypes.CDLL, arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """An array that a kernel made, or one that it was given."""
    owner, address = next(words), next(words)
    dtype, _, dimensions = kind.partition(":")
    shape = tuple(next(words) for _ in range(int(dimensions)))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not owner:
        given = next(each for each in arrays if each.ctypes.data <= address <= each.ctypes.data + each.nbytes)
        start = address - given.ctypes.data
        return given.reshape(-1).view(np.uint8)[start : start + size].view(dtype).reshape(shape)
    memory = (ctypes.c_uint8 * max(size, 1)).from_address(address)
    weakref.finalize(memory, code.nearsame_release, ctypes.c_void_p(owner)).atexit = False
    held: npt.NDArray[np.uint8] = np.ctypeslib.as_array(memory)
    return held[:size].view(dtype).reshape(shape)
