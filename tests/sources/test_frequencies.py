"""Saved tables of frequencies: what is damaged, or of another version, is an error that names the file."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ConfigError, NearSameError, SourceError

from .damaging import damage_to, write_encrypted

TEXTS = [f"a rose is a rose number {n // 2}" for n in range(8)]

TFIDF = ns.SimHash(weights="tfidf")


def _frequencies(folder: Path) -> Path:
    table = ns.dedup(TEXTS, method=TFIDF).frequencies
    assert table is not None
    pq.write_table(table, folder / "frequencies.parquet")
    return folder / "frequencies.parquet"


def _with_frequencies(path: Path) -> Any:
    return ns.dedup(TEXTS, method=ns.SimHash(weights="tfidf", frequencies=str(path)))


def _about(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Other metadata."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"nearsame"])
    found = change(about)
    pq.write_table(table.replace_schema_metadata({"nearsame": json.dumps(about if found is None else found)}), path)


def test_frequencies_of_an_older_tokeniser_are_refused(tmp_path: Path) -> None:
    """Its hashes mean other features."""
    path = _frequencies(tmp_path)
    _about(path, lambda about: about["recipe"].update(tokeniser=1, unicode="15.0.0"))
    message = (
        f"{path} was made by another version of nearsame, with tokeniser 1 and unicode 15.0.0; this one has tokeniser 2"
    )
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        _with_frequencies(path)
    assert "Count the frequencies again with this version." == caught.value.hint


@pytest.mark.parametrize("about", [[], {}, {"recipe": 3, "num_documents": 1}, {"recipe": {}, "num_documents": "x"}])
def test_frequencies_that_say_nothing_of_themselves_are_refused(tmp_path: Path, about: Any) -> None:
    """By the name of the file."""
    path = _frequencies(tmp_path)
    _about(path, lambda _: about)
    with pytest.raises(ConfigError, match=re.escape(f"{path} is damaged: what it says of itself cannot be read")):
        _with_frequencies(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(["item"]), "has no column 'item' of 64-bit integers"),
        (lambda table: table.set_column(1, "documents", table["documents"].cast(pa.string())), "has no column 'doc"),
        (lambda table: table.set_column(1, "documents", pa.nulls(len(table), pa.int64())), "has nulls in its column"),
        (lambda table: table[::-1], "is damaged: its features or counts are impossible"),
        (lambda table: table.set_column(1, "documents", pa.array([10**9] * len(table))), "is damaged: its features or"),
        (lambda table: table.set_column(1, "documents", pa.array([-1] * len(table))), "is damaged: its features or"),
        (lambda table: pa.concat_tables([table, table]), "is damaged: its features or counts are impossible"),
        (lambda table: table.replace_schema_metadata(None), "is not a table of document frequencies"),
    ],
)  # fmt: skip
def test_frequencies_that_cannot_be_are_refused(tmp_path: Path, change: Any, message: str) -> None:
    """By the name of the file, whatever is the matter."""
    path = _frequencies(tmp_path)
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(ConfigError, match=re.escape(f"{path} {message}")):
        _with_frequencies(path)


def test_frequencies_without_documents_are_frequencies(tmp_path: Path) -> None:
    """A run over nothing has counted nothing."""
    path = _frequencies(tmp_path)
    _about(path, lambda about: about.update(num_documents=0))
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 0), path)
    assert len(TEXTS) == _with_frequencies(path).stats.documents


def test_random_damage_is_an_error_of_ours_or_none(tmp_path: Path) -> None:
    """In a hundred damaged files; in some the damage hits what nobody reads."""
    path = _frequencies(tmp_path)
    sound = path.read_bytes()
    errors = []
    for number in range(100):
        path.write_bytes(damage_to(sound, f"frequencies {number}"))
        try:
            assert len(TEXTS) == _with_frequencies(path).stats.documents
        except NearSameError as error:
            errors.append(error.message)
    assert 50 < len(errors)
    assert [] == [message for message in errors if str(path) not in message]


@pytest.mark.parametrize("size", [0, 1, 3, 11, 12, 100, -1, -4, -8, -9])
def test_a_cut_file_is_named(tmp_path: Path, size: int) -> None:
    """Wherever it ends."""
    path = _frequencies(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(SourceError, match=re.escape(str(path))):
        _with_frequencies(path)


def test_an_encrypted_file_is_told(tmp_path: Path) -> None:
    """It would end the process."""
    path = _frequencies(tmp_path)
    write_encrypted(path, pq.read_table(path), "item")
    with pytest.raises(SourceError, match="column 'item' is encrypted"):
        _with_frequencies(path)
