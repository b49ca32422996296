"""Words that one chooses among: what type checkers, editors and `--help` are told is what the tables have."""

from collections.abc import Iterator
from typing import Any, get_args

import click
import pytest

import nearsame as ns
from nearsame.answers.matches import FOUND_BY
from nearsame.cli.main import commands
from nearsame.index.facets import facet_of
from nearsame.index.recipe import facets_of
from nearsame.recipes import choices
from nearsame.recipes.choices import (
    COMPARED,
    DIGESTS,
    HASHES,
    INDEX_METHODS,
    KEEP_BY_COLUMN,
    KEEP_PLAIN,
    STORES,
    Compared,
    ConfirmedBy,
    KeepByColumn,
    KeepPlain,
    MeasureName,
    MethodName,
    Preferred,
    SketchKind,
)
from nearsame.recipes.methods import METHODS, SimHash
from nearsame.stages.clusters.policies import GOES_BY, Keep
from nearsame.stages.features import digests
from nearsame.stages.features.hashes import hasher
from nearsame.stages.pairs import measures
from nearsame.stages.sketches import minhash, simhash
from nearsame.studies.compare import DECIDING
from nearsame.web.preferring import Prefer

TABLES: dict[Any, Any] = {
    Compared: simhash._FOLLOWING,
    ConfirmedBy: measures._SECOND,
    MeasureName: DECIDING,
    MethodName: METHODS,
    KeepByColumn | KeepPlain: GOES_BY,
    SketchKind: minhash._SKETCHES,
}


@pytest.mark.parametrize("words", TABLES, ids=str)
def test_a_table_has_the_words_of_its_literal(words: Any) -> None:
    """None is missing, none is left over."""
    known = [word for part in get_args(words) for word in (get_args(part) or [part])]
    assert sorted(known) == sorted(TABLES[words])


def test_every_measure_that_confirms_says_what_it_compares() -> None:
    """A measure is a row: nothing else goes by its name to know what must follow a code."""
    assert sorted(get_args(ConfirmedBy)) == sorted(COMPARED)
    assert {*get_args(Compared)} >= {*COMPARED.values()}
    assert {None, *COMPARED} == {*measures._CODES}


def test_every_tuple_of_words_is_that_of_its_literal() -> None:
    """A tuple is made from a Literal, so each word of it is known to type checkers."""
    literals = {get_args(value) for value in vars(choices).values() if get_args(value)}
    tuples = {name: value for name, value in vars(choices).items() if name.isupper() and isinstance(value, tuple)}
    assert tuples
    assert {} == {name: words for name, words in tuples.items() if words not in literals}


def test_every_policy_of_keep_can_be_asked_for() -> None:
    """And is kept as it was named."""
    assert [*KEEP_PLAIN] == [Keep.parse(name).policies[0].word for name in KEEP_PLAIN]
    assert [*KEEP_BY_COLUMN] == [Keep.parse(f"{name}:date").policies[0].word for name in KEEP_BY_COLUMN]


def test_every_hash_and_digest_can_be_computed() -> None:
    """As far as this platform has them, which `available` tells."""
    assert all(hasher(name, 64)(b"a") >= 0 for name in HASHES)
    assert {*digests.available()} <= {*DIGESTS}
    assert {"sha256", "xxh3_128", "crc32"} <= {*digests.available()}


def test_every_method_and_store_of_an_index_makes_facets() -> None:
    """Together they are all kinds of evidence that there are, in their order."""
    for store in STORES:
        facets = facets_of(INDEX_METHODS, store)
        assert [*FOUND_BY] == [facet.name for facet in facets]
    assert "simhash" == facet_of(SimHash(), "sketch").name


@pytest.mark.parametrize("name", get_args(Preferred))
def test_every_preference_among_mirrors_can_be_asked_for(name: str) -> None:
    """With what it needs behind the colon."""
    assert name == Prefer.parse(name if name == "most-complete" else f"{name}:x.example").policy


@pytest.mark.parametrize("name", get_args(MethodName))
def test_every_method_that_can_be_explained_is(name: Any) -> None:
    """Named by a word."""
    given: Any = [0.5, 1] if METHODS[name].of_vectors else "a rose is a rose is a rose"
    if METHODS[name].of_codes:
        assert name == ns.explain("00" * 8, "ff" * 8, method=name).method
        return
    assert name == ns.explain(given, method=name).method == ns.explain(given, given, method=name).method


def _offered(command: click.Command) -> Iterator[tuple[str, set[str]]]:
    """What a command line chooses among, by option; its words have dashes."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from _offered(below)
    for param in command.params:
        if isinstance(param.type, click.Choice):
            yield param.opts[0], {word.replace("-", "_") for word in param.type.choices}


def test_the_command_line_offers_words_that_there_are() -> None:
    """Each option's choices are words of one Literal; only where Spark runs, the library takes an object."""
    words_of = [get_args(value) for value in vars(choices).values() if get_args(value)]
    literals = [{str(word).replace("-", "_") for word in words} for words in words_of]
    offered = [(option, words) for option, words in _offered(commands) if option != "--engine"]
    assert len(offered) > 20
    assert [] == [(option, words) for option, words in offered if not any(words <= known for known in literals)]
