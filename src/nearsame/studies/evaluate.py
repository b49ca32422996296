"""Several methods on one corpus, against the exact answer or what people have judged: evaluate.

1. A method is held against the exact answer to its own question: Jaccard at its own threshold over its own shingles,
   equality for digests and the five ways, for SimHash the cosine that its distance of codes stands for, over its own
   features; or, where that is asked for, a measure from `near` on, which the closing table goes by anyway. Hyperplanes
   are held against the cosine of every two vectors, at their own threshold or from `near` on.
2. The exact answer of Jaccard compares every two documents where there are few, else it is the exact join.
3. Each method runs in a process of its own (contenders.py), so that time and memory are its own.
4. Clusters are keepers and what they witness, decided over the pairs that a method found in the order of reading.
"""

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.advice import Advice
from nearsame.answers.findings import Closing, Evaluation, Lost, Score
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, TooManyPairsError
from nearsame.files.inputs import Inputs, several
from nearsame.flow.options import DocumentOptions, ThreadOptions
from nearsame.flow.page_reading import sampled, with_pages
from nearsame.installation import versions
from nearsame.named import NamedTuple
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.choices import Extract, JudgedBy
from nearsame.recipes.counterparts import exact_join, exact_question
from nearsame.recipes.given import Number
from nearsame.recipes.methods import Cosine, Jaccard, Method
from nearsame.recipes.settings import ShingleSettings, given_settings
from nearsame.recipes.signatures import Default, Doc
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import DocumentSample
from nearsame.sources.truth import Truth, read_truth
from nearsame.stages.pairs.agreement import Agreement, adjusted_rand, agreement, clusters_of, pack
from nearsame.studies import lost_pairs
from nearsame.studies.choosing import advice
from nearsame.studies.contenders import Contender, Outcome, contenders, listed, run_apart, run_here

__all__ = ["METHODS", "evaluate", "read_sample"]

METHODS = ("jaccard", "minhash", "simhash", "exact")
_PACKAGES = ("nearsame", "numba", "numpy", "pyarrow")
_MOST_PAIRWISE = 3000
_SHOWN_LOST = 20


class _Answer(NamedTuple):
    """The right pairs to a question."""

    label: str
    a: Rows
    b: Rows
    similarity: npt.NDArray[np.float64]
    seconds: float = 0.0


_LEAST_LABEL = 1.0


class EvaluateOptions(DocumentOptions, ThreadOptions, ShingleSettings, total=False):
    """What only `evaluate` takes: what is a true pair, what is shown, how methods run."""

    least_label: Annotated[float, Doc("The least label that says that a pair is true."), Default(_LEAST_LABEL)]
    url_column: Annotated[str | None, Doc("The column of URLs, for boilerplate of hosts; default `url`.")]
    vector_column: Annotated[
        str | None, Doc("With `Hyperplane`, the list column of numbers; default `vector`, as a 2-D array has it.")
    ]
    near: Annotated[Number, Doc("Least similarity of the pairs in the closing table."), Default(0.9)]
    measure: Annotated[
        JudgedBy | None,
        Doc(
            "What that similarity is, Jaccard unless it is given; if it is, SimHash is held against it, too, and"
            " hyperplanes against a cosine."
        ),
    ]
    apart: Annotated[
        bool, Doc("Whether each method runs in a fresh process, which is what measures memory."), Default(value=True)
    ]


