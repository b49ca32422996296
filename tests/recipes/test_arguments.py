"""What cannot be is refused by name and value, before anything is read."""

import re

import pytest

import nearsame as ns
from nearsame.errors import ConfigError, SourceError

TEXTS = ["a rose is a rose is a rose", "a rose is a rose is a rose"]


def _about(name, value):
    """A message that names an argument and what was given."""
    return rf"{name}={re.escape(repr(value))}|{name} must be .*, got {re.escape(repr(value))}"


@pytest.mark.parametrize(
    "settings",
    [
        {"method": 5},
        {"method": ns.Jaccard},
        {"threads": "2"},
        {"threads": 0},
        {"threads": 1.5},
        {"threads": True},
        {"batch_rows": 0},
        {"batch_rows": -3},
        {"batch_rows": 1.5},
        {"memory": -1},
        {"memory": [1]},
        {"workdir": 5},
        {"strict": "yes"},
        {"audit": 1},
        {"text_column": 5},
        {"id_column": ["a"]},
        {"features_column": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("call", [ns.dedup, ns.pairs])
def test_an_argument_of_another_type_is_named_with_its_value(call, settings):
    """A ConfigError, not whatever Python says deep inside."""
    ((name, value),) = settings.items()
    with pytest.raises(ConfigError, match=_about(name, value)):
        call(TEXTS, **settings)


@pytest.mark.parametrize("settings", [{"keep": None}, {"keep": 5}, {"within": "no"}, {"clusters": 5}], ids=str)
def test_what_only_dedup_takes_is_checked_likewise(settings):
    """The policy, the sides, the clusters."""
    ((name, value),) = settings.items()
    with pytest.raises(ConfigError, match=_about(name, value)):
        ns.dedup(TEXTS, **settings)


@pytest.mark.parametrize("most", [None, -1, "5", 1.0])
def test_a_number_of_pairs_is_a_number(most):
    """None is no way to say without end."""
    with pytest.raises(ConfigError, match=_about("max_pairs", most)):
        ns.pairs(TEXTS, max_pairs=most)


def test_nothing_is_no_source():
    """Neither for dedup nor for pairs."""
    for call in (ns.dedup, ns.pairs):
        with pytest.raises(SourceError, match="source=None"):
            call(None)


def test_one_side_that_is_not_compared_within_is_not_compared_at_all():
    """As the command line has it."""
    with pytest.raises(ConfigError, match="within=False without against"):
        ns.dedup(TEXTS, within=False)


def test_the_hint_names_all_methods_that_take_ready_features():
    """And none that does not."""
    with pytest.raises(ConfigError, match="needs texts") as caught:
        ns.dedup([{"x": ["a"]}], features_column="x", method="digest")
    assert "Choose containment, cosine, jaccard, minhash, modp or simhash." == caught.value.hint
