"""Kernels compiled by Numba, on this machine at their first call.

1. Every kernel is cached on disk, releases the interpreter lock and has no explicit signature: nothing
   compiles at import. Threads run over blocks of documents; there is no `parallel=True` (numba's default
   threading layer aborts the process when two Python threads enter it at once).
2. The cache directory is decided here alone: NUMBA_CACHE_DIR where the user has set it, else a folder of the user's
   own cache, named after the interpreter and a digest of all kernel sources. (Numba looks only at the file of
   the outermost kernel, so a change in one that it calls would go unnoticed.) Several processes may share it: numba
   writes through a rename. Spark's workers get there the same way; a container in which they have no home that they
   can write to has a folder for temporary files, where only one that is the user's own is taken: a cache is code.
3. The intrinsics are what Numba has no word for: full 64 × 64 multiplication, trailing zeros, population
   count, loads of four and eight bytes at any address, folding 64 bytes at once, and BLAKE2b on eight texts at once.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from nearsame.errors import MissingExtraError, OutputError

__all__ = [
    "blake2b_rounds", "fold64", "jit", "load32", "load64", "marked64", "mulhi", "popcount", "store64", "trailing_zeros",
]  # fmt: skip

_ELSEWHERE = "Set XDG_CACHE_HOME, TMPDIR or NUMBA_CACHE_DIR to a folder that only you may write to."


def _cache_dir() -> str:
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    digest = hashlib.blake2b(sources, digest_size=8).hexdigest()
    return str(_base() / f"kernels-{sys.implementation.cache_tag}-{digest}")


def _base() -> Path:
    """The user's cache, or where there is none to write to, a folder of the user's own among temporary files."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (without a home Path raises)
    temporary = Path(os.environ.get("TMPDIR") or "/tmp") / f"nearsame-{os.getuid()}"  # noqa: S108  (owned, see below)
    for place in (Path(base) / "nearsame", temporary):
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_ours(place) and os.access(place, os.W_OK):
                return place
        except OSError:
            continue
    message = (
        f"compiled kernels cannot be kept: neither {Path(base) / 'nearsame'} nor {temporary} can be written, "
        "or others may write to them, too"
    )
    raise OutputError(message, hint=_ELSEWHERE)


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can write to it, nor exchange it or a folder or link that leads to it."""
    trusted = {os.getuid(), 0, Path("/").stat().st_uid}  # in a container the owner of / may have another number
    for info in _steps(folder):
        is_open = info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX and not stat.S_ISLNK(info.st_mode)
        if is_open or info.st_uid not in trusted:
            return False
    last = folder.stat()
    return last.st_uid == os.getuid() and not last.st_mode & (stat.S_IWOTH | stat.S_IWGRP)


def _steps(path: Path) -> Iterator[os.stat_result]:
    """What is passed on the way to a place, links and where they lead included."""
    ahead, at = list(reversed(path.absolute().parts)), Path()
    while ahead:
        at /= ahead.pop()
        info = at.lstat()
        yield info
        if stat.S_ISLNK(info.st_mode):
            ahead.extend(reversed(at.readlink().parts))
            at = at.parent


def _asked_for(folder: str) -> None:
    """Look at the folder of NUMBA_CACHE_DIR, and make it if it is not there.

    Raises:
        OutputError: Others may write to it, or exchange it.
    """
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = _is_ours(Path(folder))
    except OSError as error:
        raise OutputError(f"compiled kernels cannot be kept in NUMBA_CACHE_DIR={folder}", hint=_ELSEWHERE) from error
    if not is_ours:
        message = f"compiled kernels are not kept in NUMBA_CACHE_DIR={folder}: others may write to it, or exchange it"
        raise OutputError(message, hint=_ELSEWHERE)


if os.environ.get("NUMBA_CACHE_DIR"):
    _asked_for(os.environ["NUMBA_CACHE_DIR"])
else:
    os.environ["NUMBA_CACHE_DIR"] = _cache_dir()

try:
    import numba
except ImportError as error:
    message = "numba is not installed, and there are no kernels that were compiled ahead for this call and processor"
    raise MissingExtraError(message, hint="Run: python -m pip install numba") from error
from llvmlite import ir  # noqa: E402  (the cache directory is read at numba's import)
from numba import types  # noqa: E402  (likewise)
from numba.core import event  # noqa: E402  (likewise)
from numba.extending import intrinsic, typeof_impl  # noqa: E402

from nearsame.kernels._deferred import Deferred  # noqa: E402  (likewise)
from nearsame.kernels._interpreted import LANES, MIXED, SIGMA, START  # noqa: E402  (likewise)
from nearsame.kernels.waiting import tell  # noqa: E402  (likewise)


class _Compiled(event.Listener):
    """Says that something is compiled, which is not so where it is found in the cache."""

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002  (one is as good as another)
        """Called before."""
        tell()

    def on_end(self, event: event.Event) -> None:
        """Called behind it."""


event.register("numba:compile", _Compiled())


def jit(function):  # type: ignore[no-untyped-def]
    """Compile a kernel on first use, cached and without the interpreter lock."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError as error:  # that it finds no folder to write to
        message = f"compiled kernels cannot be kept in NUMBA_CACHE_DIR={os.environ['NUMBA_CACHE_DIR']}"
        raise OutputError(message, hint=_ELSEWHERE) from error


