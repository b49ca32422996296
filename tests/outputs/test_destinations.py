"""What a name means, to the letter, and that whatever is said to be written can be."""

import pyarrow as pa
import pytest

from nearsame.errors import ConfigError, OutputError
from nearsame.files.compressions import COMPRESSIONS, recognised
from nearsame.files.formats import BY_SUFFIX, FORMATS
from nearsame.outputs.destinations import meaning, require_folder
from nearsame.outputs.lists import writer

WRITTEN = [suffix for form in FORMATS if form.is_written for suffix in form.suffixes]


@pytest.mark.parametrize("name", ["clean", "clean/", "out.jsonl/", "v1.2", "2026-11", "clean.d/x", ".jsonl", "a/.csv"])
def test_a_name_without_a_known_ending_is_a_folder(name):
    """And so is whatever ends in a slash; a hidden file has no ending."""
    assert meaning(name).is_folder


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("packed", ["", *COMPRESSIONS])
def test_a_known_ending_is_one_file(suffix, packed):
    """In capitals, too."""
    place = meaning(f"a/OUT{suffix}{packed}".upper())
    assert (BY_SUFFIX[suffix], COMPRESSIONS.get(packed)) == (place.form, place.compression)
    assert not place.is_folder
    assert not place.is_stream


@pytest.mark.parametrize(
    "name", ["a.warc", "a.cdx", "a.warc.gz", "a.wacz", "a.txt", "a.html", "a.gz", "clean.zst", "a.txt.gz"]
)
def test_what_is_read_and_not_written_is_refused(name):
    """A folder of that name is hardly what was meant; the hint tells how to have one."""
    with pytest.raises(OutputError, match="not written") as caught:
        meaning(name)
    assert f"{name}/ is one" in caught.value.hint


def test_a_choice_of_folders_needs_one():
    """The message says what is chosen, and what the name is."""
    require_folder("clean", "--pairs")
    with pytest.raises(ConfigError, match=r"--pairs: that takes a folder, and out\.csv is one file"):
        require_folder("out.csv", "--pairs")
    with pytest.raises(ConfigError, match="- is standard output"):
        require_folder("-", "--pairs")


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("packed", ["", *COMPRESSIONS])
def test_every_format_that_is_said_to_be_written_is(suffix, packed, tmp_path):
    """The bytes are compressed as the name says."""
    path = tmp_path / f"a{suffix}{packed}"
    writer(path)(pa.table({"id": ["a", "b"], "text": ["a rose", None]}), path)
    assert COMPRESSIONS.get(packed) == recognised(path.read_bytes()[:10])
