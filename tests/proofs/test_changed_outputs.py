"""Whatever is changed in an output is told, and nothing of it is an error: found by walking through all of its values.

1. Changes are made mechanically (`changes.py`), of outputs of every kind (`outputs.py`).
2. What may be changed unnoticed stands in `FREE`, with the reason; nothing else may.
"""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import nearsame as ns
from tests.proofs import changes
from tests.proofs.outputs import KINDS, make

# What changes unnoticed, by file and place: where a value decides nothing of what can be told from the sources.
FREE = {
    r"stats\.json notes.*": "sentences for people",
    r"stats\.json (thread_)?seconds.*": "time that a run took",
    r"stats\.json room.*": "how a run used the memory",
    r"stats\.json versions\..*": "packages that were installed then",
    r"stats\.json (compared|comparing\..*|meeting)": "how much work a run had",
    r"stats\.json audit\.(below.*|sampled|residual.*|precision.*|recall.*)": "a sample that the run drew",
    r"stats\.json component\.(least_similarity|bridges|number|documents|distinct)": "of a graph that is not made again",
    r"stats\.json recipe\.(seed|num_perm|bands|rows|recall|sketch|choice)": "by what pairs were looked for",
    r"stats\.json recipe\.(modulus|floor|k|zero_bit|frequencies|feature_hash|blocks|header)": "likewise",
    r"stats\.json recipe\.urls\..*": "a rule that none of these URLs is about",
    r"stats\.json recipe\.stop_words\.[12]": "a word that no text here has",
    r"stats\.json recipe\.(repeats|keep_punctuation|jaccard_floor)": "nothing here for it to make a difference",
    r"stats\.json recipe\.(keep_case|nfkc|strip_accents|overlapping|whitespace|algorithm)": "no text here for it",
    r"sources\.parquet mtime_ns\[\d+\]": "a copy of a source has another time, which is noted",
    r"sources\.parquet columns\.(text|id|asked_of_pages|beside\.0)": "the same column by its name, or one not there",
    r"sources\.parquet written\.(drop_unreadable|copy_files)": "nothing here for it to make a difference",
    r"skipped\.parquet reason\[\d+\]": "a sentence for people",
    r"frequencies\.parquet .*": "numbers of features by a hash that is not made again",
    r"pairs\.parquet (exact_)?[ab]_in_[ab]\[\d+\]": "of fingerprints, which are not made again",
    r"removed\.parquet (similarity|measure)\[\d+\]": "an estimate, which is not made again",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Outputs by kind, made when they are asked for."""
    return _Outputs(tmp_path_factory)


class _Outputs(dict[str, Path]):
    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders

    def __missing__(self, kind: str) -> Path:
        home = make(kind, self._folders.mktemp(kind))
        shutil.copytree(home, home.parent / "good")
        assert ns.verify(home).holds
        self[kind] = home
        return home


def _unnoticed(home: Path, those: Iterable[changes.Change], *, may_be_the_same: bool = False) -> list[str]:
    """The changes after which everything is said to hold; the output is as before after each."""
    good, found = home.parent / "good", []
    for change in those:
        target = home / change.file
        change.apply(home)
        if change.file != "stats.json":
            _count_bytes(home)  # else their number alone would tell
        if _holds(home, change):
            if change.file == "stats.json":
                places = changes.differing(target, good / change.file)
                found += [f"{change.file} {place}: {change.what}" for place in places]
            elif not (may_be_the_same and changes.same_meaning(target, good / change.file)):
                found.append(str(change))
        _put_back(target, good / change.file)
        shutil.copy2(good / "stats.json", home / "stats.json")
    return [each for each in found if not any(re.match(rf"{free}( |:|$)", each) for free in FREE)]


def _count_bytes(home: Path) -> None:
    path = home / "stats.json"
    stats = json.loads(path.read_text("utf-8"))
    files = [each for each in home.rglob("*") if each.is_file() and each != path]
    stats["bytes"]["writing"]["out"] = sum(each.stat().st_size for each in files)
    path.write_text(json.dumps(stats), "utf-8")


def _holds(home: Path, change: changes.Change) -> bool:
    try:
        return ns.verify(home).holds
    except ns.SourceError as error:  # another version has made it: then it is not told to be wrong
        assert change.where == "recipe.tokeniser", error  # noqa: PT017  (no other error is looked for)
        return False


def _put_back(target: Path, good: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    if good.exists():
        shutil.copy2(good, target)


def _some(those: Iterable[changes.Change]) -> list[changes.Change]:
    """The first change of each place."""
    return list({(change.file, change.where): change for change in reversed(list(those))}.values())


def _tables(home: Path) -> list[str]:
    return sorted(path.name for path in home.glob("*.parquet"))


@pytest.mark.slow
def test_a_value_of_the_statistics_that_is_changed_is_told(outputs: dict[str, Path]) -> None:
    """Each leaf of stats.json, the recipe's among them."""
    assert _unnoticed(outputs["plain"], _some(changes.of_json(outputs["plain"]))) == []


def test_what_the_list_of_sources_says_beside_is_told(outputs: dict[str, Path]) -> None:
    """The columns that were read, and how the output was written."""
    assert _unnoticed(outputs["plain"], changes.of_metadata(outputs["plain"])) == []


@pytest.mark.slow
def test_a_column_of_a_table_that_is_changed_is_told(outputs: dict[str, Path]) -> None:
    """A cell of each, its type, its name; rows lost and doubled."""
    home = outputs["plain"]
    assert _unnoticed(home, _some(changes.of_tables(home, _tables(home)))) == []


def test_the_columns_of_a_kept_table_are_those_of_its_source(outputs: dict[str, Path]) -> None:
    """Values, types, names and metadata."""
    assert _unnoticed(outputs["plain"], _some(changes.of_tables(outputs["plain"], ["kept/d.parquet"]))) == []


@pytest.mark.parametrize("kind", ["plain", "texts"])
def test_files_that_are_lost_or_strange_are_told(outputs: dict[str, Path], kind: str) -> None:
    """Deleted, emptied, folders in their place, and files that no source stands for."""
    assert _unnoticed(outputs[kind], changes.of_files(outputs[kind])) == []


def test_damage_is_told_with_its_file(outputs: dict[str, Path]) -> None:
    """Cut files, and bits turned: unless all values are the same."""
    assert _unnoticed(outputs["plain"], changes.damages(outputs["plain"], 997), may_be_the_same=True) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_change_of_every_kind_of_output_is_told(outputs: dict[str, Path], kind: str) -> None:
    """All values of all files; of the plainest, in several ways."""
    home = outputs[kind]
    kept = [str(path.relative_to(home)) for path in (home / "kept").rglob("*.parquet")]
    walk = [changes.of_json(home), changes.of_metadata(home), changes.of_tables(home, [*_tables(home), *kept])]
    several = [[*those] if kind == "plain" else _some(those) for those in walk]
    assert [each for those in [*several, changes.of_files(home)] for each in _unnoticed(home, those)] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_damage_of_every_kind_of_output_is_told(outputs: dict[str, Path], kind: str) -> None:
    """Every file of it."""
    assert _unnoticed(outputs[kind], changes.damages(outputs[kind], 499), may_be_the_same=True) == []
