"""Archives of others, some of them damaged on purpose: each is read to its end, and copied without loss.

The files are not part of the project: without their folder these tests are skipped.
"""

from pathlib import Path

import numpy as np
import pytest

import nearsame as ns
from nearsame.sources import Columns, open_parts
from nearsame.sources.archives import ARC, DAMAGE, WARC, walk

pytest.importorskip("fastwarc")

# file: records, documents (200, textual), damaged stretches
EXPECTED = {
    "aut__example.arc.gz": (300, 0),
    "aut__example.warc.gz": (822, 0),
    "chatnoir-resiliparse__clipped.warc.gz": (1, 1),
    "chatnoir-resiliparse__warcfile.warc.gz": (50, 0),
    "chatnoir-resiliparse__warcfile.warc": (50, 0),
    "chatnoir-resiliparse__warcfile.warc.lz4": (50, 0),
    "ipwb__5mementos.warc": (8, 0),
    "ipwb__broken.warc": (6, 1),
    "ipwb__sample-1.warc.gz": (231, 0),
    "warcio__example-bad-non-chunked.warc.gz": (6, 0),
    "warcio__example-trunc.warc": (4, 1),
    "warcio__example.warc.gz": (6, 0),
}


def _files(data_dir: Path) -> list[Path]:
    found = sorted((data_dir / "warc").glob("*"))
    if not found:
        pytest.skip(f"there are no archives in {data_dir / 'warc'}")
    return found


def test_every_archive_is_read_to_its_end(data_dir: Path) -> None:
    """So many records and damaged stretches; of the others at least one record each."""
    for path in _files(data_dir):
        kinds = [each.kind for each in walk(str(path), ARC if ".arc" in path.name else WARC, 1 << 20)]
        assert kinds, path.name
        if path.name in EXPECTED:
            assert EXPECTED[path.name] == (len(kinds), kinds.count(DAMAGE)), path.name


def test_a_copy_without_removals_is_the_file(data_dir: Path, tmp_path: Path) -> None:
    """Byte for byte, but where several records share a compressed member."""
    for path in _files(data_dir):
        (part,) = open_parts([str(path)], columns=Columns())
        part.copy(tmp_path / path.name, np.zeros(0, np.int64))
        if "bad-non-chunked" not in path.name:
            assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.slow
def test_what_stays_of_a_crawl_has_no_duplicates(data_dir: Path, tmp_path: Path) -> None:
    """A second run on kept/ removes nothing, and the documents that stay are the same."""
    _files(data_dir)
    found = ns.dedup(str(data_dir / "warc" / "aut__example.warc.gz"))
    found.write(tmp_path / "clean")
    again = ns.dedup(str(tmp_path / "clean" / "kept"))
    assert (found.stats.kept, 0) == (again.stats.documents, again.stats.removed)
    assert found.kept().column("text").to_pylist() == again.kept().column("text").to_pylist()


def test_plain_and_packed_archives_hold_the_same_documents(data_dir: Path) -> None:
    """One crawl three times: as it is, by gzip and by lz4."""
    _files(data_dir)
    name = "chatnoir-resiliparse__warcfile.warc"
    texts = [ns.dedup(str(data_dir / "warc" / f"{name}{end}")).kept().column("text") for end in ("", ".gz", ".lz4")]
    assert texts[0] == texts[1] == texts[2]
    assert 0 < len(texts[0])


@pytest.mark.slow
@pytest.mark.parametrize("use", ["url,redirect,canonical,revisit,digest,text", "url", "revisit,digest"])
def test_layers_of_archives_hold(data_dir: Path, tmp_path: Path, use: str) -> None:
    """Whatever a layer removes: `verify` reads sources and copies again, and kept/ has what the statistics say."""
    _files(data_dir)
    found = ns.dedup(str(data_dir / "warc"), use=use, keep="longest")
    found.write(tmp_path / "clean")
    verified = ns.verify(tmp_path / "clean")
    assert verified.holds, verified.problems
    assert found.stats.removed
    again = ns.dedup(str(tmp_path / "clean" / "kept"), use=use, keep="longest")
    assert found.stats.kept == again.stats.documents
