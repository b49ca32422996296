"""Random hyperplanes walked through: a rounded vector, its side of each plane, slices; of two vectors the angle."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.comparisons import Explanation, Step
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Hyperplane
from nearsame.shares import cut, exactly
from nearsame.stages.features.vectors import RoundedVectors
from nearsame.stages.keys.slices import SliceKeys, bit_agrees, meeting_probability
from nearsame.stages.pairs import likeness
from nearsame.stages.sketches.hyperplanes import SignCodes, planes
from nearsame.studies.walks.sides import Given, beside, explained, hexed, verified

__all__ = ["walk"]

_Rounded = npt.NDArray[np.int64]


def walk(given: Sequence[Given], recipe: Hyperplane) -> Explanation:
    """Numbers, rounded numbers, signs, slices."""
    vectors = _vectors(given)
    features = RoundedVectors()(_batch(vectors))
    sketches = SignCodes(recipe.bits, recipe.seed)(features)
    rounded = [_rounded(row.values.to_numpy(), len(vectors[0])) for row in features.column("items")]
    codes = [row.values.to_numpy().view(np.uint64) for row in sketches.column("items")]
    signs = [np.unpackbits(code.view(np.uint8), bitorder="little") for code in codes]
    keys = [_keys(recipe, sketches.slice(row, 1), bits) for row, bits in enumerate(signs)]
    answers: list[dict[str, Any]] = [
        {"code": [hexed(word) for word in code.tolist()], "keys": [str(row[2]) for row in step.rows]}
        for code, step in zip(codes, keys, strict=True)
    ]
    walked = [
        beside([_rounding(*each) for each in zip(vectors, rounded, strict=True)], ["i"]),
        beside([_sides(recipe, *each) for each in zip(rounded, signs, strict=True)], ["plane"]),
        beside(keys, ["slice"], without=["bits"]),
    ]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    last, together = _together(recipe, features, rounded, codes, answers)
    return explained(recipe, [*walked, last], answers, together)


def _vectors(given: Sequence[Given]) -> list[list[float]]:
    vectors = []
    for side in given:
        if isinstance(side, str) or not len(side):
            raise ConfigError("method=hyperplane takes vectors: lists of numbers", hint="Write one as in [0.1, 0.5].")
        vectors.append([float(number) for number in side])
    if not all(map(math.isfinite, (number for vector in vectors for number in vector))):
        raise ConfigError("a vector has a number that is not finite", hint="Give finite numbers.")
    if len({len(vector) for vector in vectors}) > 1:
        lengths = " and ".join(str(len(vector)) for vector in vectors)
        raise ConfigError(f"vectors of {lengths} numbers have no angle", hint="Give two of one length.")
    return vectors


def _batch(vectors: list[list[float]]) -> pa.RecordBatch:
    kind = schemas.VECTORS.field("vector").type
    columns = [pa.array(range(len(vectors)), pa.int64()), pa.array(vectors, kind)]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.VECTORS)


def _rounded(items: npt.NDArray[np.int64], size: int) -> _Rounded:
    """The coordinates behind the sum of their squares; none of a vector of zeros."""
    return items[1:].view(np.int16)[:size].astype(np.int64) if items.size else np.zeros(0, np.int64)


def _rounding(vector: list[float], rounded: _Rounded) -> Step:
    rows = tuple(
        (i, f"{number:g}", int(whole))
        for i, (number, whole) in enumerate(zip(vector, rounded.tolist(), strict=False), 1)
    )
    note = "Stretched so that the largest is 32767, each number is rounded: sums of whole numbers are exact."
    return Step("The vector is rounded", ("i", "number", "rounded"), rows, note if rows else _NO_DIRECTION)


def _sides(recipe: Hyperplane, rounded: _Rounded, signs: npt.NDArray[np.uint8]) -> Step:
    """The product with each plane, and the bit that the stage made of it."""
    note = "A vector is multiplied with a random normal of each plane; above zero the bit is 1."
    if not rounded.size:
        return Step("Each plane has two sides", ("plane", "product", "bit"), (), _NO_DIRECTION)
    products = planes(recipe.bits, recipe.seed, 4 * -(-rounded.size // 4))[:, : rounded.size].astype(np.int64) @ rounded
    rows = tuple((i, *pair) for i, pair in enumerate(zip(products.tolist(), signs.tolist(), strict=True), 1))
    return Step("Each plane has two sides", ("plane", "product", "bit"), rows, note)


def _keys(recipe: Hyperplane, sketch: pa.RecordBatch, signs: npt.NDArray[np.uint8]) -> Step:
    stage = SliceKeys(recipe)
    bands, width = stage.shape
    keys = arrow.unsigned(arrow.ints(stage(sketch).column("key"))).tolist()
    chance = meeting_probability(float(recipe.threshold), bands, width)
    note = (
        f"{bands} slices of {width} bits: vectors that share a key are compared. At a cosine of "
        f"{exactly(recipe.threshold)} that happens with a chance of {chance:.4f}."
    )
    rows = tuple(
        (i + 1, "".join(map(str, signs[i * width : (i + 1) * width].tolist())), hexed(key))
        for i, key in enumerate(keys)
    )
    return Step("Slices of the code become keys", ("slice", "bits", "key"), rows, note)


def _together(
    recipe: Hyperplane,
    features: pa.RecordBatch,
    rounded: list[_Rounded],
    codes: list[arrow.UInt64s],
    answers: list[dict[str, Any]],
) -> tuple[Step, dict[str, Any]]:
    """How many planes part the two, what that says of their angle, and the angle."""
    columns, title = ("what", "value", "how"), "Distance, estimate and true value"
    if not all(side.size for side in rounded):
        return Step(title, columns, (), _NO_DIRECTION), {"distance": None, "similar": False}
    words = (sum(word << 64 * i for i, word in enumerate(code.tolist())) for code in codes)
    distance = likeness.hamming_distance(*words)
    a, b = rounded
    dot, squares = int(a @ b), int(a @ a) * int(b @ b)
    cosine = dot / math.sqrt(squares)
    angle = math.atan2(math.sqrt(max(squares - dot * dot, 0)), dot)
    guess = math.pi * distance / recipe.bits
    shared = sum(one == other for one, other in zip(answers[0]["keys"], answers[1]["keys"], strict=True))
    similar = shared > 0 and verified(features, steps(recipe).bound(recipe.threshold))
    least = f"which is never less than .878 (1 - cosine) / 2 = {_CUTS * (1 - cosine) / 2:.4f}"
    rows = (
        ("distance", f"{distance} of {recipe.bits} bits", "planes that part the two vectors"),
        ("estimated angle", f"{guess:.4f} rad", "pi * distance / bits"),
        (
            "angle",
            f"{angle:.4f} rad",
            f"the true value; a plane parts them with a chance of {1 - bit_agrees(cosine):.4f}, {least}",
        ),
        ("estimated cosine", cut(math.cos(guess)), "of the estimated angle"),
        ("cosine", cut(cosine), "the true value"),
        ("shared keys", f"{shared} of {len(answers[0]['keys'])}", "vectors that share none are never compared"),
        ("near-duplicates", "yes" if similar else "no", f"a cosine of {exactly(recipe.threshold)} is asked for"),
    )
    together = {"distance": distance, "estimated_angle": guess, "angle": angle, "cosine": cosine, "similar": similar}
    return Step(title, columns, rows), together


_CUTS = 0.878  # Goemans and Williamson 1995
_NO_DIRECTION = "A vector of zeros has no direction, so no code."
