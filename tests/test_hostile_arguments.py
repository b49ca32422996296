"""What is given wrongly to a call: errors of ours that say what to give."""

from typing import Any

import pytest

import nearsame as ns
from nearsame.errors import ConfigError

_LIST_OF_LISTS: Any = [["a"]]


@pytest.mark.parametrize("wrong", [123, None, b"x", 1.5, _LIST_OF_LISTS, {"text": "a"}])
def test_two_texts_have_to_be_texts(wrong: Any) -> None:
    """And so has the one that is explained."""
    for ask in (lambda: ns.compare(wrong, "x"), lambda: ns.compare("x", wrong), lambda: ns.explain(wrong)):
        with pytest.raises(ConfigError, match="must be a string"):
            ask()


@pytest.mark.parametrize("ask", [ns.dedup, ns.pairs])
def test_a_setting_of_the_method_is_told_where_it_goes(ask: Any) -> None:
    """A name that no method knows is Python's error, as always."""
    with pytest.raises(ConfigError) as caught:
        ask(["a"], threshold=0.8)
    assert f"{ask.__name__}(..., method=nearsame.Jaccard(threshold=0.8))" in caught.value.hint
    with pytest.raises(TypeError):
        ask(["a"], nonsense=1)
