"""Codes of bits as sources have them, as their bytes: the highest first, as many as the bits need."""

import re
from decimal import Decimal
from typing import Any

import pyarrow as pa

from nearsame.proofs.values import is_string, stored

__all__ = ["bytes_of", "distance", "unread"]


def unread(column: pa.Array) -> list[Any]:
    """Values as they stand there: texts, bytes, numbers, lists of these."""
    values: list[Any] = stored(column).to_pylist()
    return [value and value.decode("utf-8", "replace") for value in values] if is_string(column.type) else values


def bytes_of(value: Any, bits: int, *, decimal: bool) -> list[int] | None:
    """A code, or None of what is none.

    >>> bytes_of("00ff", 16, decimal=False), bytes_of(-1, 16, decimal=False), bytes_of("255", 16, decimal=True)
    ([0, 255], [255, 255], [0, 255])
    """
    size = (bits + 7) // 8
    if isinstance(value, str):
        value = _number(value.strip().replace("_", ""), bits, decimal=decimal)
    if isinstance(value, Decimal) and value == int(value):
        value = int(value)
    if isinstance(value, list):
        value = _joined(value, bits, size)
    if isinstance(value, bytes):
        value = int.from_bytes(value, "big") if len(value) == size else None
    is_code = isinstance(value, int) and -(2 ** (bits - 1)) <= value < 2**bits
    return list(int(value % 2**bits).to_bytes(size, "big")) if is_code else None


def distance(a: list[int], b: list[int]) -> int:
    """In how many bits two differ."""
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def _number(text: str, bits: int, *, decimal: bool) -> int | None:
    plain = ("-?[0-9]+", 10) if decimal else (f"[0-9a-fA-F]{{{(bits + 3) // 4}}}", 16)
    forms = ((f"[01]{{{bits}}}", 2), ("0[bB][01]+", 2), ("0[xX][0-9a-fA-F]+", 16), plain)
    return next((int(text, base) for form, base in forms if re.fullmatch(form, text, re.ASCII)), None)


def _joined(numbers: list[Any], bits: int, size: int) -> int | None:
    """Bytes, the highest first, or words of 64 bits, the lowest first."""
    if None in numbers:
        return None
    if len(numbers) == (bits + 63) // 64:
        return sum(int(number) % 2**64 << 64 * at for at, number in enumerate(numbers))
    return int.from_bytes(bytes(numbers), "big") if len(numbers) == size else None
