"""Which bands are chosen, against trying them all; the figures that are tabled; and the keys they make."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.errors import ConfigError
from nearsame.recipes.methods import MinHash
from nearsame.stages.keys.bands import BandKeys, choose_bands, collision_probability
from tests.examples import share
from tests.oracle.measures import band_chance


def _all_shapes(threshold, recall, num_perm):
    """Every shape that reaches the recall, with the mean of its curve below the threshold."""
    grid = (np.arange(500) + 0.5) * threshold / 500
    for rows in range(1, num_perm + 1):
        for bands in range(1, num_perm // rows + 1):
            if 1 - (1 - threshold**rows) ** bands >= recall:
                yield float((1 - (1 - grid**rows) ** bands).mean()), (bands, rows)


@given(
    st.integers(5, 99).map(lambda percent: percent / 100),
    st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]),
    st.integers(1, 48),
)
@settings(max_examples=share(60))
def test_no_shape_that_reaches_the_recall_expects_fewer_candidates(threshold, recall, num_perm):
    """Of all b·r that the signature has room for; where there is none, an error says so."""
    shapes = dict(map(reversed, _all_shapes(threshold, recall, num_perm)))
    if not shapes:
        with pytest.raises(ConfigError, match=f"recall={recall} at threshold={threshold} .* num_perm={num_perm}"):
            choose_bands(threshold, recall, num_perm)
        return
    chosen = choose_bands(threshold, recall, num_perm)
    assert collision_probability(threshold, *chosen) >= recall
    assert shapes[chosen] == pytest.approx(min(shapes.values()), rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "found"), [((9, 13), 0.399), ((14, 8), 0.924), ((16, 8), 0.947), ((32, 8), 0.997), ((20, 6), 0.998)]
)
def test_the_chances_at_80_percent_are_as_tabled(shape, found):
    """ALGORITHMS, section 3."""
    assert found == round(float(collision_probability(0.8, *shape)), 3)


@pytest.mark.parametrize(
    ("similarity", "found", "digits"),
    [
        (0.2, 0.006, 3),
        (0.3, 0.0475, 4),
        (0.4, 0.186, 3),
        (0.5, 0.470, 3),
        (0.6, 0.802, 3),
        (0.7, 0.975, 3),
        (0.8, 0.9996, 4),
    ],
)
def test_the_s_curve_of_20_bands_of_5_is_the_textbooks(similarity, found, digits):
    """EXAMPLES, as nearsame computes it; at .3 the source prints .047."""
    assert found == round(float(collision_probability(similarity, 20, 5)), digits)


@given(st.fractions(0, 1), st.integers(1, 40), st.integers(1, 20))
def test_the_curve_is_its_twin(similarity, bands, rows):
    """Also as an array, and at both ends."""
    curve = collision_probability([float(similarity), 0.0, 1.0], bands, rows)
    assert [pytest.approx(float(band_chance(similarity, bands, rows)), abs=1e-12), 0.0, 1.0] == curve.tolist()


def test_equality_alone_takes_one_band_of_everything():
    """At a threshold of 1 whatever differs need not meet."""
    assert (1, 128) == choose_bands(1.0, 0.99, 128)


def test_given_bands_are_taken():
    """And those that were chosen are what the recall asks for."""
    assert (9, 13) == BandKeys(MinHash(bands=9, rows=13)).shape
    assert choose_bands(0.5, 0.9, 64) == BandKeys(MinHash(threshold=0.5, recall=0.9, num_perm=64)).shape


def test_consecutive_bands_cut_the_signature():
    """From its beginning, without an overlap."""
    assert [[0, 1, 2], [3, 4, 5]] == BandKeys(MinHash(num_perm=8, bands=2, rows=3)).chosen.tolist()


def test_random_bands_draw_their_values_without_repeats():
    """Each for itself; another seed draws others, the same seed the same."""
    settings_ = dict(num_perm=30, bands=50, rows=7, choice="random")
    chosen = BandKeys(MinHash(**settings_)).chosen
    assert (50, 7) == chosen.shape
    assert all(len(set(band)) == 7 and band == sorted(band) for band in chosen.tolist())
    assert set(range(30)) == set(chosen.ravel().tolist())
    assert chosen.tolist() == BandKeys(MinHash(**settings_)).chosen.tolist()
    assert chosen.tolist() != BandKeys(MinHash(**settings_, seed=1)).chosen.tolist()


def test_keys_of_rows_without_a_signature_are_none():
    """An empty set has an empty sketch, and meets nobody."""
    items = arrow.items(np.arange(8, dtype=np.uint64), np.array([0, 4, 4, 8]))
    batch = pa.RecordBatch.from_arrays([pa.array([5, 6, 9]), items], schema=schemas.SKETCHES)
    keys = BandKeys(MinHash(num_perm=4, bands=2, rows=2))(batch)
    assert [5, 5, 9, 9] == keys["row"].to_pylist()
    assert {(-1, 1)} == set(zip(keys["place"].to_pylist(), keys["probes"].to_pylist(), strict=True))
    assert 0 == BandKeys(MinHash(num_perm=4, bands=2, rows=2))(batch.slice(0, 0)).num_rows


@pytest.mark.parametrize(("values", "bands", "rows"), [(6, 3, 2), (7, 2, 3), (5, 4, 1)])
def test_bands_that_share_values_are_as_enumeration_has_them(values, bands, rows):
    """Every pattern of agreeing values, every choice of bands."""
    similarity, expected = 0.6, 0.0
    cuts = list(combinations(range(values), rows))
    for pattern in product([True, False], repeat=values):
        weight = similarity ** sum(pattern) * (1 - similarity) ** (values - sum(pattern))
        misses = sum(not all(pattern[place] for place in cut) for cut in cuts) / len(cuts)
        expected += weight * (1 - misses**bands)
    assert expected == pytest.approx(float(collision_probability(similarity, bands, rows, drawn_from=values)))


@pytest.mark.parametrize("num_perm", [64, 128])
@pytest.mark.parametrize("recall", [0.9, 0.99])
def test_random_bands_keep_the_recall_that_they_promise(num_perm, recall):
    """Signatures of pairs at exactly the threshold, under 40 seeds: independent bands would promise too much."""
    chance, found, pairs = np.random.Generator(np.random.PCG64(5)), 0, 40 * 2_000
    for seed in range(40):
        stage = BandKeys(MinHash(choice="random", num_perm=num_perm, recall=recall, seed=seed))
        agrees = chance.random((2_000, num_perm)) < 0.8
        found += int(agrees[:, stage.chosen].all(axis=2).any(axis=1).sum())
    shape = stage.shape
    assert collision_probability(0.8, *shape, drawn_from=num_perm) >= recall
    assert collision_probability(0.8, *shape) > collision_probability(0.8, *shape, drawn_from=num_perm)
    assert found / pairs == pytest.approx(float(collision_probability(0.8, *shape, drawn_from=num_perm)), abs=0.004)
