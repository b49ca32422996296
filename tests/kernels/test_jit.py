"""The intrinsics against Python's integers, at the edges of words and at addresses of every alignment."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.errors import OutputError
from nearsame.kernels import _numba
from nearsame.kernels._jit import fold64, jit, load32, load64, marked64, mulhi, popcount, store64, trailing_zeros

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
BYTES = st.binary(min_size=8, max_size=40)
MANY = st.binary(min_size=64, max_size=100) | st.text(st.characters(max_codepoint=127), min_size=64).map(str.encode)


@jit
def _mulhi(a, b):
    return mulhi(a, b)


@jit
def _popcount(x):
    return popcount(x)


@jit
def _trailing_zeros(x):
    return trailing_zeros(x)


@jit
def _load32(data, index):
    return load32(data, index)


@jit
def _load64(data, index):
    return load64(data, index)


@jit
def _store64(data, index, value):
    store64(data, index, value)


@jit
def _fold64(data, index, text, marks, at, keep_case):  # noqa: PLR0917  (as the operation has it)
    return fold64(data, index, text, marks, at, keep_case)


@jit
def _marked64(marks, index):
    return marked64(marks, index)


@given(WORDS, WORDS)
def test_mulhi_is_the_high_half_of_the_product(a, b):
    """All 128 bits of it."""
    assert a * b >> 64 == _mulhi(np.uint64(a), np.uint64(b))


@given(WORDS)
def test_popcount_counts_the_ones(x):
    """As Python does."""
    assert x.bit_count() == _popcount(np.uint64(x))


@given(WORDS | st.integers(0, 63).map(lambda bit: 1 << bit))
def test_trailing_zeros_are_those_below_the_lowest_one(x):
    """64 of them where there is no one at all."""
    assert ((x & -x).bit_length() - 1 if x else 64) == _trailing_zeros(np.uint64(x))


@given(BYTES, st.data())
def test_loads_are_little_endian_at_any_address(data, draw):
    """Of four bytes and of eight, the last ones of the array too; a load of four never has the sign of anything."""
    array = np.frombuffer(data, np.uint8)
    for load, size in ((_load32, 4), (_load64, 8)):
        at = draw.draw(st.integers(0, len(data) - size))
        assert int.from_bytes(data[at : at + size], "little") == load(array, at)


@given(BYTES, WORDS, st.data())
def test_a_store_changes_eight_bytes_and_no_other(data, value, draw):
    """Little-endian, at any address."""
    at = draw.draw(st.integers(0, len(data) - 8))
    array = np.frombuffer(data, np.uint8).copy()
    _store64(array, at, np.uint64(value))
    assert data[:at] + value.to_bytes(8, "little") + data[at + 8 :] == array.tobytes()


@given(MANY, st.booleans(), st.data())
@example(bytes(range(128)), False, None)
@example(bytes(range(128)), True, None)
@example(bytes(range(128, 256)), False, None)
def test_64_bytes_of_ascii_are_folded_at_once(data, keep_case, draw):
    """As Python does each of them; what is none is told, and no byte beside them is written."""
    at, to = (draw.draw(st.integers(0, len(data) - 64)), draw.draw(st.integers(0, 9))) if draw else (64, 3)
    array, (text, marks) = np.frombuffer(data, np.uint8), np.full((2, 80), 0xA5, np.uint8)
    foreign = int(_fold64(array, at, text, marks, to, keep_case))
    some = data[at : at + 64]
    assert [byte >= 0x80 for byte in some] == [bool(foreign >> bit & 1) for bit in range(64)]
    assert foreign == _marked64(array, at)
    written = set(range(to, to + 64))
    for place in range(80):
        if place not in written:
            assert (text[place], marks[place]) == (0xA5, 0xA5)
        elif (byte := some[place - to]) < 0x80:
            letter = chr(byte)
            assert chr(text[place]) == (letter if keep_case else letter.lower())
            assert marks[place] == (0x80 if letter.isalnum() or letter == "_" else 0)


def test_a_load_from_a_slice_counts_from_the_slice():
    """The address is that of the view, not of what it is cut from."""
    array = np.arange(64, dtype=np.uint8)
    assert int.from_bytes(bytes(range(19, 27)), "little") == _load64(array[16:], 3)


def test_kernels_are_kept_where_the_user_can_write():
    """The cache directory is decided at import: the user's own choice, else one named after the kernels' sources."""
    assert os.environ["NUMBA_CACHE_DIR"]
    assert Path(_numba._cache_dir()).name.startswith("kernels-")
    assert _numba._cache_dir() == _numba._cache_dir()


def test_without_a_home_kernels_are_kept_among_temporary_files(tmp_path, monkeypatch):
    """In a folder that nobody else can write to: a container has no home, and a cache is code."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    place = Path(_numba._cache_dir()).parent
    assert (tmp_path / f"nearsame-{os.getuid()}", 0o700) == (place, place.stat().st_mode & 0o777)