@checked
def evaluate(
    source: Any,
    *,
    methods: Sequence[Method | str] = METHODS,
    truth: str | os.PathLike[str] | None = None,
    sample_size: int | None = None,
    **options: Unpack[EvaluateOptions],
) -> Evaluation:
    """Run several methods on one corpus, and hold their answers against the right one.

    How texts become shingles (`shingle_size=3`, `unit="chars"` and the like) goes for every method given by name.

    Args:
        source: Whatever `dedup` takes.
        methods: Recipes, or names with settings as in `minhash:threshold=0.7`; `exact` stands for the five textbook
            ways to find equal texts (characters, first-characters, whole-hash, positions, sorted-digests).
        truth: A tab-separated file of `id1 id2 [label]`; default: the exact answer to each method's own question.
        sample_size: At most this many documents, drawn at random but always the same; default: all.

    Raises:
        ConfigError: An unknown method, a truth that names unknown ids, one path given twice.

    Example:
        >>> texts = ["a rose is a rose is a rose", "a rose is a rose is a rose", "a daisy is not"]
        >>> evaluate(texts, methods=["jaccard"], apart=False).scores[0].pairs
        1
    """
    threads, shingles = options["threads"], given_settings(options, ShingleSettings)
    if threads is not None:
        require_number("threads", threads, 1)
    watcher = logged(options["progress"])
    inputs = Inputs.of(source, truth)
    chosen = contenders(methods, shingles)
    measure = options["measure"] or "jaccard"
    nearly = (Cosine if measure == "cosine" else Jaccard)(threshold=options["near"], **shingles)
    held = nearly if options["measure"] else None
    of_vectors = any(contender.of_vectors for contender in chosen)
    columns = with_pages((_of_vectors if of_vectors else _of_texts)(options, shingles), options)
    taken = read_sample(source, truth, columns, sample_size)
    if options["url_column"] is not None and "url" not in taken.table.column_names:
        message = f"no document has anything in the column {options['url_column']!r}"
        raise ConfigError(message, hint="Name the column of URLs with url_column (--url-column).")
    if truth is None and options["least_label"] != _LEAST_LABEL:
        raise ConfigError("least_label does nothing without truth", hint="Leave it out, or name the labelled pairs.")
    judged = None if truth is None else _judged(str(os.fspath(truth)), taken, options["least_label"])
    field_ = _Field(taken, nearly, judged, threads, [exact_question(one.recipe, held) for one in chosen])
    outcomes = []
    for contender in chosen:
        watcher.begin(contender.label)
        outcomes.append((contender, (run_apart if options["apart"] else run_here)(contender, taken.table, threads)))
    watcher.begin("exact answer")
    asked = zip(field_.questions, outcomes, strict=True)
    scores = tuple(_score(field_, question, *outcome) for question, outcome in asked)
    closing, lost = _closing(field_, outcomes)
    advised: Advice | str = ""
    if judged is not None and not of_vectors:
        texts: dict[Extract | None, pa.Table] = {None: taken.table}
        if taken.of_pages and options["extract"] is None and _is_of_files(source):
            texts["text"] = read_sample(source, truth, replace(columns, extract="text"), sample_size).table
        named = _named(source, options)
        advised = advice(texts, judged, shingles, named=named, progress=watcher, threads=threads)
    return Evaluation(
        documents=len(taken.table),
        of_documents=taken.num_documents,
        truth=_in_words(field_, truth),
        near=float(nearly.least),
        scores=scores,
        closing=closing,
        lost=lost,
        scatter=lost_pairs.scatter([contender.recipe for contender in chosen], taken.table, nearly),
        advice=advised,
        settings={"methods": [contender.record() for contender in chosen], "near": nearly.record(), "seed": 0},
        versions=versions(_PACKAGES),
        inputs=inputs,
        measure=measure,
        unread=len(taken.skipped),
    )


def _of_texts(options: EvaluateOptions, _: Mapping[str, Any]) -> Columns:
    """The columns of texts."""
    if options["vector_column"] is not None:
        message = f"vector_column={options['vector_column']!r} does nothing to texts"
        raise ConfigError(message, hint="Leave it out, or evaluate hyperplane.")
    beside = (options["url_column"] or "url",)
    return Columns(text=options["text_column"], id=options["id_column"], beside=beside)


def _of_vectors(options: EvaluateOptions, shingles: Mapping[str, Any]) -> Columns:
    """The column of vectors; nothing that is about texts goes with it."""
    idle = [name for name in ("text_column", "url_column") if options[name] is not None]
    idle += [*shingles, *(["measure"] if options["measure"] == "jaccard" else [])]
    if idle:
        raise ConfigError(f"{idle[0]} does nothing to vectors", hint="Leave it out.")
    return Columns(id=options["id_column"], vectors=options["vector_column"] or "vector")


def read_sample(source: Any, truth: Any, columns: Columns, most: int | None) -> DocumentSample:
    """Some documents of a source, or all, that is not the truth as well.

    Raises:
        ConfigError: One path is named twice, or one document is to be compared.
    """
    if most is not None and most < 2:
        raise ConfigError(f"sample_size={most} is below 2", hint="Compare two documents or more.")
    sources = several(source)
    paths = [os.fspath(path) for path in (*sources, truth) if isinstance(path, (str, os.PathLike))]
    parts = open_parts(sources, columns=columns)
    for names in (paths, [part.name for part in parts]):
        _refuse_twice(names)
    return sampled(Reading(parts, columns), most)