@typeof_impl.register(Deferred)
def _(value, context):  # type: ignore[no-untyped-def]
    """Within a kernel that is compiled here, one that was built ahead is compiled here too."""
    return typeof_impl(value.compiled, context)


@intrinsic
def mulhi(typingctx, a, b):  # type: ignore[no-untyped-def]
    """The high 64 bits of the 128-bit product of two uint64."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, x):  # type: ignore[no-untyped-def]
    """The number of trailing zero bits of a uint64, as int64; 64 for zero."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic
def popcount(typingctx, x):  # type: ignore[no-untyped-def]
    """The number of one bits of a uint64, as int64."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def load32(typingctx, array, index):  # type: ignore[no-untyped-def]
    """The four bytes of a uint8 array from `index` on as a little-endian uint64; the caller keeps within bounds."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.gep(view.data, [args[1]])
        pointer = builder.bitcast(address, ir.IntType(32).as_pointer())
        return builder.zext(builder.load(pointer, align=1), ir.IntType(64))

    return types.uint64(array, types.int64), codegen


@intrinsic
def load64(typingctx, array, index):  # type: ignore[no-untyped-def]
    """The eight bytes of a uint8 array from `index` on as a little-endian uint64; the caller keeps within bounds."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.gep(view.data, [args[1]])
        pointer = builder.bitcast(address, ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), codegen


@intrinsic
def store64(typingctx, array, index, value):  # type: ignore[no-untyped-def]
    """Write a uint64 as eight little-endian bytes anywhere in a uint8 array; the caller keeps within bounds."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.gep(view.data, [args[1]])
        pointer = builder.bitcast(address, ir.IntType(64).as_pointer())
        builder.store(args[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), codegen


_BYTES = ir.VectorType(ir.IntType(8), 64)


def _bytes_at(context, builder, kind, array, index):  # type: ignore[no-untyped-def]
    """The address of 64 bytes of a uint8 array, as one vector."""
    view = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [index]), _BYTES.as_pointer())


