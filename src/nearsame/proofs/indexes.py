"""Lines of CDX and CDXJ, read anew: what each says of its record, by the names of columns; and digests, read anew."""

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["NO_WORDS", "IndexLines", "content_in", "one_spelling", "order_in", "same_payload"]

_FIELDS = {
    "N": "urlkey", "b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest", "r": "redirect",
    "S": "length", "V": "offset", "g": "filename",
}  # fmt: skip
_COMMON = {9: "NbamskrVg", 10: "NbamskrMVg", 11: "NbamskrMSVg"}
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?\s*CDX((?:\s+\S)*)\s*")
_OTHERS = re.compile(rb"(?:\xef\xbb\xbf)?[!@]")
_TIME = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")
_OBJECT = re.compile(r"(\S*) (\S*) *(\{.*)", re.DOTALL)
NO_WORDS = ("none", "null", "nil", "n/a", "na", "nan", "unknown", "undefined", "missing")
_LENGTHS = {"md5": 128, "sha1": 160, "sha224": 224, "sha256": 256, "sha384": 384, "sha512": 512}  # bits
_NUMBERS, _NUMBER = ("status", "length", "offset"), re.compile(r"[0-9]{1,18}")


class IndexLines:
    """The lines of one file, in order: a header says what the fields behind it are."""

    def __init__(self) -> None:
        self._letters: list[str] = []

    def read(self, line: bytes) -> Mapping[str, str | None] | None:
        """What a line says; None: it is of no record, or cannot be read."""
        header = _HEADER.fullmatch(line)
        if header is not None:
            self._letters = header[1].decode("latin-1").split() or self._letters
            return None
        if _OTHERS.match(line):
            return None
        try:
            said = self._said(line.decode().strip())
        except ValueError:
            return None
        time = _TIME.fullmatch(said.get("timestamp") or "")
        date = "{}-{}-{}T{}:{}:{}Z".format(*time.groups()) if time else None
        return said | {"date": date, "payload_digest": said.get("digest")}

    def _said(self, text: str) -> dict[str, str | None]:
        match = _OBJECT.fullmatch(text)
        if match:
            entry = json.loads(match[3])
            names = [name for name in _FIELDS.values() if name not in {"urlkey", "timestamp"}]
            return {"urlkey": match[1], "timestamp": match[2], **{name: _text(entry.get(name)) for name in names}}
        parts = text.split(" ")
        letters = self._letters or list(_COMMON.get(len(parts), ""))
        named = zip(letters, parts, strict=True)
        return {_FIELDS[letter]: _text(part) for letter, part in named if letter in _FIELDS}


def _text(value: Any) -> str | None:
    return None if value in (None, "", "-") or isinstance(value, (list, dict)) else str(value)


def order_in(said: Mapping[str, str | None], name: str | None) -> Any:
    """The value that priority goes by."""
    value = said.get(name or "")
    if name not in _NUMBERS:
        return value
    return int(value) if value is not None and _NUMBER.fullmatch(value) else None


def content_in(said: Mapping[str, str | None], name: str) -> str | None:
    """What is compared of a line: a digest in one spelling, another column as it is."""
    value = said.get(name)
    return one_spelling(value) if value is not None and name in {"digest", "payload_digest"} else value


def same_payload(one: str | None, other: str | None) -> bool:
    """Whether two digests are there and say the same."""
    return one is not None and other is not None and one_spelling(one) == one_spelling(other) is not None


def one_spelling(digest: str) -> str | None:
    """A digest by its algorithm and its number, where its spelling is known; else as it is, or None for no digest."""
    *before, value = digest.split(":")
    if not {*value} - {*"-_? 0"} or value.strip().lower() in NO_WORDS:
        return None
    if value not in {value.lower(), value.upper()} or not value.isascii():
        return digest
    names = ["".join(before).lower().replace("-", "")] if len(before) == 1 else [] if before else list(_LENGTHS)
    for name in names:
        bits = _LENGTHS.get(name, 0)
        for letters, base, size in (("0123456789abcdef", 16, 4), ("abcdefghijklmnopqrstuvwxyz234567", 32, 5)):
            bare = value.lower() if base == 16 else re.sub(r"={1,6}\Z", "", value.lower())
            number = _number_in(bare, letters, bits, size)
            if number is not None:
                return f"{name}:{number:0{bits // 4}x}" if number else None
    return digest


def _number_in(value: str, letters: str, bits: int, size: int) -> int | None:
    """What digits of so many bits each say; None where they are not, or more than there is room for."""
    if not bits or len(value) != -(-bits // size) or not set(value) <= set(letters):
        return None
    number = 0
    for letter in value:
        number = (number << size) | letters.index(letter)
    over = len(value) * size - bits
    return None if number & ((1 << over) - 1) else number >> over