def _refuse_twice(names: list[str]) -> None:
    """The same file twice would be its own near-duplicate."""
    seen: dict[str, str] = {}
    for name in names:
        where = name if "://" in name or not os.path.exists(name) else os.path.realpath(name)  # noqa: PTH110  (it may be a URL)
        if where in seen and where != "-":
            message = (
                f"{name!r} is named twice" if seen[where] == name else f"{seen[where]!r} and {name!r} are one file"
            )
            raise ConfigError(message, hint="Name each file once.")
        seen[where] = name


def _judged(path: str, taken: DocumentSample, least: float) -> Truth:
    return read_truth(path, taken.all_ids.to_pylist(), least=least).within(taken.rows)


def _in_words(field_: "_Field", path: Any) -> str:
    judged = field_.judged
    if judged is None:
        if any(one.of_vectors for one in field_.questions):
            return "the exact answer to each method's own question: every two vectors compared"
        joined = [one.name for one in field_.questions if exact_join(one) is None and not one.by_equality]
        how = "every two documents compared"
        if field_.num > _MOST_PAIRWISE or len(joined) == len(field_.questions):
            how = "an exact join"
        elif joined:
            how = f"{how}, by {' and '.join(sorted(set(joined)))} an exact join"
        return f"the exact answer to each method's own question: {how}"
    name = os.path.basename(os.fspath(path))  # noqa: PTH119  (it may be a URL)
    true = int(judged.is_true.sum())
    if judged.is_whole:
        return f"{name}: {true:,} true pair{'s' * (true != 1)}, all others false"
    unjudged = f", {judged.num_unjudged:,} not judged" if judged.num_unjudged else ""
    return f"{name}: {true:,} true and {judged.is_true.size - true:,} false pairs{unjudged}; only these count"


@dataclass
class _Field:
    """The corpus, and the right answers to the questions asked so far."""

    taken: DocumentSample
    nearly: Jaccard | Cosine
    judged: Truth | None
    threads: int | None
    questions: list[Method]
    _answers: dict[str, _Answer] = field(default_factory=dict)
    _compared: dict[str, lost_pairs.ComparedPairs] = field(default_factory=dict)

    @property
    def num(self) -> int:
        """Documents that are compared."""
        return len(self.taken.table)

    def near(self) -> _Answer:
        """The pairs of the closing table."""
        return self.right(self.nearly)

    def right(self, question: Method) -> _Answer:
        """The exact answer to a question."""
        key = question.name + question.model_dump_json()
        if key not in self._answers:
            self._answers[key] = self._computed(question)
        return self._answers[key]

    def _computed(self, question: Method) -> _Answer:
        label = question.condition
        if question.of_vectors:
            pairs = lost_pairs.near_vectors(question, self.taken.table)
            return _Answer(label, pairs.a, pairs.b, pairs.similarity, pairs.seconds)
        join = exact_join(question)
        if join and join.confirm is None and self.num <= _MOST_PAIRWISE:
            pairs = self._every_pair(join).at(join.threshold)
            return _Answer(label, pairs.a, pairs.b, pairs.similarity, pairs.seconds)
        began = time.perf_counter()
        pairs = listed(question, self.taken.table, self.threads)
        return _Answer(label, pairs.a, pairs.b, pairs.similarity, time.perf_counter() - began)

    def _every_pair(self, question: Jaccard) -> lost_pairs.ComparedPairs:
        """Every two documents compared, once for all questions over the same shingles."""
        key = _shingles(question)
        if key not in self._compared:
            joins = [join for one in (self.nearly, *self.questions) if (join := exact_join(one))]
            lowest = min((one for one in joins if _shingles(one) == key), key=lambda one: one.threshold)
            self._compared[key] = lost_pairs.pairwise(lowest, self.taken.table)
        return self._compared[key]


def _shingles(recipe: Jaccard) -> str:
    """How texts become shingles: all but the threshold."""
    return recipe.raised(1).model_dump_json()


