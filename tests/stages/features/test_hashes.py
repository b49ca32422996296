"""Feature hashes by library and by table: known values, low bits, words low first."""

import hashlib

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.stages.features.hashes import hash_features, hasher, table_hasher

KNOWN = {  # of b"a", from the functions' own publications
    ("fnv1a", 64): 0xAF63DC4C8601EC8C,
    ("fnv1a", 128): 0xD228CB696F1A8CAF78912B704E4A8964,
    ("md5", 128): 0x0CC175B9C0F1B6A831C399E269772661,
    ("sha1", 64): 0x86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8,
    ("xxh3", 64): 0xE6C632B61E964E1F,
    ("xxh3", 128): 0xA96FAF705AF16834E6C632B61E964E1F,
}


@pytest.mark.parametrize(("name", "bits"), KNOWN)
def test_hashes_of_a_are_the_published_ones(name, bits):
    """Digests as big-endian numbers; the 64-bit form up to 64 bits, the 128-bit form above."""
    assert KNOWN[name, bits] == hasher(name, bits)(b"a")


@given(st.binary(max_size=60))
def test_libraries_hash_the_bytes_as_they_are(data):
    """All of them, and nothing else."""
    assert int(hashlib.md5(data).hexdigest(), 16) == hasher("md5", 64)(data)  # noqa: S324  (not for security)
    assert int(hashlib.sha1(data).hexdigest(), 16) == hasher("sha1", 32)(data)  # noqa: S324  (likewise)
    assert xxhash.xxh3_64(data).intdigest() == hasher("xxh3", 32)(data)
    assert xxhash.xxh3_128(data).intdigest() == hasher("xxh3", 65)(data)


def test_murmur3_has_its_low_word_first():
    """The 128-bit form for x64, whose hash of nothing is zero."""
    import mmh3

    hashed = hasher("murmur3", 128)
    assert 0 == hashed(b"")
    assert mmh3.hash128(b"nearsame", x64arch=True, signed=False) == hashed(b"nearsame")


@given(st.lists(st.binary(max_size=9), max_size=6), st.sampled_from([1, 32, 64, 65, 128]))
def test_words_come_low_first(features, bits):
    """As many as a code of that length has."""
    function = hasher("md5", bits)
    words = hash_features(features, function, bits)
    assert (len(features), -(-bits // 64)) == words.shape
    expected = [[function(f) >> 64 * word & 2**64 - 1 for word in range(words.shape[1])] for f in features]
    assert expected == words.tolist()
    assert not words.flags.writeable


def test_a_table_has_a_hash_for_every_feature_or_says_for_which_it_has_none():
    """The value, the number of those it knows, and what to do."""
    look_up = table_hasher({"the": 0b1101, "é": 0b1010})
    assert [0b1101, 0b1010] == [look_up(b"the"), look_up("é".encode())]
    with pytest.raises(ConfigError, match="the table of 2 hashes has none for the feature 'fox'") as caught:
        look_up(b"fox")
    assert caught.value.hint
