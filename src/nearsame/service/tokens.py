"""Who may read and who may write: bearer tokens, from a file.

1. A line is `scope token` or `scope token name`; scopes are `read` and `write`, and who may write may read.
2. In the place of a token its hash may stand, `sha256:` and 64 hexadecimal digits: then the file holds no secret.
3. A token is compared as its hash, with every line, in constant time: the time of an answer says nothing about a guess.
"""

import hashlib
import hmac
import stat
from collections.abc import Iterator
from pathlib import Path

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, SourceError
from nearsame.sources.whole import text_lines, utf8

__all__ = ["Holder", "Tokens", "is_open_to_others"]

_SCOPES = {"read": frozenset({"read"}), "write": frozenset({"read", "write"})}
_LEAST = 16  # characters: 64 bits, if they are hexadecimal
_HASHED = "sha256:"


@dataclass(frozen=True)
class Holder:
    """Somebody who has a token.

    Attributes:
        name: for the log: what the line says, or its number.
        scopes: read, or read and write.
        digest: SHA-256 of the token.
    """

    name: str
    scopes: frozenset[str]
    digest: bytes

    @property
    def may_write(self) -> bool:
        """Whether that is allowed."""
        return "write" in self.scopes


@dataclass(frozen=True)
class Tokens:
    """All that are valid."""

    holders: tuple[Holder, ...]

    @classmethod
    def read(cls, path: str) -> "Tokens":
        """Those of a file.

        Raises:
            SourceError: It cannot be read.
            ConfigError: A line is not `scope token`, a token is short or stands there twice, or there is none.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            hint = "Name a file with lines of scope and token."
            raise SourceError(f"{path}: {error.strerror}", hint=hint) from error
        holders = tuple(_holders(path, text_lines(utf8(data, path))))
        if not holders:
            raise ConfigError(f"{path}: no token", hint="Write a line: write, a space, and 32 random characters.")
        if len({holder.digest for holder in holders}) < len(holders):
            raise ConfigError(f"{path}: a token is listed twice", hint="Give each holder a token of their own.")
        return cls(holders)

    def holder(self, token: str) -> Holder | None:
        """Whose a token is."""
        return self.by_digest(hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest())

    def by_digest(self, digest: bytes) -> Holder | None:
        """Whose the token of this digest is; every line is looked at, whichever fits."""
        owner = None
        for holder in self.holders:
            if hmac.compare_digest(holder.digest, digest):
                owner = holder
        return owner


def _holders(path: str, lines: list[str]) -> Iterator[Holder]:
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) not in (2, 3) or words[0] not in _SCOPES:
            message = f"{path}, line {number}: not `read TOKEN` or `write TOKEN`, perhaps with a name behind it"
            raise ConfigError(message, hint="Write scope, space, token; a comment begins with #.")
        scope, token, name = (*words, f"line {number}")[:3]
        yield Holder(name, _SCOPES[scope], _digest(token, f"{path}, line {number}"))


def _digest(token: str, place: str) -> bytes:
    if token.startswith(_HASHED):
        try:
            digest = bytes.fromhex(token.removeprefix(_HASHED))
        except ValueError:
            digest = b""
        if len(digest) != hashlib.sha256().digest_size:
            raise ConfigError(f"{place}: not a SHA-256", hint="Write sha256: and 64 hexadecimal digits.")
        return digest
    if not token.isascii():
        raise ConfigError(f"{place}: a token holds what no header of HTTP does", hint="Write it in ASCII.")
    if len(token) < _LEAST:
        message = f"{place}: a token of {len(token)} characters can be guessed"
        raise ConfigError(message, hint=f"Take at least {_LEAST} random characters.")
    return hashlib.sha256(token.encode()).digest()


def is_open_to_others(path: str) -> bool:
    """Whether others on this machine may read the file."""
    return bool(Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