def _score(field_: _Field, question: Method, contender: Contender, outcome: Outcome) -> Score:
    """One line of the table."""
    if outcome.note:
        return Score(contender.label, "", note=outcome.note)
    pairs = pack(outcome.a, outcome.b)
    judged = field_.judged
    if judged is None:
        try:
            right = field_.right(question)
        except TooManyPairsError as error:
            return Score(contender.label, "", note=f"not judged by {question.condition}: {error.message}")
        score = _of(contender.label, right.label, agreement(pairs, pack(right.a, right.b)))
        score = replace(score, rand_index=_rand(field_.num, outcome, right))
    else:
        score = _against(contender.label, judged, outcome, field_.num)
    return replace(
        score,
        seconds=outcome.seconds,
        peak_bytes=outcome.peak_bytes,
        candidates=outcome.candidates,
        candidates_per_true_pair=outcome.candidates / score.both if score.both else None,
        false_candidates=outcome.false_candidates,
    )


def _of(method: str, reference: str, counts: Agreement) -> Score:
    return Score(method, reference, *counts, counts.precision, counts.recall, counts.f1)


def _against(method: str, judged: Truth, outcome: Outcome, num: int) -> Score:
    """Against a truth file."""
    pairs, listed_ = pack(outcome.a, outcome.b), pack(judged.a, judged.b)
    true = listed_[judged.is_true]
    if not judged.is_whole:
        known = np.intersect1d(pairs, listed_, assume_unique=True)
        return replace(_of(method, "truth", agreement(known, true)), unjudged=pairs.size - known.size)
    score = _of(method, "truth", agreement(pairs, true))
    answer = _Answer("truth", judged.a, judged.b, np.ones(judged.a.size))
    return replace(score, rand_index=_rand(num, outcome, answer))


def _rand(num: int, outcome: Outcome, right: _Answer) -> float:
    sides = ((answer.a, answer.b, answer.similarity) for answer in (outcome, right))
    return adjusted_rand(*(clusters_of(num, *side) for side in sides))


def _closing(field_: _Field, outcomes: list[tuple[Contender, Outcome]]) -> tuple[tuple[Closing, ...], tuple[Lost, ...]]:
    """The closing table, and pairs that were lost, both for the methods that can lose any."""
    loose = [(contender, outcome) for contender, outcome in outcomes if lost_pairs.can_lose(contender.recipe)]
    loose = [(contender, outcome) for contender, outcome in loose if not outcome.note]
    if not loose:
        return (), ()
    near = field_.near()
    first = "pairwise" if field_.num <= _MOST_PAIRWISE and exact_join(field_.nearly) else "exact join"
    lines, lost = [Closing(first, near.seconds, near.a.size, near.a.size)], []
    ids = field_.taken.table.column("id")
    for contender, outcome in loose:
        gone = ~np.isin(pack(near.a, near.b), pack(outcome.a, outcome.b))
        missing = _Answer("", near.a[gone], near.b[gone], near.similarity[gone])
        why = lost_pairs.why(contender.recipe, field_.taken.table, missing.a, missing.b)
        counted = tuple(Counter(why).most_common())
        lines.append(Closing(contender.label, outcome.seconds, near.a.size, near.a.size - missing.a.size, counted))
        order = np.argsort(-missing.similarity, kind="stable")[:_SHOWN_LOST]
        lost += [_lost(contender.label, ids, missing, int(at), why[at]) for at in order]
    return tuple(lines), tuple(lost)


def _lost(method: str, ids: pa.ChunkedArray, missing: _Answer, at: int, why: str) -> Lost:
    a, b = (ids[int(side[at])].as_py() for side in (missing.a, missing.b))
    return Lost(method, a, b, float(missing.similarity[at]), why)


def _is_of_files(source: Any) -> bool:
    """Whether it can be read once more."""
    return all(isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-" for path in several(source))


def _named(source: Any, options: Mapping[str, Any]) -> list[str]:
    """The sources as arguments of a command, with the options that say how they are read."""
    sources = several(source)
    paths = [os.fspath(path) for path in sources if isinstance(path, (str, os.PathLike))]
    said = {name: options[name] for name in ("text_column", "id_column", "url_column", "html_column", "extract")}
    given = [word for name, value in said.items() if value for word in (f"--{name.replace('_', '-')}", str(value))]
    return [*(paths if len(paths) == len(sources) else ["SOURCE"]), *given]
