"""Chosen pairs are compared exactly, whatever the batches."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.engines.local import Local
from nearsame.flow import pipeline
from nearsame.recipes.methods import Jaccard
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.pairs.given_pairs import Features, Gather
from tests.examples import share
from tests.oracle.corpora import corpora
from tests.oracle.measures import jaccard
from tests.oracle.shingles import features as slow_features


def gathered(texts: list[str | None], threads: int, batch_rows: int | None) -> Features:
    """The features of texts, by the stages of the exact join."""
    reading = Reading(open_parts([[*texts, "x"]], columns=Columns()), Columns(), batch_rows=batch_rows)
    engine = Local(threads)
    flow = engine.load(reading)
    for stage in pipeline.steps(Jaccard(shingle_size=2)).features:
        flow = engine.map(flow, stage)
    return Gather.close(engine.fold(engine.keep(flow), Gather()))


@settings(max_examples=share(60))
@given(corpora(), st.sampled_from([1, 2, 4]), st.sampled_from([None, 1, 7]))
def test_every_pair_has_its_jaccard_similarity(texts, threads, batch_rows):
    """Also those far below any threshold, and of documents without features: 0."""
    found = gathered(texts, threads, batch_rows)
    sets = [slow_features(text, size=2) for text in texts]
    a, b = (
        (np.array(side, np.int64) for side in zip(*product(range(len(texts)), repeat=2), strict=True))
        if texts
        else (np.zeros(0, np.int64),) * 2
    )
    expected = [float(jaccard(sets[x], sets[y])) if sets[x] | sets[y] else 0.0 for x, y in zip(a, b, strict=True)]
    assert expected == found.similarity(a, b).tolist()
