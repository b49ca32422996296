"""Who is asking, and whether they may: a bearer token, or a browser's cookie that proves one.

1. Without a token file everybody who reaches the port may do everything; `server` sees to who does.
2. A cookie holds no token: a keyed hash of its digest, a time, and a signature that only this process can make.
3. What a cookie allows ends with its token: whoever is taken out of the file is out at once.
4. A cookie is for the pages; a form that comes with one must also bring the key that its page had.
"""

import base64
import hashlib
import hmac
import os
import time
from collections.abc import Callable

from fastapi import Request

from nearsame.service.problems import HttpProblem
from nearsame.service.tokens import Holder, Tokens

__all__ = ["COOKIE", "LIFETIME", "Access"]

COOKIE = "nearsame_session"
LIFETIME = 12 * 3600  # seconds


class Access:
    """The tokens that are valid now, and the key that signs cookies."""

    def __init__(self, read_tokens: Callable[[], Tokens] | None) -> None:
        self._read_tokens = read_tokens
        self._tokens = read_tokens() if read_tokens else None
        self._key = os.urandom(32)

    @property
    def asks(self) -> bool:
        """Whether tokens are asked for at all."""
        return self._tokens is not None

    def reload(self) -> int:
        """Read the tokens again; how many there are. A file that cannot be read changes nothing, and raises."""
        if self._read_tokens is None:
            return 0
        self._tokens = self._read_tokens()
        return len(self._tokens.holders)

    def require(self, request: Request, scope: str, *, pages: bool = False) -> Holder | None:
        """Who is asking; with `pages` a cookie will do.

        Raises:
            Problem: Nobody that is known, or not allowed to.
        """
        if self._tokens is None:
            return None
        given = request.headers.get("authorization", "")
        kind, _, token = given.partition(" ")
        holder = None
        if kind.lower() == "bearer":
            holder = self._tokens.holder(token.strip())
        elif pages:
            holder = self.of_cookie(request.cookies.get(COOKIE, ""))
        if holder is None:
            hint = "Send the header Authorization: Bearer TOKEN."
            detail = "the token is not valid" if given else "a token is needed"
            raise HttpProblem(
                401, "unauthorized", detail, hint=hint, headers={"WWW-Authenticate": 'Bearer realm="nearsame"'}
            )
        request.scope["state"]["holder"] = holder.name
        if scope not in holder.scopes:
            raise HttpProblem(403, "forbidden", f"the token may not {scope}", hint=f"Use one with the scope {scope}.")
        return holder

    def sign_in(self, token: str) -> str | None:
        """A cookie for a token that is valid."""
        holder = self._tokens.holder(token) if self._tokens else None
        if holder is None:
            return None
        payload = self._hash(b"holder", holder.digest)[:16] + int(time.time() + LIFETIME).to_bytes(8, "big")
        return base64.urlsafe_b64encode(payload + self._hash(b"cookie", payload)).decode()

    def of_cookie(self, cookie: str) -> Holder | None:
        """Whose a cookie is, if it is ours, not too old, and its token still valid."""
        try:
            raw = base64.b64decode(cookie.encode("ascii"), altchars=b"-_", validate=True)
        except ValueError:
            return None
        payload, signature = raw[:24], raw[24:]
        if not hmac.compare_digest(self._hash(b"cookie", payload), signature):
            return None
        if int.from_bytes(payload[16:], "big") < time.time() or self._tokens is None:
            return None
        owner = None
        for holder in self._tokens.holders:
            if hmac.compare_digest(self._hash(b"holder", holder.digest)[:16], payload[:16]):
                owner = holder
        return owner

    def form_key(self, request: Request) -> str:
        """What a form has to bring along: tied to the cookie."""
        return self._hash(b"form", request.cookies.get(COOKIE, "").encode("utf-8", "surrogateescape")).hex()[:32]

    def require_form_key(self, request: Request, given: str) -> None:
        """Refuse a form that another site made.

        Raises:
            Problem: It was not one of our pages.
        """
        if self.asks and not hmac.compare_digest(self.form_key(request).encode(), given.encode("utf-8", "replace")):
            raise HttpProblem(403, "form", "the form is too old, or from another site", hint="Load the page again.")

    def _hash(self, purpose: bytes, value: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + value, hashlib.sha256)
