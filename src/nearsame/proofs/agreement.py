"""Whether the tables of an output agree: clusters and pairs are what removed.parquet makes of them, value by value."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.named import NamedTuple
from nearsame.proofs import tables
from nearsame.proofs.claims import Claim, Claims, key_of
from nearsame.proofs.verdict import Findings
from nearsame.recipes.methods import Method

__all__ = ["SHARES", "Shares", "check_pairs", "check_tables", "measure_problem"]

_OF_FINGERPRINTS = "exact"  # besides the shares of fingerprints, those of the documents
# What pairs say besides their similarity, by the name of the method.
SHARES = {
    "containment": ("a_in_b", "b_in_a"),
    "modp": ("a_in_b", "b_in_a", _OF_FINGERPRINTS, "exact_a_in_b", "exact_b_in_a"),
}
_WHO = ("id", "source", "row")
_EVIDENCE = ("evidence", "same_host")


class Shares(NamedTuple):
    """Of a removed document and its witness: their Jaccard similarity, and how much of each is in the other."""

    exact: float
    in_witness: float
    of_witness: float


def check_tables(claims: Claims, findings: Findings) -> None:
    """Report what the tables say of each other that is not so."""
    _check_places(claims, findings)
    _check_numbers(claims, findings)
    _check_chains(claims, findings)
    _check_clusters(claims, findings)
    if claims.has_mask:
        _check_mask(claims, findings)


def place(line: int) -> str:
    """A line of removed.parquet."""
    return f"removed.parquet, line {line}"


def _check_places(claims: Claims, findings: Findings) -> None:
    again = np.flatnonzero(np.diff(claims.sorted_keys) == 0)
    for line in claims.order[again + 1].tolist():
        claim = claims.claim(line)
        if claims.keys[line] >= 0:
            findings.wrong(place(line), f"{claim.source}, record {claim.row}, is removed twice")
    for line in np.flatnonzero((claims.keys < 0) | (claims.witnesses < 0)).tolist():
        claim = claims.claim(line)
        name = claim.source if claims.keys[line] < 0 else claim.witness_source
        findings.wrong(place(line), f"{name} is not one of the sources")
    known = claims.witnesses[claims.witnesses >= 0]
    for line in np.flatnonzero(np.isin(claims.witnesses, claims.keys) & (claims.witnesses >= 0)).tolist():
        claim = claims.claim(line)
        if sum(part.name == claim.witness_source for part in claims.parts) == 1:
            what = f"its witness, {claim.witness_source}, record {claim.witness_row}, is removed itself"
            findings.wrong(place(line), what)
    findings.count("witnesses", int(np.unique(known).size))


def _check_numbers(claims: Claims, findings: Findings) -> None:
    """A cluster has one witness, and a witness one cluster."""
    seen: dict[Any, Any] = {}
    names = ("cluster", "witness_source", "witness_row")
    columns = (claims.removed.column(name).to_pylist() for name in names)
    for line, (cluster, source, row) in enumerate(zip(*columns, strict=True)):
        witness = (source, row)
        if seen.setdefault(cluster, witness) != witness or seen.setdefault(witness, cluster) != cluster:
            findings.wrong(place(line), f"cluster {cluster} is not the one of its witness, {source}, record {row}")
    for line, measure in enumerate(claims.removed.column("measure").to_pylist()):
        if problem := measure_problem(claims, claims.claim(line) if measure != claims.method.reports else None):
            findings.wrong(place(line), problem)


def measure_problem(claims: Claims, claim: Claim | None) -> str:
    """What is wrong with the measure of a row, which is not the method's (None: it is)."""
    use = claims.recipe.get("use")
    if claim is None or (claim.measure == "component" and claims.recipe["clusters"] == "components"):
        return ""
    own = {measure for name in use or () for measure in _own_measures(claims, name)}
    if use is None or claim.measure not in {"chain", *own}:
        return f"measure {claim.measure!r} is not one of this run"
    return ""


def _own_measures(claims: Claims, layer: str) -> tuple[str, ...]:
    """What the rows of a layer may measure."""
    match layer:
        case "text":
            return claims.method.reports, "component"
        case "index":
            return "jaccard", "estimated", "hamming", "cosine", "edit", "digest", "url"
        case "url-guess":
            return (claims.recipe["guesses"]["method"],)
        case _:
            return (layer,)


def _check_chains(claims: Claims, findings: Findings) -> None:
    """Layers: what lost its witness to a later layer goes by what that one went for."""
    use = claims.recipe.get("use")
    if (use is not None) != ("layer" in claims.removed.column_names):
        findings.wrong("removed.parquet", "it has the columns of layers, or the recipe does, and not both")
        return
    if use is None:
        return
    lines = {(line["source"], line["row"]): line for line in claims.removed.to_pylist()}
    for number, line in enumerate(lines.values()):
        via = lines.get((line["via_source"], line["via_row"]))
        for problem in _chain_problems(line, via, {name: _own_measures(claims, name) for name in use}):
            findings.wrong(place(number), problem)
        findings.count("inherited witnesses", line["via_source"] is not None)


