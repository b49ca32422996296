"""URLs by the sourceful: the canonical form of each, the groups of those that have one, and what each rule merges.

1. The table has a row for each URL that was read, in order; what is not a URL stays as it is there, and is counted.
2. Groups are of different URLs; the same one read twice is counted as repeated.
3. What a rule merges is found by leaving it out: so many more forms there would be without it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.inputs import Inputs
from nearsame.outputs import lists
from nearsame.outputs.tables import skipped_table
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import Degree
from nearsame.recipes.urls import RULES, CanonicalUrl
from nearsame.shares import counted
from nearsame.sources.base import Skipped
from nearsame.stages.keys.surt import surt
from nearsame.stages.keys.urls import Canonical
from nearsame.web.reading import read_urls
from nearsame.web.rules import UrlRules

__all__ = ["RuleStats", "UrlStats", "Urls", "urls"]

_GROUP = pa.schema([("group", pa.int64()), ("canonical", pa.string()), ("url", pa.string()), ("count", pa.int64())])


@dataclass(frozen=True)
class RuleStats:
    """What one rule did: URLs that it changed, forms that it merged (so many more without it), and how sure it is."""

    changed: int
    merged: int
    degree: Degree | Literal["learnt"]


@dataclass(frozen=True)
class UrlStats(InNotebooks):
    """Counts.

    Attributes:
        read: records and lines.
        without_url: of these, those that have no URL.
        unread: lines and records that could not be read.
        invalid: different texts that are not URLs; each is its own form.
        distinct: different URLs.
        canonical: different canonical forms.
        groups: forms that at least two different URLs have.
        rules: what each rule did, those that did nothing left out.
    """

    read: int
    without_url: int
    unread: int
    invalid: int
    distinct: int
    canonical: int
    groups: int
    rules: Mapping[str, RuleStats]

    def __repr__(self) -> str:
        return f"UrlStats({counted(self.distinct, 'URL')}, {self.canonical:,} canonical)"

    @property
    def merged(self) -> int:
        """How many fewer forms there are than URLs."""
        return self.distinct - self.canonical

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {**asdict(self), "merged": self.merged}


@checked
@dataclass(frozen=True)
class Urls(InNotebooks):
    """URLs and their canonical forms.

    Attributes:
        recipe: what the forms are made by.
        learnt: rules besides those of the recipe.
    """

    recipe: CanonicalUrl
    learnt: UrlRules | None
    _read: pa.ChunkedArray
    _skipped: Sequence[Skipped]
    _num_unread: int
    _inputs: Inputs

    def __repr__(self) -> str:
        return f"Urls({counted(self.stats.distinct, 'URL')}, {self.stats.canonical:,} canonical)"

    @cached_property
    def table(self) -> pa.Table:
        """A row for each that was read: url, canonical, the rules that changed something, and the least sure degree."""
        urls = self._read.to_pylist()
        known = [None if url is None else self._forms[url] for url in urls]
        forms = [None if trace is None else trace[0] for trace in known]
        rules = [None if trace is None else ",".join(trace[1]) for trace in known]
        degrees = [None if trace is None else self.recipe.degree(trace[1]) for trace in known]
        columns = [pa.array(cells, pa.large_string()) for cells in (urls, forms, rules, degrees)]
        return pa.table(columns, names=["url", "canonical", "rules", "degree"])

    def with_surt(self) -> pa.Table:
        """The table with a fifth column, the SURT of each canonical URL."""
        surts = [None if form is None else surt(form) for form in self.table.column("canonical").to_pylist()]
        return self.table.append_column("surt", pa.array(surts, pa.large_string()))

    @cached_property
    def groups(self) -> pa.Table:
        """A row for each URL of the groups: the group's number, the canonical form, the URL, how often it was read."""
        counts = Counter(url for url in self._read.to_pylist() if url is not None)
        rows = [
            (number, form, url, counts[url])
            for number, (form, members) in enumerate(self._groups.items())
            for url in members
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(_GROUP)
        return pa.table([pa.array(c, field.type) for c, field in zip(columns, _GROUP, strict=True)], schema=_GROUP)

    @cached_property
    def stats(self) -> UrlStats:
        """How many URLs were read, how many canonical ones and groups they make, and what each rule changed."""
        changed = Counter(rule for _, rules, _ in self._forms.values() for rule in rules)
        return UrlStats(
            read=len(self._read) + self._num_unread,
            without_url=self._read.null_count,
            unread=self._num_unread,
            invalid=sum(not valid for _, _, valid in self._forms.values()),
            distinct=len(self._forms),
            canonical=len({form for form, _, _ in self._forms.values()}),
            groups=len(self._groups),
            rules={
                rule: RuleStats(changed[rule], self._merged(rule), self.recipe.degree([rule]))
                for rule in (*RULES, "learnt")
                if changed[rule]
            },
        )

    @property
    def skipped(self) -> pa.Table:
        """The lines and records that could not be read."""
        return skipped_table(self._skipped)

    def write(
        self,
        path: str | Path,
        *,
        groups: bool = False,
        surt: bool = False,
        overwrite: bool = False,
        spreadsheet: bool = False,
    ) -> None:
        """Write the table in the format of its name (.jsonl, .csv.gz, .parquet ...), complete or not at all.

        Args:
            path: The file.
            groups: Whether the groups are written, in place of the table.
            surt: Whether the table has a column of SURTs, too.
            overwrite: Whether a file that is there is replaced.
            spreadsheet: Whether in .csv a text that a spreadsheet would take for a formula gets a ' before it.

        Raises:
            OutputError: The file cannot be written, or is a source.
        """

        def table() -> pa.Table:
            return self.groups if groups else self.with_surt() if surt else self.table

        lists.write_file(path, table, self._inputs, overwrite=overwrite, spreadsheet=spreadsheet)

    @cached_property
    def _forms(self) -> dict[str, tuple[str, tuple[str, ...], bool]]:
        """Of each different URL the form, the rules that made it, and whether it is a URL."""
        transform, forms = Canonical(self.recipe), {}
        for url in dict.fromkeys(url for url in self._read.to_pylist() if url is not None):
            form, rules, valid = transform.trace(url)
            if self.learnt is not None and (learnt := self.learnt.apply(form)) != form:
                form, rules = learnt, (*rules, "learnt")
            forms[url] = form, rules, valid
        return forms

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for url, (form, _, _) in self._forms.items():
            groups.setdefault(form, []).append(url)
        return {form: members for form, members in groups.items() if len(members) > 1}

    def _merged(self, rule: str) -> int:
        """How many more forms there were without a rule."""
        transform = self.recipe if rule == "learnt" else self.recipe.without(rule)
        without, learnt = Canonical(transform), self.learnt if rule != "learnt" else None
        more = 0
        for members in self._groups.values():
            changed = [url for url in members if rule in self._forms[url][1]]
            if changed:
                forms = {_through(without, learnt, url) for url in changed}
                more += len(forms | ({self._forms[members[0]][0]} if len(changed) < len(members) else set())) - 1
        return more


def _through(transform: Canonical, learnt: UrlRules | None, url: str) -> str:
    form = transform(url)
    return form if learnt is None else learnt.rewritten(form)


@checked
def urls(
    source: Any,
    *,
    recipe: CanonicalUrl | None = None,
    rules: UrlRules | None = None,
    url_column: str = "url",
    engine: Any = None,
) -> Urls:
    """Bring URLs to their canonical forms.

    Args:
        source: A text file of URLs, one a line, or `-` for standard input; whatever `dedup` reads, with a column of
            URLs; a list of URLs; a tuple of such.
        recipe: Which differences do not count; by default that of `rules`, else `CanonicalUrl()`.
        rules: Learnt rules, applied besides those of the recipe.
        url_column: The column of URLs.
        engine: `Spark(session)` reads the source on Spark; its URLs come to the driver, in the order of their letters.

    Raises:
        ConfigError: The rules are about canonical URLs of another recipe.
        ColumnError: A source has no such column.

    Example:
        >>> found = urls(["http://example.org/?utm_id=1", "https://example.org/", "https://example.org/b"])
        >>> found.stats.canonical, found.groups.column("url").to_pylist()
        (2, ['http://example.org/?utm_id=1', 'https://example.org/'])
    """
    if recipe is not None and rules is not None and recipe.record() != rules.recipe.record():
        raise ConfigError("recipe and rules.recipe differ", hint="Leave recipe out, or learn the rules with it.")
    made = recipe or (rules.recipe if rules is not None else CanonicalUrl())
    inputs = Inputs.of(source)
    return Urls(made, rules, *read_urls(source, url_column, engine), inputs)