@intrinsic
def fold64(typingctx, data, index, text, marks, at, keep_case):  # type: ignore[no-untyped-def]
    """Fold 64 bytes of ASCII: to `text` in lower case unless told not to, and 0x80 to `marks` where one is of a word.

    Bit i of the uint64 that is returned says that byte i is not ASCII, and what was written for it is not to be read.
    """

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def every(value):  # type: ignore[no-untyped-def]
            return ir.Constant(_BYTES, [ir.IntType(8)(value)] * 64)

        def where(truth):  # type: ignore[no-untyped-def]
            """Truths as bytes: as bits LLVM would take them out one by one."""
            return builder.sext(truth, _BYTES)

        def is_among(x, first, last):  # type: ignore[no-untyped-def]
            return where(builder.icmp_unsigned("<=", builder.sub(x, every(ord(first))), every(ord(last) - ord(first))))

        places = zip((0, 2, 3), (args[1], args[4], args[4]), strict=True)
        source, text, marks = (_bytes_at(context, builder, signature.args[n], args[n], at) for n, at in places)
        x = builder.load(source, align=1)
        lower = every(ord("a") - ord("A"))
        is_letter = is_among(builder.or_(x, lower), "a", "z")
        is_word = builder.or_(is_letter, is_among(x, "0", "9"))
        is_word = builder.or_(is_word, where(builder.icmp_unsigned("==", x, every(ord("_")))))
        changed = builder.and_(is_letter, builder.select(args[5], every(0), lower))
        builder.store(builder.or_(x, changed), text, align=1)
        builder.store(builder.and_(is_word, every(0x80)), marks, align=1)
        return builder.bitcast(builder.icmp_signed("<", x, every(0)), ir.IntType(64))

    return types.uint64(data, types.int64, text, marks, types.int64, types.boolean), codegen


@intrinsic
def marked64(typingctx, marks, index):  # type: ignore[no-untyped-def]
    """Bit i of a uint64 says that byte index + i of a uint8 array is 0x80 or more."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        x = builder.load(_bytes_at(context, builder, signature.args[0], args[0], args[1]), align=1)
        return builder.bitcast(builder.icmp_signed("<", x, ir.Constant(_BYTES, None)), ir.IntType(64))

    return types.uint64(marks, types.int64), codegen


@intrinsic
def blake2b_rounds(typingctx, state, message, length, last):  # type: ignore[no-untyped-def]
    """BLAKE2b's compression (RFC 7693, 3.2) in eight lanes: uint64[8, 8], [16, 8], [8] and [8]; `state` changes.

    A row is one word of all lanes, so all of it is arithmetic on vectors of eight words, whatever the processor has of
    them.
    """

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        lanes = ir.VectorType(word, LANES)

        def pointer(number, row):  # type: ignore[no-untyped-def]
            view = context.make_array(signature.args[number])(context, builder, args[number])
            at = builder.gep(view.data, [word(row * LANES)])
            return builder.bitcast(at, lanes.as_pointer())

        def load(number, row=0):  # type: ignore[no-untyped-def]
            return builder.load(pointer(number, row), align=8)

        def turned(x, bits):  # type: ignore[no-untyped-def]
            right, left = ([word(bits)] * LANES, [word(64 - bits)] * LANES)
            return builder.or_(builder.lshr(x, ir.Constant(lanes, right)), builder.shl(x, ir.Constant(lanes, left)))

        start = [ir.Constant(lanes, [word(value)] * LANES) for value in START]
        before = [load(0, row) for row in range(8)]
        words = [load(1, row) for row in range(16)]
        v = [*before, *start]
        v[12] = builder.xor(v[12], load(2))
        v[14] = builder.xor(v[14], load(3))
        for number in range(12):
            order = SIGMA[number % 10]
            for step, (a, b, c, d) in enumerate(MIXED):
                for place, first, second in ((order[2 * step], 32, 24), (order[2 * step + 1], 16, 63)):
                    v[a] = builder.add(builder.add(v[a], v[b]), words[place])
                    v[d] = turned(builder.xor(v[d], v[a]), first)
                    v[c] = builder.add(v[c], v[d])
                    v[b] = turned(builder.xor(v[b], v[c]), second)
        for row in range(8):
            after = builder.xor(before[row], builder.xor(v[row], v[row + 8]))
            builder.store(after, pointer(0, row), align=8)
        return context.get_dummy_value()

    return types.void(state, message, length, last), codegen
