"""nearsame: find the documents that are the same, and nearly the same. The public names, and nothing else.

They load on first use, so that `nearsame --help` does not wait for Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nearsame._version import __version__

if TYPE_CHECKING:
    from nearsame.answers.comparisons import Comparison, Explanation
    from nearsame.answers.findings import Evaluation, Plan, SimHashPlan
    from nearsame.answers.labels import ToLabel
    from nearsame.answers.matches import Added, Entry, Group, IndexStats, Likeness, Match
    from nearsame.answers.reports import RunReport
    from nearsame.api import dedup, pairs
    from nearsame.engines.spark import Spark
    from nearsame.errors import (
        ColumnError,
        ConfigError,
        EngineError,
        IndexMismatchError,
        InterruptedChangeError,
        MissingExtraError,
        NearSameError,
        OutputError,
        RequirementError,
        SourceError,
        StoreBusyError,
        StoreDamagedError,
        StoreError,
        TooManyPairsError,
        UnknownIdError,
        WorkdirError,
    )
    from nearsame.flow.results import Pairs, Result
    from nearsame.index.index import Index
    from nearsame.outputs.reports import write_evaluation, write_explanation, write_report, write_to_label
    from nearsame.recipes.methods import Codes, Containment, Cosine, Digest, Hyperplane, Jaccard, MinHash, ModP, SimHash
    from nearsame.recipes.urls import CanonicalUrl
    from nearsame.reruns import rerun
    from nearsame.service.client import Client
    from nearsame.stages.keys.surt import surt
    from nearsame.stages.keys.urls import canonical_url
    from nearsame.studies.apply import apply
    from nearsame.studies.codes import CodesWritten, codes
    from nearsame.studies.compare import compare
    from nearsame.studies.evaluate import evaluate
    from nearsame.studies.explain import explain, explain_codes, explain_example
    from nearsame.studies.labelling import to_label
    from nearsame.studies.leak_results import Leaks
    from nearsame.studies.leaks import leaks
    from nearsame.studies.plan import plan, plan_simhash
    from nearsame.studies.report import report
    from nearsame.studies.restore import Restored, restore
    from nearsame.studies.sketches import hamming, jaccard, minhash, shingles, simhash
    from nearsame.studies.verify import Verification, verify
    from nearsame.web.dust import learn_urls
    from nearsame.web.learning import Learning
    from nearsame.web.mirrors import Mirrors, mirrors
    from nearsame.web.prefixes import MirrorThresholds
    from nearsame.web.rules import UrlRules
    from nearsame.web.urls import Urls, urls

__all__ = [
    "Added",
    "CanonicalUrl",
    "Client",
    "Codes",
    "CodesWritten",
    "ColumnError",
    "Comparison",
    "ConfigError",
    "Containment",
    "Cosine",
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
    "InterruptedChangeError",
    "Jaccard",
    "Leaks",
    "Learning",
    "Likeness",
    "Match",
    "MinHash",
    "MirrorThresholds",
    "Mirrors",
    "MissingExtraError",
    "ModP",
    "NearSameError",
    "OutputError",
    "Pairs",
    "Plan",
    "RequirementError",
    "Restored",
    "Result",
    "RunReport",
    "SimHash",
    "SimHashPlan",
    "SourceError",
    "Spark",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "ToLabel",
    "TooManyPairsError",
    "UnknownIdError",
    "UrlRules",
    "Urls",
    "Verification",
    "WorkdirError",
    "__version__",
    "apply",
    "canonical_url",
    "codes",
    "compare",
    "dedup",
    "evaluate",
    "explain",
    "explain_codes",
    "explain_example",
    "hamming",
    "jaccard",
    "leaks",
    "learn_urls",
    "minhash",
    "mirrors",
    "pairs",
    "plan",
    "plan_simhash",
    "report",
    "rerun",
    "restore",
    "shingles",
    "simhash",
    "surt",
    "to_label",
    "urls",
    "verify",
    "write_evaluation",
    "write_explanation",
    "write_report",
    "write_to_label",
]

_HOMES = {
    "nearsame.flow.results": ("Pairs", "Result"),
    "nearsame.api": ("dedup", "pairs"),
    "nearsame.recipes.urls": ("CanonicalUrl",),
    "nearsame.reruns": ("rerun",),
    "nearsame.engines.spark": ("Spark",),
    "nearsame.errors": (
        "ColumnError",
        "ConfigError",
        "EngineError",
        "MissingExtraError",
        "OutputError",
        "IndexMismatchError",
        "InterruptedChangeError",
        "NearSameError",
        "RequirementError",
        "SourceError",
        "StoreBusyError",
        "StoreDamagedError",
        "StoreError",
        "TooManyPairsError",
        "UnknownIdError",
        "WorkdirError",
    ),
    "nearsame.studies.evaluate": ("evaluate",),
    "nearsame.studies.explain": ("explain", "explain_codes", "explain_example"),
    "nearsame.studies.labelling": ("to_label",),
    "nearsame.studies.leak_results": ("Leaks",),
    "nearsame.studies.leaks": ("leaks",),
    "nearsame.answers.findings": ("Evaluation", "Plan", "SimHashPlan"),
    "nearsame.index.index": ("Index",),
    "nearsame.service.client": ("Client",),
    "nearsame.answers.labels": ("ToLabel",),
    "nearsame.answers.matches": ("Added", "Entry", "Group", "IndexStats", "Likeness", "Match"),
    "nearsame.recipes.methods": (
        "Codes",
        "Containment",
        "Cosine",
        "Digest",
        "Hyperplane",
        "Jaccard",
        "MinHash",
        "ModP",
        "SimHash",
    ),
    "nearsame.outputs.reports": ("write_evaluation", "write_explanation", "write_report", "write_to_label"),
    "nearsame.answers.reports": ("RunReport",),
    "nearsame.studies.report": ("report",),
    "nearsame.studies.plan": ("plan", "plan_simhash"),
    "nearsame.studies.apply": ("apply",),
    "nearsame.studies.codes": ("CodesWritten", "codes"),
    "nearsame.studies.compare": ("compare",),
    "nearsame.answers.comparisons": ("Comparison", "Explanation"),
    "nearsame.stages.keys.surt": ("surt",),
    "nearsame.stages.keys.urls": ("canonical_url",),
    "nearsame.studies.sketches": ("hamming", "jaccard", "minhash", "shingles", "simhash"),
    "nearsame.studies.restore": ("Restored", "restore"),
    "nearsame.studies.verify": ("Verification", "verify"),
    "nearsame.web.dust": ("learn_urls",),
    "nearsame.web.learning": ("Learning",),
    "nearsame.web.mirrors": ("Mirrors", "mirrors"),
    "nearsame.web.prefixes": ("MirrorThresholds",),
    "nearsame.web.rules": ("UrlRules",),
    "nearsame.web.urls": ("Urls", "urls"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nearsame' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
