"""Outputs at addresses: whole or not there, in a store that has no renaming, whatever call to it fails."""

import json
from contextlib import suppress
from itertools import count
from typing import Any, ClassVar

import fsspec
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import nearsame as ns
from nearsame.errors import OutputError, SourceError
from nearsame.files.remote import LISTED, at_hand
from nearsame.outputs.folder import appearing, require_place
from tests.cli.commands import run

TEXT = "one two three four five six seven"
LINES = "".join(json.dumps({"id": one, "text": TEXT}) + "\n" for one in "ab")


class Bucket(MemoryFileSystem):
    """A store as S3 is one: keys without folders in the bucket `there`, no renaming; its Nth call may fail."""

    protocol = "bucket"
    root_marker = ""
    keys: ClassVar[dict[str, Any]] = {}
    failing, lasting = 0, False
    calls = count(1)
    error = ConnectionError("Could not connect to the endpoint")

    @classmethod
    def _strip_protocol(cls, path):
        return path.removeprefix("bucket://").strip("/")

    def __init__(self, **_):
        super().__init__()
        self.store, self.pseudo_dirs = self.keys, []

    def _called(self, path):
        nth = next(type(self).calls)
        if nth == self.failing or (self.lasting and nth > self.failing):
            raise self.error
        if self._strip_protocol(path).partition("/")[0] != "there":
            raise FileNotFoundError("The specified bucket does not exist")

    def mv(self, *_):
        """No store of objects has this."""
        raise AssertionError


def _counted(name):
    def call(self, path, *others, **options):
        for one in path if isinstance(path, list) else [path]:
            self._called(others[0] if name == "put_file" else one)
            getattr(MemoryFileSystem, name)(self, one, *others, **options)

    def answer(self, path, *others, **options):
        self._called(path)
        return getattr(MemoryFileSystem, name)(self, path, *others, **options)

    return call if name in {"rm", "put_file"} else answer


for _name in ("cat_file", "cp_file", "find", "get_file", "info", "pipe_file", "put_file", "rm", "rm_file"):
    setattr(Bucket, _name, _counted(_name))


@pytest.fixture
def bucket():
    """An empty one; `fail(n)` makes the nth call from now fail."""
    fsspec.register_implementation("bucket", Bucket, clobber=True)
    Bucket.clear_instance_cache()
    Bucket.keys.clear()
    fail(0)
    yield Bucket.keys
    fail(0)


def fail(nth, error=None, *, lasting=False):
    Bucket.calls, Bucket.failing, Bucket.lasting = count(1), nth, lasting
    Bucket.error = error or ConnectionError("Could not connect to the endpoint")


def content(keys, below="there/out/"):
    """What lies there, by name."""
    return {name.removeprefix(below): one.getvalue() for name, one in keys.items() if name.startswith(below)}


def write(place, content, *, overwrite=True):
    """Write a folder, or one file."""
    with appearing(require_place(place, folder=isinstance(content, dict), overwrite=overwrite, mark=None)) as made:
        if not isinstance(content, dict):
            made.write_text(content, "utf-8")
            return
        for name, text in content.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text, "utf-8")


def said(keys):
    return json.loads(keys[f"there/out/{LISTED}"].getvalue())


@pytest.mark.parametrize("scheme", ["bucket", "memory"])
def test_a_run_is_written_verified_and_run_again_at_an_address(scheme, bucket, tmp_path):
    """From the terminal: sources there, too; the copy is byte for byte that of a folder here."""
    fsspec.filesystem("memory").store.clear()
    home = f"{scheme}://there"
    with fsspec.open(f"{home}/in/a.jsonl", "w") as out:
        out.write(LINES)
    done = run("dedup", f"{home}/in", "-o", f"{home}/days/clean")
    assert (0, "") == (done.exit_code, done.stderr), done.stderr
    assert f"{home}/days/clean" in done.stdout
    system = fsspec.filesystem(scheme)
    assert LINES.splitlines(keepends=True)[0].encode() == system.cat_file(f"{home}/days/clean/kept/a.jsonl")
    assert 0 == run("verify", f"{home}/days/clean").exit_code
    assert ["b"] == ns.rerun(f"{home}/days/clean").removed().column("id").to_pylist()
    assert 1 == ns.report(f"{home}/days/clean").num_pairs
    for wrong in ("in", "in/out", "days/clean"):
        assert 2 == run("dedup", f"{home}/in", "-o", f"{home}/{wrong}").exit_code
    assert 0 == run("dedup", f"{home}/in/*.jsonl", "-o", f"{home}/days/clean", "--overwrite").exit_code
    assert 0 == run("pairs", f"{home}/in", "-o", f"{home}/pairs.parquet").exit_code
    assert 1 == len(pq.read_table(system.open(f"{home}/pairs.parquet")))
    assert 0 == run("dedup", f"{home}/in", "-o", f"{home}/one.jsonl").exit_code
    assert LINES.splitlines(keepends=True)[0].encode() == system.cat_file(f"{home}/one.jsonl")
    names = ["kept/a.jsonl", "removed.parquet", "clusters.parquet", "sources.parquet", "stats.json", LISTED]
    there = system.find(f"{home}/days/clean")
    assert {system._strip_protocol(f"{home}/days/clean/{name}") for name in names} == set(there)


