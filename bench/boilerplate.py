"""Corpora in which documents share more than they have of their own: templates, boilerplate, chains, pools of variants.

1. Each is a list of texts of made words, the same on every call.
2. What a threshold of .8 on 5-word shingles makes of it is said beside each, and tested.
"""

import random
from collections.abc import Callable

__all__ = ["CORPORA", "alike", "chain", "half", "just_under", "pools", "template"]

_SIZE = 200  # words in a document


def template(num: int) -> list[str]:
    """One template of which each copy has two words of its own: all but the first go."""
    words = _shared(_SIZE + 100)
    middle = len(words) // 2
    return [" ".join([*words[:middle], f"u{i}", f"v{i % 977}", *words[middle:]]) for i in range(num)]


def half(num: int) -> list[str]:
    """Half of each is boilerplate: none is like another."""
    return [_behind(_SIZE // 2, [f"x{i}w{j}" for j in range(_SIZE // 2)]) for i in range(num)]


def just_under(num: int) -> list[str]:
    """Boilerplate of 85 %, at a Jaccard similarity of .7: none goes, and what they share is in all of them."""
    own = _SIZE * 15 // 100
    return [_behind(_SIZE - own, [f"x{i}w{j}" for j in range(own)]) for i in range(num)]


def alike(num: int) -> list[str]:
    """Each two at a Jaccard similarity of .63: none goes, and the bands of MinHash bring most pairs together."""
    own = _SIZE * 22 // 100
    return [_behind(_SIZE - own, [f"x{i}w{j}" for j in range(own)]) for i in range(num)]


def chain(num: int) -> list[str]:
    """Each is the one before, a tenth of its words further on: every other one goes."""
    words = [f"c{i}" for i in range(10 * num + 100)]
    return [" ".join(words[10 * i : 10 * i + 100]) for i in range(num)]


def pools(num: int) -> list[str]:
    """Boilerplate of 85 %, and words that each are drawn from fifty: what two share is rare, and still not enough.

    None goes, or hardly any. Whoever compares single words has to compare all that share one: some n² / 4 pairs.
    """
    chance = random.Random(3)
    own = _SIZE * 15 // 100
    return [_behind(_SIZE - own, [f"x{j}v{chance.randrange(50)}" for j in range(own)]) for _ in range(num)]


CORPORA: dict[str, Callable[[int], list[str]]] = {
    function.__name__: function for function in (template, half, just_under, alike, chain, pools)
}


def _shared(num: int) -> list[str]:
    return [f"b{i}" for i in range(num)]


def _behind(num_shared: int, own: list[str]) -> str:
    return " ".join([*_shared(num_shared), *own])