def _chain_problems(
    line: Mapping[str, Any], via: Mapping[str, Any] | None, own: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """What is wrong with a line; `own` are the measures that each layer has, in their order."""
    layer, use = line["layer"], list(own)
    if layer not in own:
        yield f"layer {layer!r} is not one of {', '.join(use)}"
        return
    if len({line[f"via_{name}"] is None for name in _WHO}) > 1:
        yield "it says half of what `via` is"
        return
    if line["via_source"] is None:
        if line["measure"] not in own[layer]:
            yield f"measure {line['measure']!r} is not that of layer {layer}"
        return
    same = ("witness_id", "witness_source", "witness_row", "similarity", "cluster")
    if via is None or via["id"] != line["via_id"] or any(via[name] != line[name] for name in same):
        yield "what it says of `via` is not what `via` went for"
        return
    is_chain = via["measure"] == "chain" or layer != "digest"
    if line["measure"] != ("chain" if is_chain else via["measure"]):
        yield f"measure {line['measure']!r} does not follow from that of `via`, {via['measure']!r}"
    if via["layer"] not in use or use.index(via["layer"]) <= use.index(layer):
        yield f"`via` went in layer {via['layer']}, which does not come after {layer}"


def _check_clusters(claims: Claims, findings: Findings) -> None:
    removed = claims.removed
    table = tables.read(claims.home, "clusters.parquet", tables.CLUSTERS, findings, claims.look)
    if table is None:
        return
    more = [name for name in _EVIDENCE if name in removed.column_names]
    names = ["witness_id", "witness_source", "witness_row", "cluster"]
    keepers = removed.group_by(names).aggregate([]).select(names).rename_columns([*_WHO, "cluster"])
    wanted = pa.concat_tables(
        [
            _with_role(removed.select([*_WHO, "cluster", "similarity", *more]), "removed"),
            _with_role(keepers.append_column("similarity", pa.array(np.ones(len(keepers)))), "keeper"),
        ],
        promote_options="default",
    )
    findings.count("lines of clusters.parquet", len(table))
    _same_lines(findings, "clusters.parquet", table, wanted)


def _check_mask(claims: Claims, findings: Findings) -> None:
    table = tables.read(claims.home, "mask.parquet", tables.MASK, findings, claims.look)
    if table is None:
        return
    parts, rows = (table.column(name).to_pylist() for name in ("part", "row"))
    keys = [key_of(part, row) for part, row in zip(parts, rows, strict=True)]
    findings.count("lines of mask.parquet", len(keys))
    if keys != claims.sorted_keys.tolist():
        findings.wrong("mask.parquet", "it does not list the documents of removed.parquet, in the order of reading")
    findings.note("nothing was copied: mask.parquet says what goes, and `nearsame apply` makes the copies")


def _with_role(table: pa.Table, role: str) -> pa.Table:
    return table.append_column("role", pa.repeat(pa.scalar(role), len(table)))


def check_pairs(claims: Claims, shares: Mapping[int, Shares], findings: Findings) -> None:
    """Hold pairs.parquet to the removed documents, of which `shares` are known by line where pairs say them."""
    is_there = (claims.home / "pairs.parquet").exists()
    if not claims.written["pairs"]:
        if is_there:
            findings.wrong("pairs.parquet", "it exists, though no pairs were asked for")
        return
    table = tables.read(claims.home, "pairs.parquet", tables.PAIRS, findings, claims.look)
    if table is None:
        return
    by_content = claims.recipe["ties"] == "content"
    lines = claims.removed.to_pylist()
    wanted = [
        _pair(line, by_content or claims.witnesses[number] < claims.keys[number], claims.method, shares.get(number))
        for number, line in enumerate(lines)
    ]
    columns = SHARES.get(claims.method.name, ())
    schema = pa.schema({**tables.PAIRS.columns, **dict.fromkeys(columns, pa.float64())})
    findings.count("pairs", len(table))
    if _OF_FINGERPRINTS in columns:  # the other shares are of fingerprints, which are not made here
        free = [name for name in ("a_in_b", "b_in_a") if name in table.column_names]
        table, schema = table.drop_columns(free), pa.schema([field for field in schema if field.name not in free])
    _same_lines(findings, "pairs.parquet", table, pa.Table.from_pylist(wanted, schema))


def _pair(line: Mapping[str, Any], witness_first: Any, method: Method, shares: Shares | None) -> dict[str, Any]:
    sides = ("witness_", "") if witness_first else ("", "witness_")
    ends = {f"{end}_{name}": line[f"{side}{name}"] for end, side in zip("ab", sides, strict=True) for name in _WHO}
    pair = {**ends, "similarity": line["similarity"], "measure": line["measure"]}
    columns = SHARES.get(method.name, ())
    if not columns:
        return pair
    nan = float("nan")
    exact, inside, around = shares or Shares(nan, nan, nan)
    both = (around, inside) if witness_first else (inside, around)
    return pair | dict(zip(columns, (*both, exact, *both) if _OF_FINGERPRINTS in columns else both, strict=False))


def _same_lines(findings: Findings, name: str, written: pa.Table, wanted: pa.Table) -> None:
    """Whether two tables have the same columns and lines, in any order."""
    if sorted(written.column_names) != sorted(wanted.column_names):
        what = f"its columns are {', '.join(written.column_names)}, and should be {', '.join(wanted.column_names)}"
        findings.wrong(name, what)
        return
    mine, theirs = (Counter(map(repr, table.select(written.column_names).to_pylist())) for table in (written, wanted))
    if len(written) != len(wanted):
        findings.wrong(name, f"{len(written):,} lines, where removed.parquet asks for {len(wanted):,}")
    for line in list(mine - theirs)[:1]:
        findings.wrong(name, f"{line} is not what removed.parquet says")
    for line in list(theirs - mine)[:1]:
        findings.wrong(name, f"{line} is missing, which is in removed.parquet")