@pytest.mark.parametrize("old", [None, "older", {"a": "old", "gone/b": "old", LISTED: '{"complete": true}'}])
@pytest.mark.parametrize("error", [ConnectionError("unreachable"), PermissionError("denied"), KeyboardInterrupt()])
def test_each_call_fails_once_and_nothing_half_is_taken_for_whole(old, error, bucket):
    """The old output or the new one; between them none, with the new one whole, which the next run puts there."""
    new = "newer" if isinstance(old, str) else {"a": "new", "c/d [1].txt": "new"}
    before = {f"there/out{'' if name is None else '/' + name}": text for name, text in _files(old)}
    after = {f"there/out{'' if name is None else '/' + name}": text for name, text in _files(new)}
    for nth in count(1):
        Bucket.keys.clear()
        fail(0)
        for name, text in before.items():
            Bucket().pipe_file(name, text.encode())
        fail(nth, error)
        try:
            write("bucket://there/out", new)
        except (OutputError, KeyboardInterrupt):
            fail(0)
        else:
            if next(Bucket.calls) <= nth:
                break
            fail(0)
        now = {name: one.getvalue().decode() for name, one in bucket.items() if not name.endswith(LISTED)}
        whole = f"there/out/{LISTED}" in bucket and said(bucket)["complete"]
        if not isinstance(new, dict) or whole:
            visible = {name: text for name, text in now.items() if "/." not in name}
            assert visible in ({name: text for name, text in before.items() if not name.endswith(LISTED)}, after)
        elif old is None:
            assert not [name for name in now if "/." not in name] or set(now) == set(after), f"call {nth}"
        else:
            with pytest.raises(SourceError, match="is no complete output"):
                ns.verify("bucket://there/out")
            with pytest.raises(OutputError, match="exists"):
                require_place("bucket://there/out", mark=None)
            now = {name: one.getvalue().decode() for name, one in bucket.items() if not name.endswith(LISTED)}
            assert after == now, f"call {nth}: the next run did not finish it"
    assert nth > 4


def _seen():
    """What a reader finds at the place; None: nothing, or nothing whole."""
    try:
        with at_hand("bucket://there/out") as home:
            return {one.relative_to(home).as_posix(): one.read_text() for one in home.rglob("*") if one.is_file()}
    except SourceError:
        return None


@pytest.mark.parametrize("old", [None, "older", {"a": "old", "gone/b": "old", LISTED: '{"complete": true}'}])
def test_a_process_killed_at_any_call_leaves_the_old_the_new_or_nothing(old, bucket):
    """None of its calls comes after that one; whoever reads is told, and the next run writes all of it."""
    new = "newer" if isinstance(old, str) else {"a": "new", "c/d": "new"}
    before, after = ({f"{name or ''}": text for name, text in _files(one)} for one in (old, new))
    for nth in count(1):
        Bucket.keys.clear()
        fail(0)
        for name, text in before.items():
            Bucket().pipe_file(f"there/out/{name}".rstrip("/"), text.encode())
        fail(nth, lasting=True)
        with suppress(OutputError):
            write("bucket://there/out", new)
        is_over = next(Bucket.calls) <= nth
        fail(0)
        if isinstance(new, dict):
            assert _seen() in ({name: text for name, text in before.items() if name != LISTED} or None, after, None)
        else:
            assert bucket["there/out"].getvalue().decode() in {old, new}
        write("bucket://there/out", new)
        left = {name for name in bucket if name.startswith("there/out") and not name.endswith(LISTED)}
        assert left == {f"there/out/{name}".rstrip("/") for name in after}, f"call {nth}"
        if is_over:
            break
    assert nth > 4


