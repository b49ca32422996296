"""The line that installs an extra is the one that works here."""

from importlib import metadata
from pathlib import Path

import pytest

from nearsame.errors import MissingExtraError
from nearsame.installation import _command, install_command, versions

WAYS = {
    "the package index": ("pip", {}, "pip install 'nearsame[web]'"),
    "the package index, by uv": ("uv", {}, "uv pip install 'nearsame[web]'"),
    "a checkout": ("pip", {"url": "file:///opt/a%20b", "dir_info": {}}, "pip install '/opt/a b[web]'"),
    "an editable checkout": (
        "pip",
        {"url": "file:///opt/code", "dir_info": {"editable": True}},
        "pip install -e '/opt/code[web]'",
    ),
    "a repository": (
        "pip",
        {"url": "https://example.org/nearsame.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
        "pip install 'nearsame[web] @ git+https://example.org/nearsame.git'",
    ),
    "a wheel": (
        "pip",
        {"url": "file:///tmp/nearsame-1-py3-none-any.whl", "archive_info": {}},
        "pip install 'nearsame[web] @ file:///tmp/nearsame-1-py3-none-any.whl'",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_command_is_that_of_the_installation(way: str) -> None:
    """A name on the package index is not what somebody with a checkout can install from."""
    installer, origin, expected = WAYS[way]
    assert expected == _command(installer, origin, "web")


def test_in_the_checkout_the_command_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A dot, as people type it."""
    monkeypatch.chdir(tmp_path)
    origin = {"url": tmp_path.resolve().as_uri(), "dir_info": {}}
    assert "pip install '.[serve]'" == _command("pip", origin, "serve")


def test_every_extra_in_a_hint_exists(root: Path) -> None:
    """What sources ask for by name is in pyproject.toml."""
    import re
    import tomllib

    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    sources = "".join(path.read_text("utf-8") for path in (root / "src").rglob("*.py"))
    named = set(re.findall(r"MissingExtraError\.of\([^)]*\"(\w+)\"\)|install_command\(\"(\w+)\"\)", sources))
    found = {name for pair in named for name in pair if name}
    assert found <= set(extras)
    assert {"serve", "spark", "report", "web", "postgres"} <= found


def test_the_readme_lists_every_extra(root: Path) -> None:
    """With what it is for, and its size."""
    import re
    import tomllib

    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    readme = (root / "README.md").read_text("utf-8")
    assert set(extras) == set(re.findall(r"^\| `(\w+)`: .+ \| [\d,.]+ MB \|$", readme, re.MULTILINE))


def test_only_one_place_names_the_package_index(root: Path) -> None:
    """Hints ask for the command, and pages install from a checkout: the name at an index may be somebody else's."""
    texts = [*(root / "src").rglob("*.py"), *(root / "docs").rglob("*.md"), *(root / "examples").iterdir()]
    guilty = [
        path.relative_to(root).as_posix()
        for path in (*texts, root / "README.md")
        if path.is_file() and "pip install 'nearsame" in path.read_text("utf-8") and path.name != "installation.py"
    ]
    assert [] == guilty


def test_the_hint_is_the_command() -> None:
    """Ready to be pasted."""
    assert f"Run: {install_command('web')}" == MissingExtraError.of("x is not installed", "web").hint


def test_versions_are_those_that_the_index_of_packages_tells():
    """They are read off names of folders, whatever the spelling; what is not installed is left out."""
    names = ["numpy", "pyarrow", "xxhash", "Typing.Extensions", "pydantic_core", "no-such-package"]
    assert {name: metadata.version(name) for name in names[:-1]} == versions(names)


def test_what_comes_first_is_what_is_imported(tmp_path, monkeypatch):
    """Two folders may hold two versions of a package."""
    for folder, name in (("one", "some_package-2.0.dist-info"), ("two", "Some.Package-1.0-py3.11.egg-info")):
        (tmp_path / folder / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    monkeypatch.setattr(
        "sys.path", [str(tmp_path / "gone"), str(tmp_path / "file"), str(tmp_path / "one"), str(tmp_path / "two")]
    )
    assert {"some-package": "2.0"} == versions(["some-package"])
