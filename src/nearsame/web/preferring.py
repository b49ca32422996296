"""Which of several mirrors is kept: a policy, stated once, that puts sites in order.

`most-complete`: the one with the most pages. `fastest:COLUMN`: the one whose pages have the least mean of a number.
`freshest:COLUMN`: the one with the greatest value, a number or a date. `named:HOST,HOST`: those first, in this order.
Ties, and sites without a value: more pages, then https, then the shorter name, then the order of the alphabet.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.choices import PREFERRED, Preferred, word_of

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
        given = defaultdict[int, list[str]](list)
        for site, value in zip(of_page, values, strict=True):
            if value:
                given[site].append(value)
        numbers = _numbers(given)
        if self.policy == "fastest":
            if numbers is None:
                message = f"prefer=fastest:{self.column} needs numbers, and the column holds others"
                raise ConfigError(message, hint="Name a column of seconds or the like.")
            means = {site: sum(seconds) / len(seconds) for site, seconds in numbers.items()}
            return [(site not in means, means.get(site, 0.0)) for site in range(len(sites))]
        latest: dict[int, Any] = {site: max(dates) for site, dates in (numbers or given).items()}
        place = {value: -number for number, value in enumerate(sorted(set(latest.values())))}
        return [(site not in latest, place[latest[site]] if site in latest else 0) for site in range(len(sites))]

    def _named(self, sites: Sequence[str]) -> list[int]:
        names = [(site, site.partition("://")[2]) for site in sites]
        unknown = [host for host in self.hosts if not any(host in spellings for spellings in names)]
        if unknown:
            raise ConfigError(f"prefer names {unknown[0]!r}, which no page is on", hint="Leave it out, or check it.")
        places = {host: number for number, host in enumerate(self.hosts)}
        return [min(places.get(name, len(places)) for name in spellings) for spellings in names]


def _numbers(given: dict[int, list[str]]) -> dict[int, list[float]] | None:
    """The values as numbers, where all of them are."""
    try:
        return {site: [float(value) for value in values] for site, values in given.items()}
    except ValueError:
        return None