def test_whoever_may_not_delete_leaves_one_trial_at_most(bucket, monkeypatch):
    """However often it is tried whether a place can be written to."""
    monkeypatch.setattr(Bucket, "rm_file", lambda *_: fail(1) or Bucket._called(Bucket(), "there/out"))
    for _ in range(3):
        require_place("bucket://there/out", mark=None)
    assert 1 == len(bucket)


def _files(content):
    return content.items() if isinstance(content, dict) else [] if content is None else [(None, content)]


def test_a_missing_bucket_and_an_unreachable_one_are_told_apart(bucket):
    """Before anything is read, in a sentence."""
    with pytest.raises(OutputError, match="bucket://nowhere/out: there is no bucket nowhere"):
        require_place("bucket://nowhere/out")
    fail(1)
    with pytest.raises(OutputError, match="bucket://there/out: Could not connect to the endpoint"):
        require_place("bucket://there/out")
    fail(1, PermissionError("Forbidden"))
    with pytest.raises(OutputError, match="no permission to write there"):
        require_place("bucket://there/out")
    for error, words in (
        (ConnectionError("Could not connect to the endpoint"), "Could not connect to the endpoint"),
        (RuntimeError("An error occurred (NoSuchBucket): The specified bucket does not exist"), "is no bucket there"),
        (OSError("An error occurred (404) when calling the HeadBucket operation: Not Found"), "is no bucket there"),
        (RuntimeError("Unable to locate credentials"), "Unable to locate credentials"),
    ):
        for name in ("a.jsonl", "folder", "*.jsonl"):
            fail(1, error, lasting=True)
            with pytest.raises(SourceError, match=words):
                ns.dedup(f"bucket://there/{name}")


def test_what_is_no_whole_output_is_not_there_for_readers(bucket):
    """Without the list, with one that is not complete, and where there is nothing."""
    for wrong, said_of_it in (("nothing", "does not exist"), ("out", "is no complete output")):
        Bucket().pipe_file("there/out/stats.json", b"{}")
        for ask in (ns.verify, ns.report, ns.rerun):
            with pytest.raises(SourceError, match=said_of_it):
                ask(f"bucket://there/{wrong}")


@pytest.mark.parametrize("place", ["bucket://there", "bucket://", "simplecache::bucket://there/a", "https://a.org/b"])
def test_what_is_no_place_to_write_is_refused(place, bucket):
    """A whole bucket, a chain, a web server."""
    with pytest.raises(OutputError):
        require_place(place)


def test_a_folder_that_others_wrote_is_not_replaced(bucket):
    """As on a disk; nor is one replaced that was not to be."""
    Bucket().pipe_file("there/out/mine.txt", b"mine")
    with pytest.raises(OutputError, match="exists"):
        require_place("bucket://there/out")
    with pytest.raises(OutputError, match="was not written by nearsame"):
        require_place("bucket://there/out", overwrite=True)
    with pytest.raises(OutputError, match="is a folder"):
        require_place("bucket://there/out", folder=False, overwrite=True)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("bucket://there/days/*/kept/*.jsonl", "bucket://there/days"),
        ("bucket://there/**/*.jsonl", "bucket://there/a.jsonl"),
        ("zip://a.jsonl::bucket://there/a.zip", "bucket://there/a.zip"),
        ("bucket://there/in/", "bucket://there/in//out"),
    ],
)
def test_a_source_is_never_written_over_nor_into(source, place, bucket):
    """However its address is spelled."""
    with pytest.raises(OutputError, match=r"source|matches"):
        require_place(place, source, folder=not place.endswith((".jsonl", ".zip")), overwrite=True)


def test_an_output_at_an_address_of_this_disk_is_verified_there(tmp_path):
    """As one at a path."""
    ns.dedup([TEXT]).write(f"file://{tmp_path}/clean")
    assert (tmp_path / "clean" / "stats.json").exists()
    assert ns.verify(f"file://{tmp_path}/clean", source=[TEXT]).holds
