"""What is called the same, and similar, cannot be arranged: the constructions that worked before, and their kind."""

import json

import numpy as np
import pytest

import nearsame as ns
from nearsame.errors import ConfigError
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.shingles import shingle
from tests.oracle import mixing as twin
from tests.oracle.tokens import tokens

WORDLESS = (
    """'+{+'|"+.,"[+  <) ]{`+?=| |.{-"'""",
    """'+{+'|"+.,"[+  <) ]{`+?=;-(`')=\"""",
)
BASE = 0x9E3779B97F4A7C15  # of the polynomial that shingles were, under every seed
SEEDED = [ns.Jaccard, ns.Cosine, ns.Containment, ns.MinHash, ns.ModP, ns.Hyperplane]


@pytest.mark.parametrize("seed", [0, 1, 2**127])
@pytest.mark.parametrize("method", [ns.Jaccard, ns.Cosine, ns.Containment, ns.MinHash, ns.ModP])
def test_texts_without_words_are_the_same_when_their_bytes_are(method, seed):
    """These two had one half of a digest in common under every seed: a factor was zero."""
    one, other = WORDLESS
    assert 0 == ns.dedup([one, other], method=method(seed=seed)).stats.removed
    found = ns.dedup([one, other, one], method=method(seed=seed)).stats
    assert (1, 1) == (found.removed, found.exact_copies)


def test_a_short_text_has_no_second_preimage_by_a_linear_search():
    """Found in half a minute, when a shingle was a sum of token hashes times powers of a fixed base."""
    assert 0 == ns.dedup(["anuwpia bulsaia csbhyba duiprga text", "please keep this precious text"]).stats.removed


@pytest.mark.parametrize("seed", [0, 7, 2**100])
def test_a_change_of_one_token_is_not_made_up_for_by_another(seed):
    """As it was in a polynomial: what one token adds, the next one takes away, times the base."""
    tokens = np.random.default_rng(0).integers(0, 2**64, 64, np.uint64)
    for place in range(63):
        other = tokens.tolist()
        other[place] = (other[place] + 1) & twin.MASK
        other[place + 1] = (other[place + 1] - BASE) & twin.MASK
        assert _old(tokens.tolist()) == _old(other)
        assert _shingle(tokens, seed) != _shingle(np.array(other, np.uint64), seed)


def test_long_shingles_with_many_changes_are_told_apart_under_every_seed():
    """44 tokens of 64 changed so that the polynomial stays."""
    tokens = np.random.default_rng(1).integers(0, 2**64, 64, np.uint64)
    other = tokens.tolist()
    for place in range(0, 44, 2):
        other[place] = (other[place] + place + 1) & twin.MASK
        other[place + 1] = (other[place + 1] - (place + 1) * BASE) & twin.MASK
    assert 44 == sum(a != b for a, b in zip(tokens.tolist(), other, strict=True))
    assert _old(tokens.tolist()) == _old(other)
    for seed in range(20):
        assert _shingle(tokens, seed) != _shingle(np.array(other, np.uint64), seed)


def _old(tokens):
    """The polynomial of before."""
    h = 0
    for token in tokens:
        h = (h * BASE + token) & twin.MASK
    return h


def _shingle(tokens, seed):
    out = np.empty(tokens.size, np.uint64)
    assert 1 == shingle(tokens, tokens.size, tokens.size, 1, hash_keys(seed), out)
    return int(out[0])


@pytest.mark.parametrize("method", SEEDED)
def test_a_random_seed_is_drawn_and_recorded(method):
    """Another one each time, wider than anybody can try."""
    seeds = {method(seed="random").record()["seed"] for _ in range(8)}
    assert 8 == len(seeds)
    assert max(seeds) > 2**64


@pytest.mark.parametrize("method", SEEDED)
def test_a_recipe_with_a_drawn_seed_equals_the_one_that_is_given_it(method):
    """How a seed came about is not a setting: recipes are equal when their records are."""
    drawn, other = (method(seed="random") for _ in range(2))
    given = method(seed=drawn.seed)
    assert (given, hash(given), given.record()) == (drawn, hash(drawn), drawn.record())
    assert {drawn, given, other} == {given, other}
    assert 3 == len({given, method(), other})
    assert method() != ns.Digest()


@pytest.mark.parametrize("seed", [-1, 2**128, "secret", 1.5])
def test_other_seeds_are_refused(seed):
    """By their value."""
    with pytest.raises(ConfigError, match="seed"):
        ns.Jaccard(seed=seed)


def test_a_resumed_run_keeps_the_seed_that_was_drawn(tmp_path):
    """The one of its work directory."""
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps({"text": f"text {i} of some words {i}"}) + "\n" for i in range(9)))
    runs = [ns.dedup(str(source), method=ns.MinHash(seed="random"), workdir=tmp_path / "work") for _ in range(2)]
    assert 1 == len({run.stats.recipe["seed"] for run in runs})


@pytest.mark.parametrize("unseen", ["\ufe0f", "\u200d", "\u00ad", "\u200e", "\u0301"])
def test_what_is_not_shown_is_no_word(unseen):
    """Nor is a mark of a character that is none."""
    assert 1 == ns.dedup(["ok ✔", "ok ✔" + unseen]).stats.removed


@pytest.mark.parametrize("unseen", ["\ufe0f", "\u200d", "\u0301"])
def test_a_text_without_a_word_is_like_its_copies_only(unseen):
    """It is compared by its bytes; where punctuation counts, it has a word, of which what is not shown is no part."""
    texts = ["✔", "✔" + unseen, "✔"]
    for method in (ns.Jaccard(), ns.Jaccard(unit="chars"), ns.Containment(), ns.MinHash(), ns.SimHash(), ns.ModP()):
        found = ns.dedup(texts, method=method, audit=False)
        assert (["memory:2"], 3) == (found.removals.column("id").to_pylist(), found.stats.bare)
    assert [[], []] == [tokens(text) for text in texts[:2]]
    marked = [tokens(text, keep_punctuation=True) for text in texts]
    found = ns.dedup(texts, method=ns.Jaccard(keep_punctuation=True))
    assert (marked[0] == marked[1], 0) == (found.stats.removed == 2, found.stats.bare)


def test_a_text_that_is_all_marks_is_like_its_copies_only():
    """It has no word."""
    assert 1 == ns.dedup(["\u0301\u0302", "\u0301\u0302", "\u0301"]).stats.removed


@pytest.mark.parametrize("method", [ns.Jaccard(strip_accents=True), ns.Digest(normalise=True, strip_accents=True)])
def test_texts_of_marks_alone_are_told_apart_when_accents_are_dropped(method):
    """Nothing is left of them, and yet they are no empty texts."""
    found = ns.dedup(["\u0301", "\u0302", "\u0301", ""], method=method)
    assert [("memory:0", "memory:2")] == list(
        zip(*(found.pairs.column(name).to_pylist() for name in ("a_id", "b_id")), strict=True)
    )
    assert 1 == found.stats.empty
