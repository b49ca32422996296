"""A method walked through with one text or two: what the textbook does on paper, with the numbers of a run.

1. Every number comes from the stage that a run would use; only the tables are made by the walks.
2. A step shows all its rows: what fits a screen is the face's business.
3. A method has one walk, in a module of its own (`walks/`); here is which.
"""

import importlib
from collections.abc import Callable, Sequence

from nearsame.answers.comparisons import Explanation
from nearsame.errors import ConfigError
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import ExampleName, MethodName, SearchKind
from nearsame.recipes.methods import Codes, Method, as_recipe
from nearsame.studies.walks.sides import Given

__all__ = ["explain", "explain_codes", "explain_example"]


@checked
def explain(
    a: str | Sequence[float],
    b: str | Sequence[float] | None = None,
    *,
    method: Method | MethodName = "simhash",
    orders: Sequence[Sequence[str]] | None = None,
) -> Explanation:
    """A method step by step, with one text, or with two side by side down to distance, estimate and true value.

    Args:
        a: The text. For hyperplanes a vector; methods of sets also take whole numbers, as hashes that are given.
        b: Another of the same kind.
        method: A recipe, or its name. A SimHash with a table of hashes is the textbook's.
        orders: For MinHash: orders of words (of shingles, as the first step shows them) in place of permutations.

    Raises:
        ConfigError: The method cannot be walked through with these, or an order lacks one of the shingles.

    Example:
        >>> walk = explain("mouse dog", method=MinHash(shingle_size=1), orders=[["cat", "dog", "mouse", "banana"]])
        >>> walk.answer["minima"]
        ['dog']
        >>> explain("a b", method=SimHash(bits=4, table={"a": 0b1100, "b": 0b0100})).answer["binary"]
        '0100'
        >>> explain([0, 1, 2, 5, 6], [0, 2, 3, 5, 7, 9], method="jaccard").answer["together"]["exact"]
        '3/8'
    """
    recipe = as_recipe(method)
    given: tuple[Given, ...] = (a,) if b is None else (a, b)
    of_two = [name for name in _OF_TWO if b is None and name in recipe.model_fields_set]
    if of_two:
        raise ConfigError(f"{of_two[0]} is about two documents, and there is one", hint="Give two, or leave it out.")
    if orders is None:
        return _walk(_WALKS[recipe.name])(given, recipe)
    if recipe.name not in _ORDERED:
        message = f"orders do nothing to method={recipe.name}"
        raise ConfigError(message, hint=f"Leave them out, or choose {' or '.join(_ORDERED)}.")
    return _walk(_ORDERED[recipe.name])(given, recipe, orders)


@checked
def explain_codes(  # noqa: PLR0913  (a keyword for each question)
    codes: Sequence[int | str],
    *,
    bits: int = 64,
    k: int = 3,
    search: SearchKind = "blocks",
    blocks: int | None = None,
    header: int | None = None,
    turns: Sequence[int] | None = None,
) -> Explanation:
    """A search for near codes step by step: who is compared with whom, what is found, and what is missed.

    Args:
        codes: Of SimHash or of any origin: numbers, or texts such as "13", "0b1101", "0xd", or "1101" for 4 bits.
        bits: The length of a code, at most 512.
        k: Most bits in which near codes differ.
        search: Block-permuted tables, rotations, only neighbours in each sorted rotation, or all with all.
        blocks: Blocks that a code is cut into; default: the cheapest.
        header: Blocks in a table's header; default: the cheapest.
        turns: For `adjacent`: by how many bits codes are turned left before each sort; default: by every number.

    Raises:
        ConfigError: A code does not fit, or the settings cannot be.

    Example:
        >>> explain_codes(["1101", "0b1111", 6], bits=4, k=1, search="brute").answer["found"]
        [[1, 2, 1]]
    """
    recipe = Codes(bits=bits, k=k, search=search, blocks=blocks, header=header, decimal=True)
    return _walk("searches.walk")(codes, recipe, turns)


@checked
def explain_example(name: ExampleName) -> Explanation:
    """A worked example of the literature step by step, down to the numbers of its source.

    Args:
        name: Which one; what its source printed wrongly is said beside what is right.

    Raises:
        ConfigError: There is no such example.

    Example:
        >>> explain_example("zero-mod-p").answer["fingerprint"]
        [664, 492, 236, 908]
    """
    examples = importlib.import_module("nearsame.studies.walks.examples").EXAMPLES
    walked: Explanation = examples[name]()
    return walked


_OF_TWO = ("confirm", "jaccard_floor", "remove", "verify")  # settings about what is compared
_WALKS = {
    "jaccard": "exact_sets.walk_jaccard",
    "cosine": "exact_sets.walk_cosine",
    "containment": "exact_sets.walk_containment",
    "minhash": "minhash.walk",
    "modp": "modp.walk",
    "simhash": "simhash.walk",
    "codes": "searches.walk_two",
    "hyperplane": "hyperplane.walk",
    "digest": "digest.walk",
}
_ORDERED = {"minhash": "minhash.walk_orders"}


def _walk(name: str) -> Callable[..., Explanation]:
    """A walk by its place in `walks/`: loaded when it is asked for, with what only its method needs."""
    module, _, function = name.partition(".")
    walk: Callable[..., Explanation] = getattr(importlib.import_module(f"nearsame.studies.walks.{module}"), function)
    return walk
