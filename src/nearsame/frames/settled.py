"""All layers together, with what the method decided about those that were left: the law of one machine over DataFrames.

1. A document whose witness was removed later follows it, and says through whom (flow/layers.py, `Layers.settled`).
2. Documents go by their numbers among all of them; the method numbers those that are left anew.
"""

from typing import Any

from nearsame.flow.corpus import State
from nearsame.flow.layer_names import GUESSED
from nearsame.frames.corpus import Frames
from nearsame.frames.deciding import Decision
from nearsame.frames.layers import LINE, FrameLayers, nobody
from nearsame.frames.left import PLACE
from nearsame.stages.pairs.evidence import KINDS

__all__ = ["OWN", "by_all", "evident", "layer_counts", "settled"]

OWN = ("layer", "via_id", "via_row", "evidence", "same_host")  # columns that only answers of layers have

_ENDS = {"number": "", "witness": "w_", "via": "v_"}


def by_all(state: State[Frames], frame: Any, names: tuple[str, ...]) -> Any:
    """A frame about documents that are left, by their numbers among all in the columns `names`, with `best` of each."""
    places = state.corpus.documents.select("number", PLACE, "best")
    for name in names:
        called = places.toDF(name, f"all_{name}", f"best_{name}")
        frame = frame.join(called, name).drop(name).withColumnRenamed(f"all_{name}", name)
    return frame


def settled(layers: FrameLayers, state: State[Frames], decision: Decision) -> Any:
    """Who goes by all layers, and by which witness.

    A row has LINE and the document's `row`, and whether both have the `same` text; besides these:

    layer: its name.
    measure: what the similarity is; null: the method's.
    measured: whether it is one of the texts, their own or that of a copy with the same bytes.
    equal: whether to the method both are the same.
    bytes: whether they are, byte for byte.
    via: the witness in the own layer, where a later one removed it.
    other: whether the one in the own layer says something else.
    """
    use, verbs = layers.asking.use, layers.whole.engine
    text = nobody(verbs).selectExpr("*", "false as equal")
    if "text" in use:
        equal = "best_number = best_witness" if state.method.tells_texts else "false"
        found = by_all(state, decision.gone.select(*LINE), ("number", "witness"))
        text = found.selectExpr(*LINE, f"{equal} as equal")
    last = len(use) - 1
    lines = text.selectExpr(
        *LINE, "equal", f"{last} as at", f"{last} as by", "cast(null as bigint) as via", "false as chained"
    )
    for number, done in reversed(list(enumerate(layers.done))):
        lines = verbs.keep(verbs.shuffled(lines))  # each is read twice: a plan would double with every layer
        later = lines.filter("rest = 0").selectExpr(  # of a document of which one copy stays, nobody follows
            "number as own", "witness as later", "num as n", "den as d", "by as b", "chained as c"
        )
        own = done.gone.withColumnRenamed("witness", "own").join(later, "own", "left").selectExpr(
            "number", "times", "coalesce(later, own) as witness", "if(later is null, num, n) as num",
            "if(later is null, den, d) as den", "rest", "false as equal", f"{number} as at",
            f"if(later is null, {number}, b) as by", "if(later is null, null, own) as via",
            f"later is not null and (c or {str(done.name != 'digest').lower()}) as chained",
        )  # fmt: skip
        lines = lines.unionByName(own)
    return _described(layers, lines)


def evident(layers: FrameLayers, lines: Any, far: str) -> Any:
    """The same with `evidence` and `same_host`, where documents have URLs.

    Args:
        layers: that know the documents.
        lines: what `settled` gave.
        far: the condition that a similarity is below the threshold, and says nothing of the two.
    """
    if not layers.has_urls:
        return lines
    beside, documents = layers.facts.beside.values(), layers.whole.documents
    pairs = lines.selectExpr("*", "same or equal as text", f"measured and not (same or equal) and not ({far}) as near")
    for end, prefix in (("number", "a"), ("witness", "b")):
        pairs = pairs.join(documents.select("number", *beside).toDF(end, *(f"{prefix}_{name}" for name in beside)), end)
    return layers.facts.evidence(pairs, layers.whole.engine)


def layer_counts(layers: FrameLayers, gone: Any) -> dict[str, Any]:
    """What statistics say of each layer, and of the evidence, of who goes by all of them."""
    told, sums = "evidence" in gone.columns, {"removed": "true", "other_text": "other", "inherited": "via is not null"}
    kinds = {kind: f"array_contains(evidence, '{kind}')" for kind in KINDS} if told else {}
    hosts = {"same_host": "same_host", "cross_host": "not same_host"} if told else {}
    asked = [f"sum(if({what}, times, 0)) as `{name}`" for name, what in {**sums, **kinds, **hosts}.items()]
    rows = [row.asDict() for row in layers.whole.engine.aggregated(gone, ["layer"], asked).collect()]
    by_layer = {row["layer"]: {name: row[name] for name in sums} for row in rows}
    counts: dict[str, Any] = {
        "layers": tuple(
            {"layer": name, "documents": layers.entered.get(name, layers.left.num), **dict.fromkeys(sums, 0)}
            | by_layer.get(name, {})
            for name in layers.asking.use
        )
    }
    if not told:
        return counts
    numbers = {name: sum(row[name] for row in rows) for name in (*kinds, *hosts)}
    counts["evidence"] = {kind: numbers[kind] for kind in kinds if numbers[kind]}
    return {**counts, **{name: numbers[name] for name in hosts}}


def _described(layers: FrameLayers, lines: Any) -> Any:
    use, documents = layers.asking.use, layers.documents
    text = ("row", "digest_a", "digest_b", "text_a", "text_b", "size")
    for end, prefix in _ENDS.items():
        lines = lines.join(
            documents.select("number", *text).toDF(end, *(f"{prefix}{name}" for name in text)), end, "left"
        )
    bytes_ = {prefix: f"({prefix}digest_a = digest_a and {prefix}digest_b = digest_b)" for prefix in ("w_", "v_")}
    same = {prefix: f"coalesce({prefix}text_a = text_a and {prefix}text_b = text_b, false)" for prefix in bytes_}
    own = [name in ("text", GUESSED) for name in use]
    said = {GUESSED: layers.asking.guesses.reports}
    measures = [None if name == "text" else said.get(name, name) for name in use]
    return lines.selectExpr(
        *LINE, "row", "equal", "via", f"{same['w_']} as same", f"{bytes_['w_']} as bytes",
        f"{_listed(use)}[at] as layer",
        f"if(chained, 'chain', {_listed(measures)}[by]) as measure",
        f"{_listed(own)}[by] and not chained as measured",
        f"coalesce(size, 0) > 0 and not if(via is null, {same['w_']}, {same['v_']}) as other",
    )  # fmt: skip


def _listed(values: Any) -> str:
    """An array in SQL."""
    spelt = (
        "null" if value is None else str(value).lower() if value in (True, False) else f"'{value}'" for value in values
    )
    return f"array({', '.join(spelt)})"
