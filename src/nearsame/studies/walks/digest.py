"""Digests walked through: what is digested of a text, its checksum, and of two texts whether they are the same."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nearsame import arrow
from nearsame.answers.comparisons import Explanation, Step
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Digest
from nearsame.stages.features.digests import FORGEABLE, TextDigests
from nearsame.stages.texts.raw import Texts
from nearsame.studies.walks.shingled import through
from nearsame.studies.walks.sides import Given, explained, one_above_the_other, only_texts, verified

__all__ = ["walk"]

_MOST_SHOWN = 300  # bytes of what is digested
_SHA256_BYTES = 32


def walk(given: Sequence[Given], recipe: Digest) -> Explanation:
    """What is digested, the digest, and what confirms it."""
    texts, flow = only_texts(given, recipe), steps(recipe)
    read, _ = through(texts, flow.features, Texts)
    batch, stage = through(texts, flow.features, TextDigests)
    contents, num_tokens = stage.contents(arrow.strings(read.column("text")))
    answers = [_answer(recipe, batch.slice(row, 1)) for row in range(len(texts))]
    walked = [
        one_above_the_other([_content_step(recipe, *each) for each in zip(contents, num_tokens.tolist(), strict=True)]),
        one_above_the_other([_digest_step(recipe, answer) for answer in answers]),
    ]
    if len(texts) == 1:
        return explained(recipe, walked, answers)
    similar = verified(batch, flow.bound(recipe.threshold))
    equal = answers[0]["digest"] == answers[1]["digest"] is not None
    rows = (
        ("digests", "equal" if equal else "different", f"by {recipe.algorithm}"),
        ("contents", "the same" if contents[0] == contents[1] else "different", "the true value"),
        ("duplicates", "yes" if similar else "no", f"confirmed by {_confirming(recipe)}"),
    )
    last = Step("Distance and true value", ("what", "value", "how"), rows)
    return explained(recipe, [*walked, last], answers, {"equal_digests": equal, "similar": similar})


def _answer(recipe: Digest, row: pa.RecordBatch) -> dict[str, Any]:
    """The digest as the stage noted it: of a weak one, the checksum that texts meet by."""
    items = row.column("items")[0].values.to_numpy()
    if recipe.can_collide:
        return {"digest": f"{row.column('set_a')[0].as_py():x}" if items.size else None}
    data = items[1:].tobytes()[: int(items[0])] if items.size else b""
    if recipe.algorithm not in FORGEABLE:
        return {"digest": data.hex() or None}
    return {"digest": data[:-_SHA256_BYTES].hex() or None, "sha256": data[-_SHA256_BYTES:].hex() or None}


def _content_step(recipe: Digest, content: bytes, num_tokens: int) -> Step:
    shown = content[:_MOST_SHOWN].decode("utf-8", "ignore") + (" ..." if len(content) > _MOST_SHOWN else "")
    what = f"{num_tokens:,} tokens, with single spaces" if recipe.normalise and num_tokens else "the text as it is"
    title = "The tokens are digested" if recipe.normalise else "The text is digested, byte for byte"
    return Step(title, ("what", "bytes", "content"), ((what, len(content), shown),))


def _digest_step(recipe: Digest, answer: dict[str, Any]) -> Step:
    columns, title = ("by", "digest"), "The digest stands for the text"
    if answer["digest"] is None:
        return Step(title, columns, (), "An empty text has none, and is nobody's duplicate.")
    rows = [(recipe.algorithm, answer["digest"])]
    if "sha256" in answer:
        rows.append(("sha256", answer["sha256"]))
    return Step(title, columns, tuple(rows), f"Equal digests are confirmed by {_confirming(recipe)}.")


def _confirming(recipe: Digest) -> str:
    if recipe.can_collide:
        return "comparing the texts: different ones can have this checksum"
    if recipe.algorithm in FORGEABLE:
        return "SHA-256, since texts of one digest can be made on purpose"
    return "nothing more: no two texts with the same digest are known"
