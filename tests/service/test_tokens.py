"""Tokens: the file, scopes, and what a cookie proves."""

import hashlib

import pytest

import nearsame as ns
from nearsame.errors import ConfigError, SourceError
from nearsame.service.access import Access
from nearsame.service.problems import HttpProblem
from nearsame.service.tokens import Tokens, is_open_to_others
from tests.service.fakes import Shelf
from tests.service.running import running

READ, WRITE = "r" * 32, "w" * 32


def written(tmp_path, text):
    """A token file."""
    path = tmp_path / "tokens"
    path.write_text(text, "utf-8")
    return str(path)


def test_scopes_are_as_the_file_says(tmp_path):
    """Who may write may read; comments and empty lines are nobody."""
    tokens = Tokens.read(written(tmp_path, f"# us\n\nread {READ}\nwrite {WRITE} crawler\n"))
    assert ({"read"}, {"read", "write"}) == (tokens.holder(READ).scopes, tokens.holder(WRITE).scopes)
    assert ("line 3", "crawler") == (tokens.holder(READ).name, tokens.holder(WRITE).name)
    assert tokens.holder(READ[:-1]) is None
    assert tokens.holder("") is None


def test_a_file_may_hold_hashes(tmp_path):
    """Then it is no secret: the hash itself is no token."""
    digest = hashlib.sha256(READ.encode()).hexdigest()
    tokens = Tokens.read(written(tmp_path, f"read sha256:{digest}\n"))
    assert tokens.holder(READ) is not None
    assert tokens.holder(digest) is None
    assert tokens.holder(f"sha256:{digest}") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no token"),
        ("read short", "5 characters"),
        (f"admin {READ}", "line 1"),
        (f"read {READ}\nwrite {READ}", "twice"),
        ("read sha256:abc", "SHA-256"),
        (f"\nread {READ} name more", "line 2"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path, text, words):
    """The message has the place, never the token."""
    with pytest.raises(ConfigError, match=words) as caught:
        Tokens.read(written(tmp_path, text))
    assert READ not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """Neither missing nor binary."""
    with pytest.raises(SourceError, match="tokens"):
        Tokens.read(str(tmp_path / "tokens"))
    (tmp_path / "tokens").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="UTF-8"):
        Tokens.read(str(tmp_path / "tokens"))


def test_permissions_are_seen(tmp_path):
    """Whether others may read the file."""
    path = tmp_path / "tokens"
    path.touch(0o600)
    assert not is_open_to_others(str(path))
    path.chmod(0o644)
    assert is_open_to_others(str(path))


def test_every_line_is_compared(tmp_path, monkeypatch):
    """In constant time: as many comparisons for the first token as for none."""
    counted = []
    monkeypatch.setattr("nearsame.service.tokens.hmac.compare_digest", lambda a, b: counted.append(1) or a == b)
    tokens = Tokens.read(written(tmp_path, f"read {READ}\nwrite {WRITE}\nread {'x' * 20}\n"))
    for token in (READ, WRITE, "nothing of the kind"):
        counted.clear()
        tokens.holder(token)
        assert 3 == len(counted)


def test_a_cookie_is_no_token_and_ends_with_it(tmp_path):
    """It proves a token, holds none, cannot be changed, and is worth nothing when the token has gone."""
    path = written(tmp_path, f"read {READ}\n")
    access = Access(lambda: Tokens.read(path))
    cookie = access.sign_in(READ)
    assert READ not in cookie
    assert hashlib.sha256(READ.encode()).hexdigest() not in cookie
    assert {"read"} == access.of_cookie(cookie).scopes
    for place in range(0, len(cookie), 7):
        changed = cookie[:place] + ("A" if cookie[place] != "A" else "B") + cookie[place + 1 :]
        assert access.of_cookie(changed) is None
    assert access.of_cookie("") is None
    assert access.of_cookie("ümläut") is None
    assert Access(lambda: Tokens.read(path)).of_cookie(cookie) is None
    written(tmp_path, f"read {'n' * 32}\n")
    access.reload()
    assert access.of_cookie(cookie) is None
    assert access.sign_in(READ) is None


def test_a_cookie_grows_old(tmp_path, monkeypatch):
    """After twelve hours it is worth nothing."""
    path = written(tmp_path, f"read {READ}\n")
    access = Access(lambda: Tokens.read(path))
    cookie = access.sign_in(READ)
    import nearsame.service.access as module

    now = module.time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + 12 * 3600 - 5)
    assert access.of_cookie(cookie) is not None
    monkeypatch.setattr(module.time, "time", lambda: now + 12 * 3600 + 5)
    assert access.of_cookie(cookie) is None


def test_an_export_ends_with_its_token(tmp_path, monkeypatch):
    """It breaks off, so that nobody takes it for the whole; the log says why, and of no fault."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {'r' * 20}\n")
    tokens.chmod(0o600)
    shelf = Shelf()
    shelf.documents = {f"d{n:03}": {"id": f"d{n:03}", "text": "x"} for n in range(100)}
    asked, require = [], Access.require

    def once(self, request, scope):
        asked.append(scope)
        if len(asked) > 1:
            raise HttpProblem(401, "unauthorized", "the token is not known")
        return require(self, request, scope)

    with running(shelf.open, token_file=tokens) as served:
        monkeypatch.setattr(Access, "require", once)
        with ns.Client(served.url, "r" * 20) as client, pytest.raises(ns.StoreError):
            client.export(tmp_path / "all.jsonl")
        assert not (tmp_path / "all.jsonl").exists()
        (request,) = served.events("request", 1)
        assert "unauthorized" == request["problem"]
        assert [] == served.events("unexpected")
