"""What brute force says of a case: who is similar to whom, who goes, and by which witness.

1. Nothing of the run is used, but for numbers that a definition starts from: the hashes that mod-p selects from, the
   fixed-point weights of TF-IDF, and the lists of stop words.
2. `Truth.exact` says whether the run has to answer just that, or must only not contradict it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import LCSseq

from nearsame import arrow, schemas
from nearsame.flow.steps import steps
from nearsame.stages.features.frequencies import idf
from nearsame.stages.texts.stopwords import stop_words
from tests.fuzz.cases import Case
from tests.oracle import boilerplate, components, containments, decisions, fingerprints, layers, simhash, vectors
from tests.oracle.measures import cosine, jaccard, weighted_cosine
from tests.oracle.priority import order
from tests.oracle.shingles import Raw, features
from tests.oracle.tokens import prepare, tokens

__all__ = ["Truth", "truth"]

Similar = Mapping[tuple[int, int], Fraction]
_TEXT = ("keep_case", "keep_punctuation", "nfkc", "strip_accents")


@dataclass(frozen=True)
class Truth:
    """Brute force over one case.

    Attributes:
        case: what was asked.
        keys: of each document what makes two of them one; None: it is nothing.
        similar: pairs a < b that count.
        exact: whether nothing may be missed.
    """

    case: Case
    keys: Sequence[Any]
    similar: Similar
    exact: bool = True
    sets: Sequence[Any] = ()  # where they are compared
    measure: Callable[[Any, Any], Fraction] = jaccard  # of two of them
    also: Callable[[int, int], bool] = lambda _a, _b: True  # what must hold of a pair beside

    @cached_property
    def ranked(self) -> list[int]:
        """Rows from the most to the least worth keeping."""
        case = self.case
        keep = case.asked.get("keep", "first")
        values = [
            case.documents if policy in ("longest", "shortest") else case.columns.get(policy.partition(":")[2])
            for policy in keep.split(", ")
        ]
        return order(len(case.documents), keep, values if ", " in keep else values[0], case.first)

    @property
    def within(self) -> bool:
        """Whether judged documents are compared with each other."""
        return bool(self.case.asked.get("within", self.case.recipe.get("remove") != "container"))

    def removed(self) -> decisions.Decisions:
        """The removed rows with their witnesses."""
        case = self.case
        how = {"num_against": case.first, "within": self.within}
        if case.name == "containment":
            least, floor = Fraction(case.recipe["threshold"]), case.recipe.get("jaccard_floor")
            container = case.recipe.get("remove") == "container"
            bounds = {"floor": Fraction(floor) if floor else None, "container": container}
            return containments.decide(self.sets, least, self.ranked, **how, **bounds, keys=self.keys, also=self.also)
        if case.asked.get("clusters") == "components":
            return components.decide(self.sets, self.similar, self.ranked, **how, measure=self.measure, keys=self.keys)
        if "use" in case.asked:
            return self._by_layers(how)
        return decisions.decide_similar(self.keys, self.similar, self.ranked, **how)

    def pairs(self) -> dict[tuple[int, int], Fraction]:
        """What `pairs` lists."""
        first = self.case.num_against
        if first is not None:
            return {(a, b): value for (a, b), value in self.similar.items() if a < first <= b}
        if self.case.question != "star":
            return dict(self.similar)
        best = {row: self.keys.index(key) for row, key in enumerate(self.keys) if key is not None}
        return {
            (a, b): value
            for (a, b), value in self.similar.items()
            if best[a] == a and best[b] in (b, a)
        }  # fmt: skip

    def _by_layers(self, how: dict[str, Any]) -> decisions.Decisions:
        texts = self.case.documents

        def by_text(left: list[int], _: layers.Pairs) -> dict[int, int]:  # no case has decisions
            here = set(left)
            keys = [key if row in here else None for row, key in enumerate(self.keys)]
            similar = {pair: value for pair, value in self.similar.items() if here.issuperset(pair)}
            found.update(decisions.decide_similar(keys, similar, self.ranked, **how))
            return {row: witness for row, (witness, _) in found.items()}

        found: decisions.Decisions = {}
        empty = [not text for text in texts]
        gone = layers.layered({"digest": texts}, self.ranked, by_text, empty=empty, **how)
        value: dict[int, Fraction] = {row: similarity for row, (_, similarity) in found.items()}
        for row, why in gone.items():
            if why.layer == "digest":
                value[row] = Fraction(1) if why.via is None else found[why.via][1]
        return {row: (why.witness, value[row]) for row, why in gone.items()}


def truth(case: Case) -> Truth:
    """What brute force says."""
    return _TRUTHS[case.name](case)


def _tokens_of(recipe: Mapping[str, Any]) -> dict[str, Any]:
    how = {name: recipe[name] for name in _TEXT if name in recipe}
    if "stop_words" not in recipe:
        return how
    named = {name: how.get(name, False) for name in ("keep_case", "nfkc", "strip_accents")}
    return how | {"stop": stop_words((recipe["stop_words"],), **named)}


def _sets(case: Case) -> list[frozenset[Any]]:
    recipe = case.recipe
    if case.kind == "items":
        sets = [_bag(items or [], repeats=recipe.get("repeats", False)) for items in case.documents]
        texts = ["".join(f"{len(item)}:{item}" for item in items or []) for items in case.documents]
    else:
        names = {name: recipe[name] for name in ("overlapping", "repeats", "unit", "whitespace") if name in recipe}
        how = {**_tokens_of(recipe), **names, "size": recipe.get("shingle_size", 5)}
        sets, texts = [features(text, **how) for text in case.documents], case.documents
    most = recipe.get("drop_boilerplate")
    return sets if most is None else boilerplate.without(sets, texts, most)


def _bag(items: list[str], *, repeats: bool) -> frozenset[Any]:
    if not repeats:
        return frozenset(items)
    return frozenset((item, number) for item, count in Counter(items).items() for number in range(count))


def _by_sets(case: Case) -> Truth:
    sets = _sets(case)
    return _with_second(case, sets, decisions.pairs(sets, Fraction(case.recipe["threshold"])), case.name == "jaccard")


def _by_cosine(case: Case) -> Truth:
    sets = _sets(case)
    least = Fraction(case.recipe["threshold"])
    if case.recipe.get("weights", "one") == "one":
        found = _with_second(case, sets, decisions.cosine_pairs(sets, least))
        return replace(found, measure=partial(cosine, threshold=least))
    weights, measure = _weighed(case, sets), partial(weighted_cosine, threshold=least)
    full = [row for row, items in enumerate(sets) if items]
    every = {(a, b): measure(weights[a], weights[b]) for a, b in combinations(full, 2)}
    truth = _with_second(case, sets, {pair: value for pair, value in every.items() if value >= least})
    keys = [key and (key, frozenset(each.items())) for key, each in zip(truth.keys, weights, strict=True)]
    return replace(truth, keys=keys, sets=weights, measure=measure, also=lambda _a, _b: True)


def _weighed(case: Case, sets: Sequence[frozenset[Any]]) -> list[dict[Any, int]]:
    """What each item of a set weighs; what stands for all of a text that has none left weighs 1."""
    bags = _sets(replace(case, recipe=_without(case.recipe, "drop_boilerplate") | {"repeats": True}))
    counted = [Counter(item[0] for item in bag if not isinstance(item, Raw)) for bag in bags]
    documents = Counter(item for items, times in zip(sets, counted, strict=True) for item in items if item in times)
    total = sum(any(item in times for item in items) for items, times in zip(sets, counted, strict=True))
    rare = {item: int(idf(total, np.array([number]))[0]) for item, number in documents.items()}
    by_rarity = case.recipe["weights"] == "tfidf"
    return [
        {item: times[item] * (rare[item] if by_rarity else 1) if item in times else 1 for item in items}
        for items, times in zip(sets, counted, strict=True)
    ]


def _without(recipe: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in recipe.items() if key != name}


def _by_containment(case: Case) -> Truth:
    sets, recipe = _sets(case), case.recipe
    floor = recipe.get("jaccard_floor")
    found = containments.pairs(sets, Fraction(recipe["threshold"]), Fraction(floor) if floor else None)
    return _with_second(case, sets, {pair: max(both) for pair, both in found.items()})


def _by_prints(case: Case) -> Truth:
    recipe = case.recipe
    hashes = _hashes(case)
    prints = [fingerprints.fingerprint(items, recipe["modulus"], recipe["floor"]) for items in hashes]
    similar = fingerprints.pairs(hashes, prints, Fraction(recipe["threshold"]))
    return _with_second(case, hashes, similar)


def _with_second(case: Case, sets: Sequence[frozenset[Any]], similar: Similar, exact: bool = True) -> Truth:
    """What is similar by sets, and by the second measure as well, where one is asked for."""
    keys: list[Any] = [items or None for items in sets]
    confirm = case.recipe.get("confirm")
    if confirm is None:
        return Truth(case, keys, similar, exact, sets)
    least = Fraction(case.recipe.get("confirm_threshold", "0.8"))
    if confirm == "edit":
        texts = _letters(case)
        keys = [items and (items, text) for items, text in zip(keys, texts, strict=True)]

    def also(a: int, b: int) -> bool:
        if keys[a] == keys[b]:
            return True
        if confirm == "edit":
            return _edit(texts[a], texts[b]) >= least
        return (jaccard if confirm == "jaccard" else partial(cosine, threshold=least))(sets[a], sets[b]) >= least

    return Truth(case, keys, {pair: value for pair, value in similar.items() if also(*pair)}, exact, sets, also=also)


def _letters(case: Case) -> list[str]:
    how = {name: case.recipe.get(name, False) for name in ("nfkc", "strip_accents")}
    return [prepare(text or "", **how) for text in case.documents]


def _hashes(case: Case) -> list[frozenset[int]]:
    ready = case.kind == "items"
    schema = schemas.ITEMS if ready else schemas.DOCUMENTS
    column = pa.array(case.documents, schema.field(1).type)
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(column)), pa.int64()), column], schema=schema)
    for stage in steps(case.method, ready_items=ready).features:
        batch = stage(batch)
    return [frozenset(arrow.unsigned(row.values.to_numpy()).tolist()) for row in batch.column("items")]


def _by_codes(case: Case) -> Truth:
    recipe, texts = case.recipe, case.documents
    weights = _weights(case)
    codes = [_code(each, recipe) if each else None for each in weights]
    similar = simhash.similarities(codes, recipe["bits"], recipe["k"])
    bare = [(text or None) if case.kind == "text" and codes[row] is None else None for row, text in enumerate(texts)]
    for a, b in combinations(range(len(texts)), 2):
        if bare[a] is not None and bare[a] == bare[b]:
            similar[a, b] = Fraction(1)
    keys: list[Any] = [code if code is not None else text for code, text in zip(codes, bare, strict=True)]
    exact = recipe["search"] != "adjacent"
    if "confirm" not in recipe:
        return Truth(case, keys, similar, exact)
    evidence = _evidence(case, weights)
    keys = [(code, evidence[row]) if code is not None else bare[row] for row, code in enumerate(codes)]
    return Truth(case, keys, _confirmed(case, similar, codes, evidence), exact)


def _weights(case: Case) -> list[dict[str, int]]:
    recipe = case.recipe
    if case.kind == "items":
        counted = [Counter(items or []) for items in case.documents]
    else:
        cut = {name: recipe[name] for name in ("overlapping", "unit", "whitespace") if name in recipe}
        how = {**_tokens_of(recipe), **cut, "size": recipe.get("shingle_size", 1)}
        counted = [simhash.features_of(text, **how) for text in case.documents]
    if recipe["weights"] == "one":
        return [dict.fromkeys(each, 1) for each in counted]
    if recipe["weights"] == "tf":
        return [dict(each) for each in counted]
    documents = Counter(feature for each in counted for feature in each)
    total = sum(bool(each) for each in counted)
    rare = {feature: int(idf(total, np.array([number]))[0]) for feature, number in documents.items()}
    return [{feature: times * rare[feature] for feature, times in each.items()} for each in counted]


def _code(weights: dict[str, int], recipe: Mapping[str, Any]) -> int:
    function, bits = simhash.FUNCTIONS[recipe["feature_hash"]], recipe["bits"]
    return simhash.code_of(weights, lambda feature: function(feature.encode(), bits), bits, recipe["zero_bit"])


def _evidence(case: Case, weights: list[dict[str, int]]) -> list[Any]:
    if case.recipe["confirm"] == "edit":
        return _letters(case)
    return weights if case.recipe["confirm"] == "cosine" else [frozenset(each) for each in weights]


def _confirmed(case: Case, similar: Similar, codes: Sequence[Any], evidence: Sequence[Any]) -> dict[Any, Fraction]:
    confirm, threshold = case.recipe["confirm"], Fraction(case.recipe["threshold"])
    found = {}
    for (a, b), similarity in similar.items():
        if codes[a] is None:
            value = similarity
        elif confirm == "cosine":
            value = weighted_cosine(evidence[a], evidence[b], threshold)
        else:
            value = jaccard(evidence[a], evidence[b]) if confirm == "jaccard" else _edit(evidence[a], evidence[b])
        if value >= threshold:
            found[a, b] = value
    return found


def _edit(a: str, b: str) -> Fraction:
    return Fraction(2 * LCSseq.similarity(a, b), len(a) + len(b))


def _by_vectors(case: Case) -> Truth:
    whole = [vectors.rounded(vector) for vector in case.documents]
    similar = vectors.pairs(whole, Fraction(case.recipe["threshold"]))
    return Truth(case, whole, similar, exact=case.recipe.get("bands") == 512)


def _by_digest(case: Case) -> Truth:
    recipe = case.recipe
    keys: list[Any] = [text or None for text in case.documents]
    if recipe.get("normalise"):
        how = _tokens_of(recipe)
        keys = [key and (" ".join(tokens(key, **how)) or key) for key in keys]
    similar = {
        (a, b): Fraction(1)
        for a, b in combinations(range(len(keys)), 2)
        if keys[a] is not None and keys[a] == keys[b]
    }  # fmt: skip
    return Truth(case, keys, similar)


_TRUTHS = {
    "jaccard": _by_sets,
    "containment": _by_containment,
    "cosine": _by_cosine,
    "minhash": _by_sets,
    "modp": _by_prints,
    "simhash": _by_codes,
    "hyperplane": _by_vectors,
    "digest": _by_digest,
}
