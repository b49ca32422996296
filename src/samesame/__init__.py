"""samesame: find the documents that are the same, and nearly the same. The public names, and nothing else.

They load on first use, so that `samesame --help` does not wait for Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from samesame._version import __version__

if TYPE_CHECKING:
    from samesame.answers import Pairs, Result
    from samesame.api import dedup, pairs
    from samesame.errors import (
        ColumnError,
        ConfigError,
        EngineError,
        MissingExtraError,
        OutputError,
        SameSameError,
        SourceError,
        TooManyPairsError,
        WorkdirError,
    )
    from samesame.evaluation import evaluate
    from samesame.explaining import explain
    from samesame.findings import Evaluation, Plan, SimHashPlan
    from samesame.methods import Containment, Digest, Hyperplane, Jaccard, MinHash, ModP, SimHash
    from samesame.outputs.reports import write_evaluation
    from samesame.planning import plan, plan_simhash
    from samesame.questions import compare
    from samesame.results import Comparison, Explanation

__all__ = [
    "ColumnError",
    "Comparison",
    "ConfigError",
    "Containment",
    "Digest",
    "EngineError",
    "Evaluation",
    "Explanation",
    "Hyperplane",
    "Jaccard",
    "MinHash",
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
    "TooManyPairsError",
    "WorkdirError",
    "__version__",
    "compare",
    "dedup",
    "evaluate",
    "explain",
    "pairs",
    "plan",
    "plan_simhash",
    "write_evaluation",
]

_HOMES = {
    "samesame.answers": ("Pairs", "Result"),
    "samesame.api": ("dedup", "pairs"),
    "samesame.errors": (
        "ColumnError",
        "ConfigError",
        "EngineError",
        "MissingExtraError",
        "OutputError",
        "SameSameError",
        "SourceError",
        "TooManyPairsError",
        "WorkdirError",
    ),
    "samesame.evaluation": ("evaluate",),
    "samesame.explaining": ("explain",),
    "samesame.findings": ("Evaluation", "Plan", "SimHashPlan"),
    "samesame.methods": ("Containment", "Digest", "Hyperplane", "Jaccard", "MinHash", "ModP", "SimHash"),
    "samesame.outputs.reports": ("write_evaluation",),
    "samesame.planning": ("plan", "plan_simhash"),
    "samesame.questions": ("compare",),
    "samesame.results": ("Comparison", "Explanation"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'samesame' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
