"""One spelling for digests of payloads, to compare them by: archives and indexes write the same digest in many ways.

1. A digest of a known algorithm, in hexadecimal digits or in base32, with its name in front or without, becomes
   `sha1:` and hexadecimal digits. Without a name its length says the algorithm.
2. Anything else is compared as it is written, unless it stands for none: `-`, `sha1:`, `sha1:unknown`, zeros.
"""

import base64
import re

from nearsame.placeholders import WORDS

__all__ = ["comparable"]

_SIZES = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}  # bytes
_HEX = r"[0-9a-f]+|[0-9A-F]+"
_BASE32 = r"([a-z2-7]+|[A-Z2-7]+)={0,6}"


def comparable(digest: str) -> str | None:
    """The spelling that a digest is compared by; None where it is none.

    Example:
        >>> comparable("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
        'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'
        >>> comparable("SHA-1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709")
        'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'
    """
    named, mark, value = digest.rpartition(":")
    name = named.lower().replace("-", "")
    for algorithm, size in _SIZES.items():
        if name == algorithm or not mark:
            plain = _in_hex(value, size)
            if plain is not None:
                return f"{algorithm}:{plain}" if _says_something(plain) else None
    return digest if _says_something(value) else None


def _says_something(value: str) -> bool:
    return value.strip("-_? 0") != "" and value.strip().lower() not in WORDS


def _in_hex(value: str, size: int) -> str | None:
    """A value of so many bytes in hexadecimal digits; None: it is not one."""
    if len(value) == 2 * size and re.fullmatch(_HEX, value):
        return value.lower()
    match = re.fullmatch(_BASE32, value)
    letters = match[1].upper() if match else ""
    if len(letters) != -(-size * 8 // 5):
        return None
    whole = letters + "=" * (-len(letters) % 8)
    raw = base64.b32decode(whole)
    return raw.hex() if base64.b32encode(raw).decode() == whole else None
