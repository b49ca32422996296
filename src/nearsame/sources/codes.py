"""Codes of bits as others write them, read into words: numbers, bytes, hexadecimal digits, bits.

1. A code is so many bits, whatever they are of. Its words are uint64, the lowest first.
2. A whole number is the code, a negative one in two's complement. Bytes and hexadecimal digits begin with the highest.
3. Digits alone are hexadecimal and complete (16 for 64 bits), so that a cut one is noticed; or, if that is said,
   decimal. Digits behind 0x, and 0 and 1 behind 0b, may be fewer, and are these even where all together could be
   hexadecimal digits. A text of exactly as many 0 and 1 as there are bits is these.
4. What is of another length or form is no code: it is skipped, never mended.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, computing
from nearsame.arrow import Mask, UInt64s
from nearsame.errors import ColumnError, ConfigError
from nearsame.named import NamedTuple
from nearsame.schemas import CODES

__all__ = [
    "Coding",
    "code_lists",
    "code_words",
    "has_prefixes",
    "is_codes",
    "is_prefixed",
    "json_type",
    "length_of",
    "read_code",
    "words_of",
]

_PREFIXED = "0b[01]+|0x[0-9a-f]+"
_PREFIXED_AS_WRITTEN = r"(?i)^[\s_]*0_*(b[01_]*[01]|x[0-9a-f_]*[0-9a-f])[\s_]*$"
_DECIMAL = "-?[0-9]+"
_DIGITS = np.full(256, 255, np.uint8)
for _at, _character in enumerate("0123456789abcdef"):
    _DIGITS[ord(_character)] = _DIGITS[ord(_character.upper())] = _at
_WORD, _MOST = 64, 512
_MANY = 100  # values of which not one is a code: a column of something else
_ANOTHER = "Choose another column with --codes-column."
_LISTS = CODES.field("code").type
_SHOWN = 80


class Coding(NamedTuple):
    """Which column has codes, how long they are, and whether digits alone are decimal numbers."""

    name: str
    bits: int
    decimal: bool


def read_code(code: int | str, bits: int, *, decimal: bool = True) -> int:
    """A code as a number, from a number or a text.

    Args:
        code: As somebody wrote it.
        bits: The length of a code.
        decimal: Whether digits alone are a decimal number; else they are hexadecimal, all of them.

    Raises:
        ConfigError: It is none, or does not fit.

    >>> [read_code(code, 4) for code in (13, -3, "13", "0b1101", "0xd", "1101")]
    [13, 13, 13, 13, 13, 13]
    >>> read_code("ff00", 16, decimal=False)
    65280
    """
    value = code if isinstance(code, int) else _number(_plainly(code), bits, decimal)
    if value is not None and -(1 << bits - 1) <= value < 1 << bits:
        return int(value) & (1 << bits) - 1
    digits = "13, 0b1101, 0xd" if decimal else f"{-(-bits // 4)} hexadecimal digits"
    shown = repr(code) if len(str(code)) <= _SHOWN else f"a text of {len(str(code)):,} characters"
    raise ConfigError(f"{shown} is not a code of {bits} bits", hint=f"Write it as {digits}, or {bits} bits.")


def is_prefixed(text: str) -> bool:
    """Whether it is digits behind 0x, or 0 and 1 behind 0b.

    >>> [is_prefixed(text) for text in ("0b11", "0b12", "0B_1", "0x12")]
    [True, False, True, True]
    """
    return re.fullmatch(_PREFIXED, _plainly(text)) is not None


def has_prefixes(column: pa.Array) -> bool:
    """Whether a text of a column is such a one."""
    column = _plain(column)
    is_text = pa.types.is_large_string(column.type)
    return is_text and bool(computing.any_(computing.match_substring_regex(column, _PREFIXED_AS_WRITTEN)).as_py())


def _plainly(text: str) -> str:
    return str(text).strip().replace("_", "").lower()


def _number(text: str, bits: int, decimal: bool) -> int | None:  # noqa: FBT001  (as read_code has it)
    if len(text) == bits and set(text) <= {"0", "1"}:
        return int(text, 2)
    if re.fullmatch(_PREFIXED, text):
        return int(text, 0)
    if decimal:
        return int(text) if re.fullmatch(_DECIMAL, text) and len(text) <= bits + 1 else None
    return int(text, 16) if len(text) == -(-bits // 4) and not set(text) - set("0123456789abcdef") else None


def words_of(value: int, bits: int) -> list[int]:
    """The words of a number.

    >>> words_of(1 << 64 | 5, 128)
    [5, 1]
    """
    return [value >> at & (1 << 64) - 1 for at in range(0, bits, 64)]


def _plain(column: pa.Array) -> pa.Array:
    """The values as one of few types."""
    if pa.types.is_dictionary(column.type):
        return _plain(column.dictionary_decode())
    kind = column.type
    is_text = pa.types.is_string(kind) or pa.types.is_string_view(kind)
    is_bytes = pa.types.is_binary(kind) or pa.types.is_binary_view(kind)
    if pa.types.is_null(kind):
        return column.cast(pa.int64())
    return column.cast(pa.large_string()) if is_text else column.cast(pa.large_binary()) if is_bytes else column


def length_of(column: pa.Array) -> int | None:
    """How many bits the codes of a column have: by its type, or where that says nothing, if all are of one length.

    Of digits it is what they are as hexadecimal ones. None: there is none, or they differ, have prefixes, or are no
    codes.
    """
    if column.null_count == len(column) or has_prefixes(column):
        return None
    column = _plain(column)
    kind = column.type
    if pa.types.is_integer(kind):
        return int(kind.bit_width)
    if pa.types.is_decimal(kind):
        return None
    if _is_list(kind):
        unit, lengths = kind.value_type.bit_width, computing.list_value_length(column)
    else:
        unit = 4 if pa.types.is_large_string(kind) else 8
        lengths = computing.binary_length(column.cast(pa.large_binary()))
    least, most = computing.min_max(lengths).as_py().values()
    return unit * int(most) if least == most and most is not None else None


def code_lists(column: pa.Array, chosen: Coding, source: str, *, is_first: bool) -> tuple[pa.Array, dict[int, str]]:
    """The codes of a column of a source as lists of words, and why those that are none are not, by row.

    Args:
        column: As it was read.
        chosen: Its name, and how codes are written.
        source: What messages call the source.
        is_first: Whether these are its first records: if all of them have another length, the column is another.

    Raises:
        ColumnError: The column holds something else.
    """
    bits = chosen.bits
    if not is_codes(column.type):
        message = f"{source}: column {chosen.name!r} is {column.type}, not codes"
        raise ColumnError(message, hint="Choose a column of whole numbers, bytes or digits with --codes-column.")
    is_narrow = pa.types.is_integer(column.type) and column.type.bit_width < bits
    words, good = code_words(column, bits, decimal=chosen.decimal)
    bad = ~good & column.is_valid().to_numpy(zero_copy_only=False)
    if is_narrow or (is_first and bad.any() and not good.any()):
        _refuse_others(column, chosen, source)
    offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(good * words.shape[1], out=offsets[1:])
    values = pa.array(words[good].ravel().view(np.int64))
    lists = pa.LargeListArray.from_arrays(pa.array(offsets, mask=np.append(~good, [False])), values, type=_LISTS)
    return lists, {row: f"{_shown(column[row])} is not a code of {bits} bits" for row in np.flatnonzero(bad).tolist()}


def json_type(values: Sequence[Any], chosen: Coding, source: str) -> pa.DataType:
    """As what the values of JSON are read, of which these are the first.

    Raises:
        ColumnError: They are texts of something else.
    """
    known = [value for value in values if value is not None]
    if known and {*map(type, known)} == {int}:
        return pa.int64() if min(known) < 0 else pa.uint64()
    texts = [value for value in known if isinstance(value, str)]
    if len(texts) == len(known):  # beside numbers a text that is no code is one bad record
        code_lists(pa.array(texts, pa.large_string()), chosen, source, is_first=True)
    return pa.large_string()


def _shown(value: pa.Scalar) -> str:
    try:
        shown = str(value) if pa.types.is_decimal(value.type) else repr(value.as_py())
    except UnicodeDecodeError:
        return "what is not UTF-8"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 4]}...'"


def _refuse_others(column: pa.Array, chosen: Coding, source: str) -> None:
    """An error if values, none of which is a code, are of another length, or decimal; or if they are many."""
    length, bits, place = length_of(column), chosen.bits, f"{source}: column {chosen.name!r} holds"
    is_text = pa.types.is_large_string(_plain(column).type)
    if is_text and not chosen.decimal and computing.all_(computing.match_substring_regex(column, "^-?[0-9]+$")).as_py():
        hint = f"If these are decimal numbers: --decimal. A code of {bits} bits has {-(-bits // 4)} hexadecimal digits."
        raise ColumnError(f"{place} digits that are not codes of {bits} bits", hint=hint)
    if length is None or length == bits or (is_text and not _are_digits(column)):
        if len(column) - column.null_count < _MANY:
            return
        first = _shown(column.drop_null()[0])
        raise ColumnError(f"{place} no codes of {bits} bits, but {first} and others", hint=_ANOTHER)
    hint = f"Say how long they are: --bits {length}." if length <= _MOST else _ANOTHER
    raise ColumnError(f"{place} codes of {length} bits, not of {bits}", hint=hint)


def _are_digits(column: pa.Array) -> bool:
    return bool(computing.all_(computing.match_substring_regex(column, "^[0-9a-fA-F]+$")).as_py())


def code_words(column: pa.Array, bits: int, *, decimal: bool = False) -> tuple[UInt64s, Mask]:
    """The codes of a column: (uint64[n, w], whether each is one); of a null the words are 0, and it is none.

    Args:
        column: Of a type that `is_codes`.
        bits: The length of a code.
        decimal: As `read_code` has it.
    """
    column = _plain(column)
    words = np.zeros((len(column), -(-bits // 64)), np.uint64)
    kind = column.type
    if pa.types.is_large_string(kind):
        good = _of_texts(column, bits, words, decimal=decimal)
    elif pa.types.is_integer(kind):
        good = _of_numbers(column, bits, words)
    elif pa.types.is_decimal(kind):
        good = _of_large_numbers(column, bits, words)
    elif _is_list(kind):
        good = _of_lists(column, bits, words)
    else:
        good = _of_bytes(column.cast(pa.large_binary()), -(-bits // 8), words)
    if bits % 64:
        good &= words[:, -1] >> np.uint64(bits % 64) == 0
    words[~good] = 0
    return words, good


def is_codes(kind: pa.DataType) -> bool:
    """Whether codes can be read from a column of that type."""
    if pa.types.is_dictionary(kind):
        return is_codes(kind.value_type)
    if _is_list(kind):
        return kind.value_type in (pa.uint8(), pa.uint64(), pa.int64())
    if pa.types.is_decimal(kind):
        return bool(kind.scale == 0)
    tests = (
        "integer", "null", "fixed_size_binary", "binary", "large_binary", "binary_view", "string", "large_string",
        "string_view",
    )  # fmt: skip
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _present(column: pa.Array) -> Mask:
    return np.array(column.is_valid().to_numpy(zero_copy_only=False))


def _of_numbers(column: pa.Array, bits: int, words: UInt64s) -> Mask:
    """Integers; of a negative one in two's complement the bits below the code's length."""
    good, values = _present(column), column.fill_null(0).to_numpy(zero_copy_only=False)
    if bits >= _WORD or values.dtype.kind == "u":
        words[:, 0] = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values
        return good
    values = values.astype(np.int64)
    words[:, 0] = np.where(values < 0, values & (1 << bits) - 1, values).view(np.uint64)
    return np.asarray(good & (values >= -(1 << bits - 1)))


def _of_large_numbers(column: pa.Array, bits: int, words: UInt64s) -> Mask:
    """Decimals without a point: numbers of more than 64 bits, or what databases have for unsigned ones.

    They are stored as the words of a code are, in two's complement.
    """
    good, width, wide = _present(column), column.type.byte_width, words.shape[1]
    if not good.any():
        return good
    size = width // 8
    stored = np.frombuffer(column.buffers()[1], np.uint64, good.size * size, column.offset * width).reshape(-1, size)
    is_negative = stored[:, -1:] >> np.uint64(_WORD - 1) == 1
    sign = np.where(is_negative, np.uint64(2**_WORD - 1), np.uint64(0))
    every = np.concatenate([stored, *[sign] * max(1, wide + 1 - size)], axis=1)
    words[:] = every[:, :wide]
    good &= (every[:, wide:] == sign).all(axis=1)
    last = words[:, -1]
    if rest := bits % _WORD:
        good &= last >> np.uint64(rest) == sign[:, 0] >> np.uint64(rest)
        last &= np.uint64((1 << rest) - 1)
    return np.asarray(good & (~is_negative[:, 0] | (last >> np.uint64((bits - 1) % _WORD) == 1)))


def _of_bytes(column: pa.Array, size: int, words: UInt64s) -> Mask:
    """Bytes, the highest first."""
    good = _present(column)
    good &= computing.binary_length(column).fill_null(-1).to_numpy() == size
    view = arrow.strings(column.filter(pa.array(good)))
    _fill(view.data[view.offsets[0] : view.offsets[-1]].reshape(-1, size), words, good)
    return good


def _of_lists(column: pa.Array, bits: int, words: UInt64s) -> Mask:
    """Lists of bytes, the highest first, or of words, the lowest first."""
    is_bytes = column.type.value_type.bit_width < _WORD
    size = -(-bits // 8) if is_bytes else words.shape[1]
    column = column.cast(pa.large_list(column.type.value_type))
    good = _present(column)
    good &= computing.list_value_length(column).fill_null(-1).to_numpy() == size
    values = column.filter(pa.array(good)).flatten()
    whole = ~values.is_null().to_numpy(zero_copy_only=False).reshape(-1, size).any(axis=1)  # no part is missing
    values = values.fill_null(0).to_numpy(zero_copy_only=False).reshape(-1, size)[whole]
    good[good] = whole
    if is_bytes:
        _fill(values.view(np.uint8), words, good)
    else:
        words[good] = values.view(np.uint64)
    return good


def _of_texts(column: pa.Array, bits: int, words: UInt64s, *, decimal: bool) -> Mask:
    """Texts: the usual ones all at once, and the others one by one."""
    good = _present(column)
    if decimal:
        numbers = _decimals(column, bits)
        if numbers is not None:
            return _of_numbers(numbers, bits, words)
    else:
        size = -(-bits // 4)
        whole = good & (computing.binary_length(column).fill_null(-1).to_numpy() == size)
        view = arrow.strings(column.filter(pa.array(whole)))
        digits = _DIGITS[view.data[view.offsets[0] : view.offsets[-1]]].reshape(-1, size)
        is_hex = (digits < len("0123456789abcdef")).all(axis=1) if len(digits) else np.zeros(0, np.bool_)
        is_hex &= ~_are_bits(digits)
        whole[whole] = is_hex
        digits = np.pad(digits[is_hex], ((0, 0), (size % 2, 0)))
        _fill(digits[:, ::2] * np.uint8(16) + digits[:, 1::2], words, whole)
        good &= ~whole
    for row in np.flatnonzero(good).tolist():
        try:
            words[row] = words_of(read_code(column[row].as_py(), bits, decimal=decimal), bits)
        except (ConfigError, UnicodeDecodeError):
            good[row] = False
    return good if decimal else good | whole


def _are_bits(digits: npt.NDArray[np.uint8]) -> Mask:
    """Which rows of digits are 0 and 1 behind 0b."""
    begin = (digits[:, :2] == np.array([[0, 11]])[:, : digits.shape[1]]).all(axis=1)
    return np.asarray(begin & (digits[:, 2:] < 2).all(axis=1) & (digits.shape[1] > 2))


def _decimals(column: pa.Array, bits: int) -> pa.Array | None:
    """Decimal digits as integers; None where a text is something else, or may be bits."""
    longest = computing.max_(computing.binary_length(column)).as_py() or 0
    if bits > _WORD or longest >= bits:
        return None
    for kind in (pa.int64(), pa.uint64()):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _fill(data: npt.NDArray[np.uint8], words: UInt64s, good: Mask) -> None:
    """Put rows of bytes, the highest first, into the words of those that are codes."""
    padded = np.zeros((len(data), 8 * words.shape[1]), np.uint8)
    padded[:, padded.shape[1] - data.shape[1] :] = data
    words[good] = padded.view(">u8")[:, ::-1]
