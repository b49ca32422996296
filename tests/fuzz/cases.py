"""A case from a seed: documents, a recipe, a question, and a way to run it."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Any

from nearsame.recipes import methods
from tests.fuzz.filters import FILTERS
from tests.oracle.corpora import KEEPS, THRESHOLDS

__all__ = ["METHODS", "Case", "made"]

METHODS = ("jaccard", "cosine", "containment", "minhash", "modp", "simhash", "hyperplane", "digest")

_SMALL = ("a", "b"), ("a", "b", "c", "The", "the", "cat"), tuple(f"w{number}" for number in range(40))
_SCRIPTS = (
    *("a", "the", "THE", "x1", "_", "été", "ETE", "e\u0301te\u0301", "ß", "ẞ", "İ", "ı", "Σίσυφος", "ΣΊΣΥΦΟΣ", "МИР"),
    *(
        "мир",
        "שלום",
        "हिन्दी",
        "한국어",
        "ﬁn",
        "２",
        "Ⅷ",
        "漢字",
        "かな",
        "カナー",
        "ไทย",
        "ລາວ",
        "ខ្មែរ",
        "မြန်မာ",
        "漢a字",
    ),
    *("𝒳", "𠀀", "\u0301", "✔", "✔\ufe0f", "👍🏽", "a\u20dd", "क\u094d", "d'un", "x²"),
)
_GAPS = (" ", " ", " ", "  ", "\n", "\t ", "\u00a0", "\u3000", ", ", ". ", "-", "'", "!?", "🙂", "\u200d", "\x00")
_BARE = (None, "", " ", "\n\n", "***", "!!!", "—", "🙂🙂", "\u200b", "\u0301", "\ufe0f")
_ITEMS = ("a", "b", "c", "d", "e", "f", "g", "h")

Documents = list[Any]  # texts, lists of items, or vectors; None is one too


@dataclass(frozen=True)
class Case:
    """One run, with everything that decides its answer.

    Attributes:
        seed: it was made from.
        question: dedup, pairs or star.
        recipe: the settings of the method, and its name.
        kind: text, items or vector.
        documents: the against side first.
        num_against: of them are the against side; None: there is none.
        columns: values beside the documents, for --keep; None where there are none.
        asked: what dedup is asked for beside the method.
        higher: a threshold to ask for afterwards, with `at`.
        how: what must not change the answer; `tight`, that memory is scarce.
        layout: memory, jsonl, parquet or two (files).
        off: filters of the exact join that are left out.
    """

    seed: int
    question: str
    name: str
    recipe: dict[str, Any]
    kind: str
    documents: Documents
    num_against: int | None
    columns: dict[str, list[Any]]
    asked: dict[str, Any]
    higher: str | None
    how: dict[str, Any]
    tight: bool = False
    layout: str = "memory"
    ids: list[str] = field(default_factory=list)
    off: tuple[str, ...] = ()

    @property
    def first(self) -> int:
        """The number of the first judged document."""
        return self.num_against or 0

    @property
    def method(self) -> Any:
        """The recipe itself."""
        return methods.METHODS[self.name](**self.recipe)

    def without(self, row: int) -> "Case":
        """The same without a document."""
        left = self.num_against
        if left is not None and row < left:
            left -= 1
        return replace(
            self,
            documents=_cut(self.documents, row),
            ids=_cut(self.ids, row),
            columns={name: _cut(values, row) for name, values in self.columns.items()},
            num_against=left,
        )

    def described(self) -> str:
        """What it is, for whoever is to mend what it found."""
        names = (
            "question", "recipe", "asked", "higher", "how", "tight", "layout", "num_against", "columns", "ids", "off"
        )  # fmt: skip
        lines = [
            f"  {name}: {value!r}" for name in names if (value := getattr(self, name)) not in (None, {}, False, ())
        ]
        rows = [f"    {row}: {document!r}" for row, document in enumerate(self.documents)]
        return "\n".join([f"  method: {self.name}", *lines, f"  {self.kind}s:", *rows])


def made(seed: int, names: tuple[str, ...] = METHODS) -> Case:
    """The case of a seed."""
    random = Random(f"case {seed}")  # a text: numbers next to each other would give sequences alike
    name = random.choice(names)
    kind = _kind(random, name)
    documents = _documents(random, kind)
    num_against = random.randint(0, len(documents)) if random.random() < 0.3 else None
    recipe = _confirmed(random, kind, name, _RECIPES[name](random, kind, documents))
    question = random.choice(("dedup", "dedup", "pairs", "star" if num_against is None else "pairs"))
    columns = {
        column: [random.choice((None, *range(4))) for _ in documents] for column in ("when", "score")
    }  # fmt: skip
    asked = _asked(random, name, kind, recipe, num_against) if question == "dedup" else {}
    if recipe.get("remove") == "container" and question != "dedup":
        del recipe["remove"]
    how = {"threads": random.choice((1, 1, 2)), "batch_rows": random.choice((None, 1, 3, 1000))}
    return Case(
        seed, question, name, recipe, kind, documents, num_against, columns, asked,
        higher=_higher(random, name, recipe, asked) if question == "dedup" else None, how=how,
        tight=random.random() < 0.1, layout=random.choice(("memory", "memory", "jsonl", "parquet", "two")),
        ids=[random.choice(("same", f"d{row}", f"d{row}")) for row in range(len(documents))],
        off=random.choice(((), (), *((one,) for one in FILTERS), FILTERS)),
    )  # fmt: skip


def _cut(values: list[Any], row: int) -> list[Any]:
    return [*values[:row], *values[row + 1 :]]


def _kind(random: Random, name: str) -> str:
    if name == "hyperplane":
        return "vector"
    return "items" if name != "digest" and random.random() < 0.15 else "text"


def _documents(random: Random, kind: str) -> Documents:
    most = random.choice((0, 1, 2, 5, 8, 12, 20))
    if kind == "vector":
        return _vectors(random, most)
    if kind == "items" and random.random() < 0.4:
        return _small_sets(random)
    alphabet = _ITEMS if kind == "items" else random.choice((*_SMALL, _SCRIPTS))
    bases = [random.choices(alphabet, k=random.choice((1, 3, 8, 20, 40))) for _ in range(random.choice((1, 2, 3)))]
    found: Documents = []
    for _ in range(most):
        again = random.random()
        if found and again < 0.2:
            found.append(_repeated(random, random.choice(found)))
        elif kind == "items":
            found.append(random.choice((None, [])) if again > 0.95 else _edited(random, random.choice(bases), alphabet))
        elif again > 0.9:
            found.append(random.choice(_BARE))
        else:
            gap = random.choice(_GAPS)
            found.append(gap.join(_edited(random, random.choice(bases), alphabet)))
    return found


def _small_sets(random: Random) -> Documents:
    """Sets of one to three items, or of up to six, of a small universe, some items far more frequent than others.

    Some thousand of them now and then: then items are so frequent that the exact join counts them in another pass, and
    splits what they bring together.
    """
    is_large = random.random() < 1 / 6
    universe = [f"i{number}" for number in range(30 if is_large else random.choice((4, 9, 14)))]
    chances = [1 / (1 + number) ** random.choice((0, 1, 2)) for number in range(len(universe))]
    most = 8 if is_large else random.choice((3, 3, 6))
    sizes = [random.randint(1, most) for _ in range(1200 if is_large else random.choice((5, 20, 40, 40, 40)))]
    return [sorted(set(random.choices(universe, chances, k=size))) for size in sizes]


def _repeated(random: Random, document: Any) -> Any:
    return document.upper() if isinstance(document, str) and random.random() < 0.3 else document


def _edited(random: Random, words: list[str], alphabet: tuple[str, ...]) -> list[str]:
    edited = list(words)
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        place = random.randint(0, len(edited))
        match random.choice("iidrrcxt"):
            case "i":
                edited.insert(place, random.choice(alphabet))
            case "d":
                del edited[place : place + 1]
            case "r":
                edited[place : place + 1] = [random.choice(alphabet)]
            case "c":
                edited = edited[place:] + edited[:place]
            case "x":
                edited += edited[:place]
            case _:
                del edited[place:]
    return edited


def _vectors(random: Random, most: int) -> Documents:
    size = random.choice((1, 2, 3, 5, 16, 33))
    found: Documents = []
    for _ in range(most):
        kind = random.random()
        if kind < 0.05:
            found.append(random.choice((None, [])))
        elif kind < 0.5 and any(found):
            copy = list(random.choice([vector for vector in found if vector]))
            factor = random.choice((1, -1, 0.5, 3, 1e-9, 1e100))
            copy = [number * factor for number in copy]
            if random.random() < 0.6:
                copy[random.randrange(size)] += random.gauss(0, 1)
            found.append(copy)
        else:
            whole = random.random() < 0.5
            found.append([float(random.randint(-3, 3)) if whole else random.gauss(0, 1) for _ in range(size)])
    return found


def _threshold(random: Random, least: str = "0.001") -> str:
    tricky = [text for text in THRESHOLDS if Fraction(text) >= Fraction(least)]
    bottom = random.randint(2, 50)
    other = Fraction(random.randint(1, bottom), bottom)
    return random.choice(tricky) if random.random() < 0.7 or other < Fraction(least) else str(other)


def _text(random: Random) -> dict[str, Any]:
    found = {
        name: True
        for name in ("keep_case", "keep_punctuation", "nfkc", "strip_accents")
        if random.random() < 0.2
    }  # fmt: skip
    return found | ({"stop_words": "en"} if random.random() < 0.1 else {})


def _cut_up(random: Random, kind: str) -> dict[str, Any]:
    if kind != "text":
        return {}
    return {
        **_text(random),
        "shingle_size": random.choice((1, 2, 3, 5, 9)),
        "unit": random.choice(("words", "words", "chars")),
        "whitespace": random.choice((None, None, True, False)),
        "overlapping": random.random() < 0.8,
    }


def _shingled(random: Random, kind: str) -> dict[str, Any]:
    found = _cut_up(random, kind) | {"repeats": random.random() < 0.2, "seed": random.choice((0, 0, 1, 2**63 - 1))}
    return found | ({"drop_boilerplate": random.choice((1, 2, 3))} if random.random() < 0.15 else {})


def _jaccard(random: Random, kind: str, _: Documents) -> dict[str, Any]:
    return _shingled(random, kind) | {"threshold": _threshold(random)}


def _cosine(random: Random, kind: str, documents: Documents) -> dict[str, Any]:
    found = _jaccard(random, kind, documents)
    if random.random() < 0.6:
        found |= {"weights": random.choice(("tf", "tf", "tfidf")), "repeats": False}
    return found


def _confirmed(random: Random, kind: str, name: str, recipe: dict[str, Any]) -> dict[str, Any]:
    """The recipe with a second measure now and then, if it can have one."""
    own = {"jaccard": "jaccard", "cosine": "cosine", "minhash": "jaccard"}.get(name)
    letters = kind == "text" and "drop_boilerplate" not in recipe
    measures = [
        one
        for one in ("jaccard", "cosine", "edit")
        if (one != own or "verify" in recipe) and (one != "edit" or letters)
    ]
    if (
        name not in ("jaccard", "cosine", "containment", "minhash", "modp")
        or random.random() < 0.7
        or "jaccard_floor" in recipe
    ):
        return recipe
    found = {"confirm": random.choice(measures)}
    return recipe | found | ({"confirm_threshold": _threshold(random)} if random.random() < 0.8 else {})


def _containment(random: Random, kind: str, _: Documents) -> dict[str, Any]:
    threshold = _threshold(random)
    found = _shingled(random, kind) | {"threshold": threshold}
    if random.random() < 0.3:
        found["jaccard_floor"] = str(Fraction(threshold) * Fraction(random.randint(1, 9), 10))
    return found | ({"remove": "container"} if random.random() < 0.3 else {})


def _minhash(random: Random, kind: str, _: Documents) -> dict[str, Any]:
    found = _shingled(random, kind) | {"sketch": random.choice(("fast", "classic"))}
    if random.random() < 0.2:
        found |= {"bands": 16, "rows": random.choice((1, 2, 4)), "num_perm": 64, "threshold": _threshold(random)}
    else:
        found |= {"recall": random.choice((0.3, 0.9, 0.99)), "threshold": _threshold(random, "0.3")}
    choice = {"choice": "random"} if random.random() < 0.2 else {}
    return found | choice | ({"verify": "estimate"} if random.random() < 0.3 else {})


def _modp(random: Random, kind: str, _: Documents) -> dict[str, Any]:
    found = _shingled(random, kind)
    found.pop("drop_boilerplate", None)  # what is left of a text that loses everything has a hash of its own
    modulus, floor = random.choice((1, 2, 3, 7, 25, 2**63 - 1)), random.choice((0, 1, 2, 5, 32))
    return found | {"threshold": _threshold(random), "modulus": modulus, "floor": floor}


def _simhash(random: Random, kind: str, documents: Documents) -> dict[str, Any]:
    del documents
    found = _cut_up(random, kind) | {
        "bits": random.choice((32, 64, 64, 128)),
        "weights": random.choice(("one", "tf", "tfidf")),
        "feature_hash": random.choice(("xxh3", "xxh3", "md5", "sha1", "fnv1a", "murmur3")),
        "zero_bit": random.choice((0, 1)),
        "k": random.randint(0, 16),
        "search": random.choice(("blocks", "blocks", "rotations", "adjacent", "brute")),
    }
    if found["search"] == "blocks" and found["k"] <= 4 and random.random() < 0.3:
        blocks = found["k"] + random.randint(1, 4)
        found |= {"blocks": blocks, "header": random.randint(1, blocks - found["k"])}
    if random.random() < 0.5:
        measures = ("jaccard", "cosine", "edit") if kind == "text" else ("jaccard", "cosine")
        found |= {"confirm": random.choice(measures), "threshold": _threshold(random), "k": max(found["k"], 10)}
        for name in ("blocks", "header"):
            found.pop(name, None)
    return found


def _hyperplane(random: Random, kind: str, documents: Documents) -> dict[str, Any]:
    del kind, documents
    if random.random() < 0.6:  # with 512 bands of a bit nothing is missed
        return {"threshold": _threshold(random), "bits": 512, "bands": 512, "rows": 1, "seed": random.choice((0, 7))}
    return {"threshold": _threshold(random, "0.7"), "recall": random.choice((0.6, 0.9, 0.99))}


def _digest(random: Random, kind: str, documents: Documents) -> dict[str, Any]:
    del kind, documents
    algorithm = random.choice(
        ("sha256", "sha512", "sha3_256", "blake2b", "md5", "sha1", "crc32", "bytesum", "xxh3_128")
    )
    return {"algorithm": algorithm} | ({"normalise": True, **_text(random)} if random.random() < 0.5 else {})


_RECIPES = {
    "jaccard": _jaccard,
    "cosine": _cosine,
    "containment": _containment,
    "minhash": _minhash,
    "modp": _modp,
    "simhash": _simhash,
    "hyperplane": _hyperplane,
    "digest": _digest,
}


def _asked(
    random: Random, name: str, kind: str, recipe: dict[str, Any], num_against: int | None
) -> dict[str, Any]:  # fmt: skip
    keeps = [keep for keep in KEEPS if kind == "text" or keep not in ("longest", "shortest")]
    several = [keep for keep in keeps if keep not in ("first", "last")]
    found: dict[str, Any] = {"keep": random.choice(("first", *keeps, ", ".join(random.sample(several, 2))))}
    if num_against is None:
        recipe.pop("remove", None)
    elif recipe.get("remove") != "container" and random.random() < 0.3:
        found["within"] = False
    if name in ("jaccard", "cosine") and random.random() < 0.2:
        found["clusters"] = "components"
    elif (
        name in ("jaccard", "cosine") and kind == "text" and random.random() < 0.2
        and "drop_boilerplate" not in recipe and recipe.get("weights") != "tfidf"  # they are about what layers leave
    ):  # fmt: skip
        found["use"] = "digest,text"
    return found


def _higher(random: Random, name: str, recipe: dict[str, Any], asked: dict[str, Any]) -> str | None:
    if name not in ("jaccard", "cosine", "containment", "modp") or random.random() < 0.5 or "use" in asked:
        return None
    higher = _threshold(random)
    return higher if Fraction(higher) >= Fraction(recipe["threshold"]) else None
