"""Items that are put into training data are found where the definition says so, and nowhere else."""

import json
from functools import cache

import pytest

import nearsame as ns
from nearsame.demo import corpus_path
from tests.studies.leak_cases import WAYS, Item, documents, expected, items


def _leaks(made: list[Item], texts: list[str]) -> ns.Leaks:
    return ns.leaks(texts, {"made": [{"id": str(at), **item._asdict()} for at, item in enumerate(made)]})


def _found(made: list[Item], texts: list[str]) -> dict[tuple[int, str, int], tuple[int, int]]:
    spans = _leaks(made, texts).spans.select(["item", "column", "row", "shared", "shingles"]).to_pydict()
    lines = zip(*spans.values(), strict=True)
    return {(int(item), column, row): (shared, all_) for item, column, row, shared, all_ in lines}


def _strangers() -> list[str]:
    """Real texts, which hold none of them."""
    return [json.loads(line)["text"] or "" for line in corpus_path().read_text("utf-8").splitlines()]


def _check(number: int, seed: int, way: str) -> None:
    (made, unsought), strangers = _made(number, seed), _strangers()
    texts = [*strangers, *documents(made, way)]
    found = _found(made, texts)
    assert expected(made, texts) == found
    # no phantoms: an item is found in its own document and in no other
    assert [] == [line for line in found if line[2] - len(strangers) != line[0]]
    if WAYS[way][1]:
        wanted = {(at, column) for at, item in enumerate(made) for column, _ in item.texts} - unsought
        assert wanted == {(item, column) for item, column, _ in found}


@cache
def _made(number: int, seed: int) -> tuple[list[Item], frozenset[tuple[int, str]]]:
    """Items, and those of their texts that are not looked for."""
    made = items(number, seed)
    return made, frozenset((int(line["item"]), line["column"]) for line in _leaks(made, []).unsought.to_pylist())


@pytest.mark.parametrize("way", WAYS)
def test_what_is_put_in_is_found_by_the_definition(way: str) -> None:
    """Verbatim, wrapped, far inside, shuffled and marked up: each text that is looked for; cut and noisy: as told."""
    _check(40, 0, way)


@pytest.mark.parametrize(
    "number", [pytest.param(2_000, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("way", WAYS)
def test_thousands_of_items_are_found_by_the_definition(way: str, number: int) -> None:
    """The same of as many as benchmarks have."""
    _check(number // 20 if way == "inside 100 kB" else number, 1, way)


def test_half_a_question_is_no_leak_and_noise_is_one_where_shingles_are_left() -> None:
    """What the definition says of the two ways that it does not promise."""
    made, unsought = _made(300, 2)
    shares = {}
    for way in ("cut to half", "2 % of letters changed"):
        found = _found(made, documents(made, way))
        shares[way] = len({(item, column) for item, column, _ in found}) / (3 * len(made) - len(unsought))
    assert 0 == shares["cut to half"]
    assert 0.1 < shares["2 % of letters changed"] < 0.4


@pytest.mark.parametrize("size", [100_000])
def test_an_item_inside_of_a_long_document_has_its_place(size: int) -> None:
    """By characters, however far in, and behind characters of several bytes."""
    made = items(3, seed=3)[0]
    before = "é漢 " * (size // 3)
    text = f"{before}{made.written()} und so weiter"
    spans = _leaks([made], [text]).spans.to_pylist()
    assert {"question", "choices", "answer"} == {line["column"] for line in spans}
    for line in spans:
        assert line["passage"] == text[line["start"] : line["end"]]
        assert len(before) <= line["start"]
        column = made._asdict()[line["column"]]
        given = column if isinstance(column, str) else "\n".join(column)
        assert line["item_passage"] == given[line["item_start"] : line["item_end"]]
