"""Object files become a library that the system's own loader takes, and what is not known in them is refused."""

import ctypes

import pytest
from llvmlite import binding

from nearsame.errors import ConfigError
from nearsame.kernels import building
from nearsame.kernels._linking import link

pytestmark = pytest.mark.skipif(not building.can_build(), reason="kernels are built ahead for Linux on x86-64")

FIRST = """
declare i64 @twice(i64)
declare ptr @memset(ptr, i32, i64)
@numbers = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
@names = private constant [2 x ptr] [ptr @numbers, ptr getelementptr (i64, ptr @numbers, i64 3)]
@of_c = constant ptr @memset
@empty = private global [3 x i64] zeroinitializer
define i64 @seen_through_a_table(i64 %which) {
  %place = getelementptr [2 x ptr], ptr @names, i64 0, i64 %which
  %at = load ptr, ptr %place
  %found = load i64, ptr %at
  %doubled = call i64 @twice(i64 %found)
  ret i64 %doubled
}
define i64 @seen_counter() {
  %before = load i64, ptr getelementptr (i64, ptr @empty, i64 2)
  %after = add i64 %before, 1
  store i64 %after, ptr getelementptr (i64, ptr @empty, i64 2)
  ret i64 %after
}
define ptr @seen_filled(ptr %what, i64 %size) {
  %1 = call ptr @memset(ptr %what, i32 7, i64 %size)
  %by = load ptr, ptr @of_c
  %2 = call ptr %by(ptr %what, i32 9, i64 1)
  ret ptr @memset
}
define double @seen_third(double %x) {
  %y = fdiv double %x, 3.0
  ret double %y
}
define i64 @both() {
  ret i64 1
}
"""
SECOND = """
define i64 @both() {
  ret i64 2
}
define i64 @twice(i64 %x) {
  %1 = add i64 %x, %x
  ret i64 %1
}
define i64 @seen_shared() {
  %1 = call i64 @both()
  ret i64 %1
}
"""


def compiled(text):
    """The object file of a module."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    machine = target.create_target_machine(cpu="x86-64-v2", opt=0, reloc="pic", codemodel="default")
    return machine.emit_object(binding.parse_assembly(text))


def loaded(data, folder):
    """A library, loaded."""
    (folder / "made.so").write_bytes(data)
    return ctypes.CDLL(str(folder / "made.so"))


def test_references_within_across_files_and_to_the_c_library_are_settled(tmp_path):
    """Constants, tables of addresses, functions of the other file, and addresses that only the loader knows."""
    code = loaded(link([compiled(FIRST), compiled(SECOND)], "seen_", frozenset({"memset"})), tmp_path)
    code.seen_third.argtypes, code.seen_third.restype = [ctypes.c_double], ctypes.c_double
    code.seen_filled.restype = ctypes.c_void_p
    assert [20, 80] == [code.seen_through_a_table(ctypes.c_int64(which)) for which in (0, 1)]
    assert [1, 2, 3] == [code.seen_counter() for _ in range(3)]
    room = (ctypes.c_uint8 * 5)()
    assert ctypes.cast(ctypes.CDLL(None).memset, ctypes.c_void_p).value == code.seen_filled(room, ctypes.c_int64(4))
    assert [9, 7, 7, 7, 0] == list(room)
    assert 2.5 == code.seen_third(7.5)


def test_what_two_files_define_is_the_first_ones_and_nothing_else_is_seen(tmp_path):
    """One function for all, and no name but those that were asked for."""
    code = loaded(link([compiled(FIRST), compiled(SECOND)], "seen_", frozenset({"memset"})), tmp_path)
    assert 1 == code.seen_shared()
    assert not hasattr(code, "twice")


def test_what_is_left_open_is_held_to_a_list():
    """The build ends where a kernel needs what nobody promised."""
    with pytest.raises(ConfigError, match="kernels need unknown functions: memset"):
        link([compiled(FIRST), compiled(SECOND)], "seen_", frozenset({"malloc"}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"#!/bin/sh\n", "something other than an object file"),
        (compiled("@own = thread_local global i64 7\ndefine ptr @seen() {\n ret ptr @own\n}"), "a reference of kind"),
    ],
    ids=["no object file", "a variable of a thread"],
)
def test_what_is_not_known_is_refused(data, message):
    """It is never passed over."""
    with pytest.raises(ConfigError, match=message):
        link([data], "seen", frozenset({"__tls_get_addr"}))
