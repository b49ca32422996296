"""Features without boilerplate: what too many documents have, or too large a share of a host's documents.

1. All is counted before anything is dropped, over all documents of both sides.
2. Hosts are counted by what counts all documents together: see stages/features/host_boilerplate.py.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from nearsame import arrow, schemas
from nearsame.clock import Clock
from nearsame.engines.base import Engine, Stage
from nearsame.flow.corpus import Corpus, Dropped, DroppedOfHost
from nearsame.kernels.boilerplate import Slots
from nearsame.recipes.methods import Method
from nearsame.stages.features import host_boilerplate
from nearsame.stages.features.boilerplate import Boilerplate, WithoutBoilerplate, shares
from nearsame.stages.features.document_facts import CountBare
from nearsame.stages.features.host_boilerplate import ByHost, HostBoilerplate, HostCounts, Hosts, WithoutHostBoilerplate
from nearsame.stages.keys.prefix import CountItems, plan_counting

__all__ = ["hosts_for", "without_boilerplate"]


def hosts_for(corpus: Corpus, method: Method) -> Callable[[], Hosts] | None:
    """What gives the hosts of all documents once they have been read, where a method asks for them.

    Raises:
        ConfigError: It asks, and nobody can tell.
    """
    share = method.get("boilerplate_per_host")
    return None if share is None else corpus.hosts_by(float(share))


def without_boilerplate(
    features: Any, corpus: Corpus, method: Method, clock: Clock, all_hosts: Callable[[], Hosts] | None
) -> tuple[Any, Dropped]:
    """The features without what is to be dropped, and what that was."""
    most, share = method.get("drop_boilerplate"), method.get("boilerplate_per_host")
    engine = corpus.engine
    output = schemas.LETTERED if method.weighs_items else schemas.FEATURES
    stage: Stage
    with clock("boilerplate"):
        if share is not None and all_hosts is not None:
            by_host, dropped = _of_hosts(features, corpus, share, all_hosts())
            stage = replace(by_host, output=output)
        else:
            common = _frequent(features, corpus.slots(features), most, engine)
            stage = WithoutBoilerplate.of(common, output)
            dropped = Dropped(common.items.size, int(common.counts.sum()))
        left = corpus.kept(engine.map(features, stage))
        before, after = (sum(engine.fold(flow, CountBare())) for flow in (features, left))
    return left, replace(dropped, documents=after - before)


def _of_hosts(features: Any, corpus: Corpus, share: Fraction, hosts: Hosts) -> tuple[WithoutHostBoilerplate, Dropped]:
    """What drops the boilerplate of each host, and what that is."""
    by_host, engine = ByHost.of(hosts), corpus.engine
    frequent = _frequent(
        engine.map(features, by_host), corpus.slots(features), host_boilerplate.LEAST_DOCUMENTS - 1, engine
    )
    counted: HostCounts = engine.fold(features, host_boilerplate.OfHosts(by_host, frequent.items))
    common = HostBoilerplate.of(frequent, counted, share)
    size = len(hosts.names)
    num_shingles = np.bincount(common.hosts, minlength=size)
    occurrences = np.bincount(common.hosts, common.counts, size).astype(np.int64)
    of_hosts = [
        DroppedOfHost(
            hosts.names[host], *(int(column[host]) for column in (counted.documents, num_shingles, occurrences))
        )
        for host in np.flatnonzero(num_shingles).tolist()
    ]
    of_hosts.sort(key=lambda dropped: (-dropped.occurrences, dropped.host))
    stage = WithoutHostBoilerplate(by_host, common)
    return stage, Dropped(common.items.size, int(common.counts.sum()), hosts=tuple(of_hosts))


def _frequent(features: Any, num_items: int, most: int, engine: Engine) -> Boilerplate:
    """The items that stand in more than `most` documents."""
    counting = plan_counting(num_items, engine.table_bytes)
    parts = []
    for number in range(counting.passes):
        table = engine.fold(features, CountItems(counting, number))
        shift = np.uint64(counting.shift)
        slots = Slots(counting.base(number), shift, 1 << counting.bits, counting.nibbles, arrow.frozen(table))
        parts += [share.close(engine.fold(features, share)) for share in shares(slots, most, engine.table_bytes)]
    return Boilerplate.of(parts)
