"""A shared library of object files, as `ld -shared` makes it, for what LLVM emits for Linux on x86-64.

1. Sections go to three segments: what is read (tables, constants), what is run, and what is written to as it is loaded.
2. References within the library are settled here. What it needs of the C library is left to the loader, without the
   version of a symbol: a table of addresses, and a jump through it for each function.
3. What is not known (a kind of reference, a symbol that may not be left open) is an error, never passed over.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from nearsame.errors import ConfigError

__all__ = ["link"]

_PAGE = 4096
_WRITE, _ALLOC, _RUN = 1, 2, 4  # flags of a section
_SYMTAB, _RELA, _NOBITS, _UNWIND = 2, 4, 8, 0x70000001  # types of a section
_ADDRESS, _RELATIVE = 1, 8  # references that the loader settles: a symbol's address, and one within the library
_THROUGH_TABLE = {9, 41, 42}  # GOTPCREL, and those that a linker may relax
_DISTANCES = {2: 4, 4: 4, 24: 8} | dict.fromkeys(_THROUGH_TABLE, 4)  # and how many bytes: PC32, PLT32, PC64
_READ = 4  # how a segment is mapped
_STACK = 0x6474E551  # a segment that says that the stack is not run
_FUNCTION = 0x12  # a symbol that is seen from outside
_HEADER_BYTES = 64 + 5 * 56
_JUMP = b"\xff\x25\0\0\0\0\x66\x90"  # jmp *distance(%rip), and a nop to fill eight bytes
_UNKNOWN = "Build with the version of llvmlite that constraints.txt names."


class _Section(NamedTuple):
    kind: int
    flags: int
    data: bytes
    size: int
    link: int
    info: int
    align: int


class _Symbol(NamedTuple):
    name: str
    is_local: bool
    section: int  # 0: it is elsewhere
    value: int


class _Reference(NamedTuple):
    """A place in a section that has to have the address of a symbol."""

    section: int
    offset: int
    kind: int
    symbol: _Symbol
    addend: int


class _Object:
    """An object file."""

    def __init__(self, data: bytes) -> None:
        self.sections = list(_sections(data))
        self.symbols = [each for section in self.sections if section.kind == _SYMTAB for each in self._symbols(section)]
        self.places: dict[int, int] = {}  # the address of each section that is loaded

    def _symbols(self, table: _Section) -> Iterable[_Symbol]:
        names = self.sections[table.link].data
        for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", table.data):
            yield _Symbol(names[name : names.index(b"\0", name)].decode("ascii"), info >> 4 == 0, section, value)

    def place(self, symbol: _Symbol) -> int | None:
        """The address of what it defines."""
        start = self.places.get(symbol.section)
        return None if start is None else start + symbol.value

    def references(self) -> Iterable[_Reference]:
        """Those in sections that are loaded."""
        for section in self.sections:
            if section.kind == _RELA and section.info in self.places:
                for offset, info, addend in struct.iter_unpack("<QQq", section.data):
                    yield _Reference(section.info, offset, info & 0xFFFFFFFF, self.symbols[info >> 32], addend)


def _sections(data: bytes) -> Iterable[_Section]:
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
        raise ConfigError("kernels were compiled to something other than an object file for x86-64", hint=_UNKNOWN)
    start, (width, count) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HH", data, 58)
    for at in range(start, start + width * count, width):
        _, kind, flags, _, offset, size, link, info, align, _ = struct.unpack_from("<IIQQQQIIQQ", data, at)
        inside = b"" if kind == _NOBITS else data[offset : offset + size]
        yield _Section(kind, flags, inside, size, link, info, max(align, 1))


@dataclass
class _Library:
    """The bytes of the file, which are at the same places in memory, and what the loader is to do."""

    data: bytearray
    elsewhere: list[str]  # what the loader is to find
    segments: list[tuple[int, int, int]] = field(default_factory=list)  # how it is mapped, from where, to where
    known: dict[str, int] = field(default_factory=dict)  # where symbols are that all objects share
    table: dict[str, int] = field(default_factory=dict)  # where the address of what is elsewhere comes to stand
    tasks: list[tuple[int, int, str, int]] = field(default_factory=list)  # place, kind, symbol, addend

    def align(self, to: int) -> int:
        """Go on at a multiple."""
        self.data.extend(bytes(-len(self.data) % to))
        return len(self.data)

    def put(self, data: bytes, align: int = 8) -> int:
        """Append it; where it stands."""
        at = self.align(align)
        self.data.extend(data)
        return at

    def leave(self, place: int, name: str, target: int | None, addend: int) -> None:
        """Have the loader write the address of a symbol."""
        if name in self.elsewhere:
            self.tasks.append((place, _ADDRESS, name, addend))
        elif target is not None:
            self.tasks.append((place, _RELATIVE, "", target + addend))
        else:
            raise ConfigError(f"kernels have a reference to {name!r}, which is not defined", hint=_UNKNOWN)

    def put_sections(self, objects: Iterable[_Object], flags: int) -> None:
        """Those with these flags."""
        for each in objects:
            for number, section in enumerate(each.sections):
                if section.flags & (_WRITE | _ALLOC | _RUN) == flags and section.kind != _UNWIND:
                    each.places[number] = self.put(section.data or bytes(section.size), section.align)


def link(files: Iterable[bytes], exported: str, allowed: frozenset[str]) -> bytes:
    """The library of some object files.

    Args:
        files: What the files have in them. Where several define a symbol, they share the first one's.
        exported: What the names of symbols begin with that are found in the library.
        allowed: What may be left to the loader.

    Raises:
        ConfigError: Something else is left open, or a file has what is not known here.
    """
    objects = [_Object(data) for data in files]
    made = _Library(bytearray(_HEADER_BYTES), _elsewhere(objects, allowed))
    made.put_sections(objects, _ALLOC)
    made.segments.append((_READ, 0, len(made.data)))
    start = made.align(_PAGE)
    made.put_sections(objects, _ALLOC | _RUN)
    made.known = {name: made.put(_JUMP) for name in made.elsewhere}
    made.segments.append((_READ | 1, start, len(made.data)))
    start = made.align(_PAGE)
    made.put_sections(objects, _ALLOC | _WRITE)
    references = [(each, reference) for each in objects for reference in each.references()]
    looked_up = {reference.symbol.name for _, reference in references if reference.kind in _THROUGH_TABLE}
    made.table = {name: made.put(bytes(8)) for name in sorted(looked_up.union(made.elsewhere))}
    for name, place in made.known.items():
        struct.pack_into("<i", made.data, place + 2, made.table[name] - place - 6)
    own = _own(objects)
    made.known |= own
    for name, place in made.table.items():
        made.leave(place, name, made.known.get(name), 0)
    for within, reference in references:
        _settle(made, within, reference)
    _put_tables(made, [name for name in own if name.startswith(exported)], start)
    return bytes(made.data)


def _own(objects: list[_Object]) -> dict[str, int]:
    """Where symbols are that objects share: each is the first one's that has it."""
    found: dict[str, int] = {}
    for each in objects:
        for symbol in each.symbols:
            at = each.place(symbol)
            if at is not None and not symbol.is_local:
                found.setdefault(symbol.name, at)
    return found


