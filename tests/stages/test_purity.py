"""What every stage promises, whatever it makes: the same rows give the same answer, in any batch and any memory.

1. A slice of the batch gives the rows of the slice: so batches may be split anywhere, and Arrow's offsets count;
   so do those of lists that are views into the items of a whole batch, which is what filtering makes of them.
2. Rows in another order give the same, in that order.
3. Memory that cannot be written to, a mapped file, is as good as any other; nothing writes to what came in.
4. No text makes a stage raise; a null is an empty text, whatever bytes lie under it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame import arrow, schemas
from nearsame.engines.local import Local
from nearsame.kernels import shingles
from nearsame.recipes.methods import Containment, Cosine, Digest, Jaccard, Method, MinHash, ModP, SimHash
from nearsame.stages.features.shingles import ItemSets, ShingleSets
from nearsame.stages.features.weighted import ListFeatures, Spelling
from nearsame.stages.keys.prefix import Counting, CountItems, ItemCounts, PrefixKeys
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.audit import ALL_PARTNERS, PartnersStage
from tests.examples import share
from tests.oracle.corpora import corpora

METHODS: dict[str, Method] = {
    "jaccard": Jaccard(shingle_size=2, threshold=0.5),
    "jaccard, normalised": Jaccard(shingle_size=2, nfkc=True, strip_accents=True, keep_punctuation=True, repeats=True),
    "jaccard, characters": Jaccard(shingle_size=3, unit="chars", overlapping=False, stop_words=("en",)),
    "cosine": Cosine(shingle_size=2),
    "weighted cosine": Cosine(shingle_size=1, weights="tfidf"),
    "containment": Containment(shingle_size=2),
    "minhash": MinHash(shingle_size=2),
    "minhash, classic": MinHash(shingle_size=1, sketch="classic", num_perm=100, choice="random", bands=7, rows=3),
    "modp": ModP(shingle_size=2, modulus=2, floor=1),
    "digest": Digest(),
    "digest, normalised": Digest(algorithm="xxh3_128", normalise=True, stop_words=("en",)),
    "digest, weak": Digest(algorithm="crc32"),
    "simhash": SimHash(),
    "simhash, confirmed": SimHash(confirm="edit", weights="tf"),
    "simhash, rare": SimHash(weights="tfidf", search="brute", confirm="cosine"),
    "simhash, weighted": SimHash(bits=128, weights="tf", feature_hash="md5", unit="chars", shingle_size=3),
}
SURE = ["a b c d", "a b c d", None, "", "***", "a b c e", "漢字 かな", "a", "A B, C d"]


def _in_passes(features: pa.RecordBatch) -> list[Any]:
    """The stages of a count table that is filled in two passes, and of the keys made from it."""
    found: list[Any] = []
    counting = Counting(16, nibbles=True, passes=2)
    for number in range(2):
        table = CountItems(counting, number).add(np.zeros(counting.table_bytes, np.uint8), features, 0, 1)
        found.append(ItemCounts(counting, number, table))
    shares = measures.shares(measures.bound(measures.JACCARD, METHODS["jaccard"].least))
    return [*found, PrefixKeys(shares, None)]


def _steps(name: str, texts: Any) -> list[tuple[Any, pa.RecordBatch, pa.RecordBatch]]:
    """Every stage that a run goes through, with what goes in and what comes out."""
    found: list[tuple[Any, pa.RecordBatch, pa.RecordBatch]] = []

    def through(_: Local, batch: pa.RecordBatch, stages: Any) -> pa.RecordBatch:
        found.extend((stage, batch, batch := stage(batch)) for stage in stages)
        return batch

    table = pa.table({"text": pa.array(texts, pa.large_string()) if isinstance(texts, list) else texts})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Local, "_through", through)
        ns.dedup(table, method=METHODS[name], threads=1)
    if name == "jaccard":
        batch = next((made for stage, _, made in found if isinstance(stage, ShingleSets)), None)
        found += [] if batch is None else [(stage, batch, batch := stage(batch)) for stage in _in_passes(batch)]
    return [_unbounded(*step) for step in found]


def _unbounded(stage: Any, batch: pa.RecordBatch, made: pa.RecordBatch) -> tuple[Any, pa.RecordBatch, pa.RecordBatch]:
    """The same step; an audit that stops at the first partner of a document may stop at any, so it is to find all."""
    if not isinstance(stage, PartnersStage):
        return stage, batch, made
    stage = replace(stage, most=ALL_PARTNERS)
    return stage, batch, stage(batch)


def _of(batch: pa.RecordBatch, rows: list[int]) -> list[dict[str, Any]]:
    """What a batch says about some rows, row by row."""
    lines = batch.to_pylist()
    return [line for row in rows for line in lines if line["row"] == row]


@pytest.mark.parametrize("name", METHODS)
@given(texts=corpora(max_size=9), data=st.data())
@example(texts=SURE, data=None)
@settings(max_examples=share(12))
def test_a_slice_gives_the_rows_of_the_slice(name: str, texts: list[str | None], data: Any) -> None:
    """At every stage, from anywhere to anywhere; none at all is a batch too."""
    for stage, given_batch, made in _steps(name, texts):
        size = len(given_batch)
        low, high = (2, size - 1) if data is None else sorted(data.draw(st.integers(0, size)) for _ in range(2))
        part = stage(given_batch.slice(low, high - low))
        assert _of(made, given_batch["row"].to_pylist()[low:high]) == part.to_pylist()
        assert stage.output == part.schema == made.schema


@pytest.mark.parametrize("name", METHODS)
@given(texts=corpora(max_size=9), random=st.randoms(use_true_random=False))
@settings(max_examples=share(8))
def test_the_order_of_rows_does_not_matter(name: str, texts: list[str | None], random: Any) -> None:
    """Each row is what it is by itself."""
    for stage, given_batch, made in _steps(name, texts):
        order = list(range(len(given_batch)))
        random.shuffle(order)
        rows = given_batch["row"].to_pylist()
        expected = _of(made, [rows[place] for place in order])
        assert expected == stage(given_batch.take(pa.array(order, pa.int64()))).to_pylist()


@pytest.mark.parametrize("name", METHODS)
def test_a_mapped_file_is_as_good_as_memory(name: str, tmp_path: Any) -> None:
    """It cannot be written to; neither is it tried, nor does what comes out depend on where it lies."""
    for number, (stage, given_batch, made) in enumerate(_steps(name, SURE)):
        path = str(tmp_path / f"{number}.arrow")
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, given_batch.schema) as writer:
            writer.write_batch(given_batch)
        with pa.memory_map(path) as file:
            assert made.to_pylist() == stage(pa.ipc.open_file(file).get_batch(0)).to_pylist()


@pytest.mark.parametrize("name", METHODS)
@given(texts=st.lists(st.none() | st.text(max_size=30), max_size=5))
@example(texts=["\0", "\ufffe\uffff", "\U0010ffff", "\u0378", "a\u0301" * 40, "\u200f\u202e", "🏳️‍🌈", "\x7f\x80"])
@settings(max_examples=share(15))
def test_no_text_makes_a_stage_raise(name: str, texts: list[str | None]) -> None:
    """Unassigned characters, controls, marks without a base: every one is read."""
    for _, _, made in _steps(name, texts):
        made.validate(full=True)


def test_every_stage_of_the_flow_is_seen_here() -> None:
    """What the properties of this file are about."""
    seen = {type(stage).__name__ for name in METHODS for stage, *_ in _steps(name, SURE)}
    texts, sets, keys = (
        {"Texts", "TextDigests"},
        {"ShingleSets", "TextFeatures"},
        {"PrefixKeys", "BandKeys", "HeaderKeys"},
    )
    assert texts | sets | keys | {"Signatures", "Fingerprints", "SimHashCodes", "ItemCounts", "PartnersStage"} <= seen


def _hiding(texts: list[str], valid: list[bool]) -> pa.Array:
    """Texts of which some are null although their bytes are there, as Arrow allows."""
    whole = pa.array(texts, pa.large_string())
    _, offsets, data = whole.buffers()
    bits = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(whole.type, len(texts), [bits, offsets, data])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("start", [0, 1])
def test_a_null_is_an_empty_text_whatever_lies_under_it(name: str, start: int) -> None:
    """Bytes that nobody can see are not compared: or a document would go for one that says nothing."""
    texts, valid = ["a b c", "a b c", "d e", "a b c", "d e"], [True, False, True, True, False]
    plain = [text if known else None for text, known in zip(texts, valid, strict=True)][start:]
    hidden = _steps(name, _hiding(texts, valid).slice(start))
    assert [made.to_pylist() for *_, made in _steps(name, plain)] == [made.to_pylist() for *_, made in hidden]


@pytest.mark.parametrize(
    "stage",
    [ItemSets(0, 7), ItemSets(shingles.REPEATS, 7), ListFeatures(Spelling(counted=True))],
    ids=["sets", "bags", "weighted"],
)
@given(
    rows=st.lists(st.none() | st.lists(st.none() | st.sampled_from(["a", "b", "ä", ""]), max_size=5), max_size=6),
    data=st.data(),
)
@settings(max_examples=share(40))
def test_ready_items_are_cut_anywhere_too(stage: Any, rows: list[Any], data: Any) -> None:
    """Lists within lists: the offsets of both count; a null list is empty, a null item is the empty string."""
    columns = [pa.array(range(len(rows)), pa.int64()), pa.array(rows, schemas.ITEMS.field("items").type)]
    batch = pa.RecordBatch.from_arrays(columns, schema=schemas.ITEMS)
    made = stage(batch)
    low, high = sorted(data.draw(st.integers(0, len(rows))) for _ in range(2))
    assert made.slice(low, high - low).to_pylist() == stage(batch.slice(low, high - low)).to_pylist()
    plain = pa.array([[item or "" for item in row or []] for row in rows], schemas.ITEMS.field("items").type)
    assert made.equals(stage(batch.set_column(1, schemas.ITEMS.field("items"), plain)))
    assert [len(row or []) for row in rows] == made["num_tokens"].to_pylist()


def test_what_comes_out_does_not_hold_what_went_in() -> None:
    """The items of a batch are its own: as many as there are, not a window on a roomy buffer."""
    for name in METHODS:
        for made in [made for *_, made in _steps(name, SURE) if made.schema == schemas.FEATURES]:
            lists = arrow.lists(made.column("items"))
            assert lists.ends[-1] == lists.items.size


@pytest.mark.parametrize("name", METHODS)
def test_what_a_stage_gave_stays_whatever_it_makes_next(name: str) -> None:
    """Rooms that a thread has once hold nothing of an answer."""
    for stage, batch, made in _steps(name, SURE):
        before = made.to_pylist()
        stage(batch.slice(2))
        stage(batch.take(pa.array([*reversed(range(len(batch)))])))
        assert before == made.to_pylist()
