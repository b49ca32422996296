"""Which files an output folder has, and which it must have: nothing else may lie there."""

import os
from collections.abc import Iterator
from pathlib import Path

from nearsame.proofs.claims import Claims
from nearsame.proofs.places import annotations_of, copies_of
from nearsame.proofs.verdict import Findings

__all__ = ["check_files"]

_ALWAYS = (b"stats.json", b"removed.parquet", b"clusters.parquet", b"sources.parquet")
_UPLOADED = b"_nearsame.json"  # lists the files of an output at an address, from where this may be a copy
_MOST = 20  # strange files that are named


def check_files(claims: Claims, findings: Findings) -> None:
    """Report what is there and nobody wrote, and tables that should be there; of kept/, `Kept` says what is missing."""
    expected = {*_ALWAYS, *_tables(claims)}
    for part in claims.parts:
        annotations = annotations_of(claims, part)
        expected |= {*copies_of(claims, part), *([] if annotations is None else [annotations])}
    present = set(_files(claims.home)) - {_UPLOADED}
    findings.count("files", len(present))
    strange = sorted(present - expected)
    for name in sorted(present & expected):
        if (claims.home / os.fsdecode(name)).is_symlink():
            findings.wrong(os.fsdecode(name), "it is a link, and nobody wrote one")
    for name in strange[:_MOST]:
        findings.wrong(os.fsdecode(name), "no source or table stands for this file")
    if len(strange) > _MOST:
        findings.wrong(str(claims.home), f"and {len(strange) - _MOST:,} more files that no source or table stands for")
    for name in sorted(
        set(_tables(claims)) - present - {b"pairs.parquet", b"mask.parquet"}
    ):  # who looks at these, says that they are missing
        findings.wrong(os.fsdecode(name), "it is missing")


def _tables(claims: Claims) -> Iterator[bytes]:
    if claims.has_mask:
        yield b"mask.parquet"
    if claims.written["pairs"]:
        yield b"pairs.parquet"
    if claims.stats.get("skipped"):
        yield b"skipped.parquet"
    if claims.method.needs_frequencies:
        yield b"frequencies.parquet"


def _files(home: Path) -> Iterator[bytes]:
    """All files, links among them, by their paths below the folder; folders that hold nothing, too."""
    for path in home.rglob("*"):
        is_file = path.is_symlink() or not path.is_dir()
        if is_file or (path != home / "kept" and not any(path.iterdir())):
            yield os.fsencode(path.relative_to(home))
