"""samesame: find the documents that are the same, and nearly the same. The public names, and nothing else.

They load on first use, so that `samesame --help` does not wait for Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from samesame._version import __version__

if TYPE_CHECKING:
    from samesame.answers import Pairs, Result
    from samesame.api import dedup, pairs
    from samesame.canonical import CanonicalUrl
    from samesame.engines.spark import Spark
    from samesame.errors import (
        ColumnError,
        ConfigError,
        EngineError,
        IndexMismatchError,
        MissingExtraError,
        OutputError,
        SameSameError,
        SourceError,
        StoreBusyError,
        StoreError,
        TooManyPairsError,
        UnknownIdError,
        WorkdirError,
    )
    from samesame.evaluation import evaluate
    from samesame.explaining import explain
    from samesame.findings import Evaluation, Plan, SimHashPlan
    from samesame.index.index import Index
    from samesame.matches import Added, Entry, Group, IndexStats, Likeness, Match
    from samesame.methods import Containment, Digest, Hyperplane, Jaccard, MinHash, ModP, SimHash
    from samesame.outputs.reports import write_evaluation
    from samesame.planning import plan, plan_simhash
    from samesame.questions import compare
    from samesame.results import Comparison, Explanation
    from samesame.stages.keys.surt import surt
    from samesame.stages.keys.urls import canonical_url
    from samesame.web.dust import Learning, learn_urls
    from samesame.web.mirrors import Mirrors, mirrors
    from samesame.web.prefixes import MirrorThresholds
    from samesame.web.rules import UrlRules
    from samesame.web.urls import Urls, urls

__all__ = [
    "Added",
    "CanonicalUrl",
    "ColumnError",
    "Comparison",
    "ConfigError",
    "Containment",
    "Digest",
    "EngineError",
    "Entry",
    "Evaluation",
    "Explanation",
    "Group",
    "Hyperplane",
    "Index",
    "IndexMismatchError",
    "IndexStats",
    "Jaccard",
    "Learning",
    "Likeness",
    "Match",
    "MinHash",
    "MirrorThresholds",
    "Mirrors",
    "MissingExtraError",
    "ModP",
    "OutputError",
    "Pairs",
    "Plan",
    "Result",
    "SameSameError",
    "SimHash",
    "SimHashPlan",
    "SourceError",
    "Spark",
    "StoreBusyError",
    "StoreError",
    "TooManyPairsError",
    "UnknownIdError",
    "UrlRules",
    "Urls",
    "WorkdirError",
    "__version__",
    "canonical_url",
    "compare",
    "dedup",
    "evaluate",
    "explain",
    "learn_urls",
    "mirrors",
    "pairs",
    "plan",
    "plan_simhash",
    "surt",
    "urls",
    "write_evaluation",
]

_HOMES = {
    "samesame.answers": ("Pairs", "Result"),
    "samesame.api": ("dedup", "pairs"),
    "samesame.canonical": ("CanonicalUrl",),
    "samesame.engines.spark": ("Spark",),
    "samesame.errors": (
        "ColumnError",
        "ConfigError",
        "EngineError",
        "MissingExtraError",
        "OutputError",
        "IndexMismatchError",
        "SameSameError",
        "SourceError",
        "StoreBusyError",
        "StoreError",
        "TooManyPairsError",
        "UnknownIdError",
        "WorkdirError",
    ),
    "samesame.evaluation": ("evaluate",),
    "samesame.explaining": ("explain",),
    "samesame.findings": ("Evaluation", "Plan", "SimHashPlan"),
    "samesame.index.index": ("Index",),
    "samesame.matches": ("Added", "Entry", "Group", "IndexStats", "Likeness", "Match"),
    "samesame.methods": ("Containment", "Digest", "Hyperplane", "Jaccard", "MinHash", "ModP", "SimHash"),
    "samesame.outputs.reports": ("write_evaluation",),
    "samesame.planning": ("plan", "plan_simhash"),
    "samesame.questions": ("compare",),
    "samesame.results": ("Comparison", "Explanation"),
    "samesame.stages.keys.surt": ("surt",),
    "samesame.stages.keys.urls": ("canonical_url",),
    "samesame.web.dust": ("Learning", "learn_urls"),
    "samesame.web.mirrors": ("Mirrors", "mirrors"),
    "samesame.web.prefixes": ("MirrorThresholds",),
    "samesame.web.rules": ("UrlRules",),
    "samesame.web.urls": ("Urls", "urls"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'samesame' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
