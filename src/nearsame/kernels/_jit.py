"""How kernels are compiled: the only `import numba` in the package.

1. Every kernel is cached on disk, releases the interpreter lock and has no explicit signature: nothing
   compiles at import. Threads run over blocks of documents; there is no `parallel=True` (numba's default
   threading layer aborts the process when two Python threads enter it at once).
2. The cache directory is decided here alone: NUMBA_CACHE_DIR where the user has set it, else a folder of the user's
   own cache, named after the interpreter and a digest of all kernel sources. (Numba looks only at the file of
   the outermost kernel, so a change in one that it calls would go unnoticed.) Several processes may share it: numba
   writes through a rename. Spark's workers get there the same way; a container in which they have no home that they
   can write to has a folder for temporary files, where only one that is the user's own is taken: a cache is code.
3. The intrinsics are what Numba has no word for: full 64 × 64 multiplication, trailing zeros, population
   count, and loads of four and eight bytes at any address.
"""

import hashlib
import os
import sys
from pathlib import Path

from nearsame.errors import OutputError

_ELSEWHERE = "Set XDG_CACHE_HOME, TMPDIR or NUMBA_CACHE_DIR to a folder that you may write to."


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
            if place.stat().st_uid == os.getuid() and os.access(place, os.W_OK):
                return place
        except OSError:
            continue
    message = f"compiled kernels cannot be kept: neither {Path(base) / 'nearsame'} nor {temporary} can be written"
    raise OutputError(message, hint=_ELSEWHERE)


if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = _cache_dir()

import numba  # noqa: E402  (the cache directory is read at numba's import)
from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

__all__ = ["is_cold", "jit", "load32", "load64", "mulhi", "popcount", "store64", "trailing_zeros"]


def is_cold() -> bool:
    """Whether nothing has been compiled yet: the first run takes some ten seconds more."""
    return not any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))


def jit(function):  # type: ignore[no-untyped-def]
    """Compile a kernel on first use, cached and without the interpreter lock."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError as error:  # that it finds no folder to write to
        message = f"compiled kernels cannot be kept in NUMBA_CACHE_DIR={os.environ['NUMBA_CACHE_DIR']}"
        raise OutputError(message, hint=_ELSEWHERE) from error


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