def test_a_folder_of_somebody_else_is_not_taken(tmp_path, monkeypatch):
    """What others may have put there would be run."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mine = os.getuid()
    (tmp_path / f"nearsame-{mine + 1}").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    with pytest.raises(OutputError, match=f"neither /dev/null/nearsame nor .*nearsame-{mine + 1} can be written"):
        _numba._cache_dir()


def _others_write(place):
    place.chmod(0o777)


def _its_group_writes(place):
    place.chmod(0o770)


def _others_own(place):
    os.chown(place, 4711, -1)


def _others_exchange_a_folder_above(place):
    place.parent.chmod(0o777)


def _others_own_a_folder_above(place):
    os.chown(place.parent, 4711, -1)


def _others_link_to_it(place):
    place.rename(place.with_name("real"))
    place.symlink_to(place.with_name("real"))
    os.lchown(place, 4711, -1)


def _our_link_leads_over_one_of_others(place):
    _others_link_to_it(place)
    place.rename(place.with_name("between"))
    place.symlink_to("between")


UNSAFE = (
    _others_write, _its_group_writes, _others_own, _others_exchange_a_folder_above, _others_own_a_folder_above,
    _others_link_to_it, _our_link_leads_over_one_of_others,
)  # fmt: skip


@pytest.mark.parametrize("change", UNSAFE, ids=lambda change: change.__name__.strip("_"))
def test_what_others_could_put_code_into_is_not_taken(change, tmp_path, monkeypatch):
    """Neither as the folder that the user named, nor as the one of every day."""
    if os.getuid() and change.__code__.co_names.count("chown") + change.__code__.co_names.count("lchown"):
        pytest.skip("only root can give something to others")
    place = tmp_path / "above" / "nearsame"
    place.mkdir(mode=0o700, parents=True)
    assert _numba._is_ours(place)
    change(place)
    with pytest.raises(OutputError, match="others may write to it, or exchange it"):
        _numba._asked_for(str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.parent))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert tmp_path / f"nearsame-{os.getuid()}" == _numba._base()


def test_our_own_link_and_a_folder_for_temporary_files_are_taken(tmp_path):
    """Anybody may write to the latter, and change nothing there that is another's."""
    tmp_path.chmod(0o1777)
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    assert _numba._is_ours(tmp_path / "link")


def test_nothing_is_compiled_before_the_first_call():
    """At import there is no signature yet; what will be compiled has no lock, and no threads of its own."""

    @_numba.jit
    def untouched(x):
        return x

    assert [] == untouched.signatures
    assert (True, "numpy") == (untouched.targetoptions["nogil"], untouched.targetoptions["error_model"])
    assert "parallel" not in untouched.targetoptions


def test_where_kernels_cannot_be_kept_the_folder_is_named(monkeypatch):
    """In the place of what the compiler says, which names no folder."""

    def fail(**_):
        raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")

    monkeypatch.setattr(_numba.numba, "njit", fail)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    with pytest.raises(OutputError, match="cannot be kept in NUMBA_CACHE_DIR=/nowhere"):
        _numba.jit(lambda x: x)