def _elsewhere(objects: Iterable[_Object], allowed: frozenset[str]) -> list[str]:
    """What no object has."""
    symbols = [symbol for each in objects for symbol in each.symbols if symbol.name and not symbol.is_local]
    needed = {each.name for each in symbols if not each.section} - {each.name for each in symbols if each.section}
    unknown = needed - allowed
    if unknown:
        hint = "Write it into runtime.ll, or keep it out of kernels."
        raise ConfigError(f"kernels need unknown functions: {', '.join(sorted(unknown))}", hint=hint)
    return sorted(needed)


def _settle(made: _Library, within: _Object, reference: _Reference) -> None:
    """Write what a place is to have, or leave it to the loader."""
    place, symbol, addend = within.places[reference.section] + reference.offset, reference.symbol, reference.addend
    target = within.place(symbol) if symbol.is_local else made.known.get(symbol.name)
    if reference.kind in _THROUGH_TABLE:
        target = made.table.get(symbol.name)
    width = _DISTANCES.get(reference.kind)
    if reference.kind == _ADDRESS:
        made.leave(place, symbol.name, target, addend)
    elif width and target is not None:
        made.data[place : place + width] = (target + addend - place).to_bytes(width, "little", signed=True)
    else:
        raise ConfigError(f"kernels have a reference of kind {reference.kind} to {symbol.name!r}", hint=_UNKNOWN)


def _put_tables(made: _Library, exported: list[str], start: int) -> None:
    """What the loader reads: symbols, their names, where to find them by name, tasks; and the file's header."""
    names = ["", *made.elsewhere, *exported]
    text = b"".join(name.encode("ascii") + b"\0" for name in names)
    symbols = bytes(24)
    for name in names[1:]:
        at, is_own = text.index(b"\0" + name.encode("ascii") + b"\0") + 1, name in exported
        symbols += struct.pack("<IBBHQQ", at, _FUNCTION, 0, is_own, made.known[name] if is_own else 0, 0)
    numbers = {name: number for number, name in enumerate(names)}
    tasks = b"".join(
        struct.pack("<QQq", place, numbers[name] << 32 | kind, addend) for place, kind, name, addend in made.tasks
    )
    tags = {4: made.put(_by_hash(names)), 5: made.put(text), 6: made.put(symbols), 7: made.put(tasks)}
    tags |= {8: len(tasks), 9: 24, 10: len(text), 11: 24, 0: 0}  # sizes; the last one ends the list
    loader = made.put(b"".join(struct.pack("<QQ", *each) for each in tags.items()))
    made.segments.append((_READ | 2, start, len(made.data)))
    parts = [(1, mapped, begin, end - begin, _PAGE) for mapped, begin, end in made.segments]
    parts += [(2, _READ | 2, loader, len(made.data) - loader, 8), (_STACK, _READ | 2, 0, 0, 16)]
    magic = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(parts), 64, 0, 0)
    segments = [struct.pack("<IIQQQQQQ", kind, how, at, at, at, size, size, to) for kind, how, at, size, to in parts]
    made.data[:_HEADER_BYTES] = b"".join((magic, header, *segments))


def _by_hash(names: list[str]) -> bytes:
    """The table by which the loader finds a symbol: buckets, each the first of a chain."""
    buckets, chains = [0] * len(names), [0] * len(names)
    for number, name in enumerate(names[1:], 1):
        value = 0
        for byte in name.encode("ascii"):
            value = (value << 4) + byte
            value = (value ^ (value >> 24 & 0xF0)) & 0xFFFFFFF
        bucket = value % len(names)
        buckets[bucket], chains[number] = number, buckets[bucket]
    return struct.pack(f"<{2 + 2 * len(names)}I", len(names), len(names), *buckets, *chains)
