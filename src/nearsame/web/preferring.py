"""Which of several mirrors is kept: a policy, stated once, that puts sites in order.

`most-complete`: the one with the most pages. `fastest:COLUMN`: the one whose pages have the least mean of a number.
`freshest:COLUMN`: the one with the greatest number; where not all are numbers, with the latest date. `named:HOST,HOST`:
those first, in this order.
Ties, and sites without a value: more pages, then https, then the shorter name, then the order of the alphabet.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.choices import PREFERRED, Preferred, word_of
from nearsame.stages.clusters.dates import moments

__all__ = ["Prefer"]

_POLICIES = "most-complete, fastest:COLUMN, freshest:COLUMN, named:HOST,HOST"


@dataclass(frozen=True)
class Prefer:
    """Which of several mirrors is kept: a policy, with the column or the hosts that it goes by."""

    policy: Preferred
    column: str | None = None
    hosts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The policy that a text names.

        Example:
            >>> Prefer.parse("fastest:seconds").column
            'seconds'

        Raises:
            ConfigError: There is no such policy.
        """
        name, colon, rest = text.partition(":")
        policy, hosts = (
            word_of(name, PREFERRED),
            tuple(filter(None, (host.strip().lower() for host in rest.split(",")))),
        )
        if policy == "most-complete" and not colon:
            return cls(policy)
        if policy in ("fastest", "freshest") and rest:
            return cls(policy, column=rest)
        if policy == "named" and hosts:
            return cls(policy, hosts=hosts)
        raise ConfigError(f"prefer={text!r} is not a policy", hint=f"Choose one of {_POLICIES}.")

    def ranks(self, sites: Sequence[str], of_page: Sequence[int], values: Sequence[str | None] | None) -> list[int]:
        """The rank of each site, 0 for the best.

        Args:
            sites: As in `https://example.org:8080`.
            of_page: The site of each page, by number.
            values: The column, by page.

        Raises:
            ConfigError: The column holds what the policy cannot go by, or no site has one of the hosts.
        """
        sizes = [0] * len(sites)
        for site in of_page:
            sizes[site] += 1
        wanted = self._wanted(sites, of_page, values)
        keys = [
            (wanted[number], -sizes[number], not site.startswith("https:"), len(site), site)
            for number, site in enumerate(sites)
        ]
        order = sorted(range(len(sites)), key=lambda number: keys[number])
        ranks = [0] * len(sites)
        for rank, number in enumerate(order):
            ranks[number] = rank
        return ranks

    def _wanted(self, sites: Sequence[str], of_page: Sequence[int], values: Sequence[str | None] | None) -> list[Any]:
        """What comes first: by site a value to sort by."""
        if self.policy == "named":
            return self._named(sites)
        if self.column is None or values is None:
            return [0] * len(sites)
        given = defaultdict[int, list[float]](list)
        for site, value in zip(of_page, self._read(values), strict=True):
            if value is not None:
                given[site].append(value)
        best = {site: sum(some) / len(some) if self.policy == "fastest" else -max(some) for site, some in given.items()}
        return [(site not in best, best.get(site, 0)) for site in range(len(sites))]

    def unread(self, values: Sequence[str | None]) -> int:
        """How many values of the column say nothing: they are no date, where dates are asked for."""
        return sum(map(_says, values)) - sum(value is not None for value in self._read(values))

    def _read(self, values: Sequence[str | None]) -> Sequence[float | None]:
        """What the values say, as numbers or as moments; None of what says nothing."""
        numbers = _numbers(values)
        if numbers is not None:
            return numbers
        if self.policy == "fastest":
            message = f"prefer=fastest:{self.column} needs numbers, and the column holds others"
            raise ConfigError(message, hint="Name a column of seconds or the like.")
        dates = moments(value if _says(value) else None for value in values)
        if not any(date is not None for date in dates):
            message = f"prefer=freshest:{self.column}: the column holds no numbers, and none of its values is a date"
            raise ConfigError(message, hint="Write dates as in 2024-12-31.")
        return dates

    def _named(self, sites: Sequence[str]) -> list[int]:
        names = [(site, site.partition("://")[2]) for site in sites]
        unknown = [host for host in self.hosts if not any(host in spellings for spellings in names)]
        if unknown:
            raise ConfigError(f"prefer names {unknown[0]!r}, which no page is on", hint="Leave it out, or check it.")
        places = {host: number for number, host in enumerate(self.hosts)}
        return [min(places.get(name, len(places)) for name in spellings) for spellings in names]


def _says(value: str | None) -> bool:
    """Whether there is a value: in a column of numbers NaN says that there is none."""
    return value is not None and value.strip().lower() not in ("", "nan")


def _numbers(values: Sequence[str | None]) -> list[float | None] | None:
    """The values as numbers, if all of them are; None of those that say nothing."""
    try:
        numbers = [float(value) if value is not None and _says(value) else None for value in values]
    except ValueError:
        return None
    return None if any(number is not None and math.isinf(number) for number in numbers) else numbers
