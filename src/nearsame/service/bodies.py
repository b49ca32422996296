"""What clients send and get, as the OpenAPI description shows it.

1. What is unknown is refused, not ignored: a misspelt `if_new` would otherwise write.
2. Of a list the first mistake ends the parsing: a body could have a million.
3. A document comes as one of: text, HTML (its text is extracted), features (ready items), a sketch (made elsewhere by
   the same recipe).
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from nearsame.answers.matches import AddStatus, FoundBy
from nearsame.recipes.choices import MeasureName, ReportedMeasure

__all__ = [
    "Add",
    "AddBatch",
    "AddSettings",
    "Added",
    "AddedBatch",
    "Compare",
    "Compared",
    "Content",
    "Document",
    "Duplicates",
    "Found",
    "FoundBatch",
    "GroupBody",
    "Groups",
    "Health",
    "Listed",
    "Match",
    "Other",
    "ProblemBody",
    "Query",
    "QueryBatch",
    "QuerySettings",
    "Removed",
    "StatsBody",
    "Stored",
]


def _whole(value: Any) -> Any:
    """In JSON 3.0 is an integer."""
    return int(value) if type(value) is float and value.is_integer() else value


def _wholes(values: Any) -> Any:
    return (
        [_whole(value) for value in values] if isinstance(values, list) and float in set(map(type, values)) else values
    )


Id = Annotated[
    str,
    StringConstraints(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$"),
    Field(description="Yours; up to 10,000 characters.", examples=["page-1"]),
]
Url = Annotated[
    str,
    StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$"),
    Field(description="Where it was found.", examples=["https://example.org/a"]),
]
Items = Annotated[
    list[Annotated[int, Field(strict=True, ge=0, le=(1 << 64) - 1)]],
    Field(max_length=5_000_000, fail_fast=True),
    BeforeValidator(_wholes),
]
Limit = Annotated[
    int, Field(ge=1, le=1000, description="Return at most this many matches, the best first."), BeforeValidator(_whole)
]
Threshold = Annotated[
    float,
    Field(gt=0, le=1, description="Least similarity; default the index's own. Below that, `recall` is in the answer."),
]
_Condition = Annotated[str, StringConstraints(max_length=10_000)]
_Several = Annotated[list[_Condition], Field(max_length=100)]
Where = Annotated[
    _Condition | _Several | Annotated[dict[str, _Condition | _Several], Field(max_length=100)],
    Field(
        description='Only documents whose kept columns are so: "lang=en", "lang=en|de", "lang!=en", "date>=2024-01-01";'
        " a list of which all must hold; or exact values by name.",
        examples=["lang=en"],
    ),
]
Positive = Annotated[int, Field(ge=0)]

_TEXT = "The quick brown fox jumps over the lazy dog near the river bank."
_CONTENT = ("text", "html", "features", "sketch")
_SIDE = ("id", "text", "html")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _one_of(names: tuple[str, ...]) -> ConfigDict:
    """In the words of JSON Schema: one of these is given, and not null."""

    def described(schema: dict[str, Any]) -> None:
        schema["oneOf"] = [
            {
                "required": [name],
                "properties": {name: {"not": {"type": "null"}}}
                | {other: {"type": "null"} for other in names if other != name},
            }
            for name in names
        ]

    return ConfigDict(json_schema_extra=described)


class Content(_Strict):
    """Something to look for."""

    model_config = _one_of(_CONTENT)

    text: str | None = Field(None, description="The text.", examples=[_TEXT])
    html: str | None = Field(None, description="A page: its main text is extracted.")
    features: Items | None = Field(None, description="Ready items, 64-bit numbers, in place of a text.")
    sketch: Items | None = Field(None, description="A sketch made by the index's own recipe (GET /stats has it).")
    url: Url | None = None

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        given = [name for name in _CONTENT if getattr(self, name) is not None]
        if len(given) != 1:
            message = f"one of {', '.join(_CONTENT)} is needed, {' and '.join(given) or 'none'} given"
            raise ValueError(message)
        return self


class Document(Content):
    """A document to add."""

    id: Id | None = Field(None, description="Without one: sha256: and the hash of the text.")
    columns: dict[str, Annotated[str, StringConstraints(max_length=10_000)] | int | float | bool | None] | None = Field(
        None, description="Values of the columns that the index keeps (GET /stats names them).", max_length=100
    )


class Add(Document):
    """One document to add."""

    if_new: bool = Field(default=False, description="Add it only if it resembles nothing in the index.")
    replace: bool = Field(default=False, description="Replace the document with this id, if there is one.")
    limit: Limit = 10


class AddBatch(_Strict):
    """Documents to add, in this order."""

    documents: Annotated[list[Document], Field(min_length=1, fail_fast=True)]
    if_new: bool = Field(default=False, description="Add only what resembles nothing there, or earlier in the list.")
    replace: bool = Field(default=False, description="Take the places of documents of these ids.")
    limit: Limit = 10


class Query(Content):
    """Something to look for."""

    limit: Limit = 10
    threshold: Threshold | None = None
    where: Where | None = None


class QueryBatch(_Strict):
    """Several things to look for."""

    documents: Annotated[list[Content], Field(min_length=1, fail_fast=True)]
    limit: Limit = 10
    threshold: Threshold | None = None
    where: Where | None = None


class Other(_Strict):
    """One side of a comparison: a document of the index, or a text."""

    model_config = _one_of(_SIDE)

    id: Id | None = None
    text: str | None = None
    html: str | None = None

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        given = [name for name in _SIDE if getattr(self, name) is not None]
        if len(given) != 1:
            message = f"one of id, text, html is needed, {' and '.join(given) or 'none'} given"
            raise ValueError(message)
        return self


class Compare(_Strict):
    """Two documents to compare, each by its id or as a text."""

    a: Id | Other
    b: Id | Other
    texts: bool = Field(default=True, description="Of two ids: compare their texts, where these are stored.")


_COMPLETE: Any = Field(
    description="Whether these are the best there are. False in a crowd of documents that have very much in common, of"
    " which not all were compared: they are the best of those that were."
)


class Match(BaseModel):
    """A document of the index that resembles what was sent."""

    model_config = ConfigDict(extra="allow")

    id: str
    similarity: float | None = Field(ge=0, le=1, description="None where only the URL or a digest is known.")
    measure: ReportedMeasure | Literal[""] = Field(description="What similarity is; empty where there is none.")
    found_by: list[FoundBy] = Field(description="What holds of: minhash, simhash, bytes, text, url.")
    distance: int | None = Field(None, description="Of SimHash codes, in bits.")
    url: str | None = None
    columns: dict[str, str] = Field(default={}, description="Those that the index keeps.")


class Added(BaseModel):
    """What became of a document."""

    id: str
    added: bool = Field(description="Whether it is in the index because of this request.")
    status: AddStatus = Field(
        description="added; replaced; resembles: with if_new, it was not added; present: it was already there,"
        " unchanged; conflict: the id exists with another text or other columns, and nothing was changed."
    )
    matches: list[Match] = Field(description="What it resembles, the best first.")
    complete: bool = _COMPLETE


class AddedBatch(BaseModel):
    """What became of each document."""

    results: list[Added]
    added: Positive = Field(description="How many were added.")


class Found(BaseModel):
    """What resembles the text."""

    matches: list[Match]
    complete: bool = _COMPLETE
    recall: float | None = Field(None, description="Of a threshold below the index's: how much of it the keys find.")


class FoundBatch(BaseModel):
    """What resembles each of the texts."""

    results: list[Found]


class Removed(BaseModel):
    """A document that is not there any more."""

    id: str
    removed: bool


class Stored(BaseModel):
    """A document of the index, as far as it is stored."""

    model_config = ConfigDict(extra="allow")

    id: str
    url: str | None = None
    text: str | None = Field(None, description="With --store text.")
    columns: dict[str, str] = Field(default={}, description="Those that the index keeps.")


class Duplicates(BaseModel):
    """The near-duplicates of a document."""

    id: str
    duplicates: list[Match]
    complete: bool = _COMPLETE


class Compared(BaseModel):
    """Two documents: by every measure and with shared passages where both texts are at hand, else as far as stored."""

    model_config = ConfigDict(extra="allow")

    similar: bool
    measure: MeasureName | ReportedMeasure | Literal[""]
    threshold: float | None


class Listed(BaseModel):
    """A part of the list of ids."""

    ids: list[str] = Field(description="Fewer than `limit`: there are no more.")


class GroupBody(BaseModel):
    """A document, and those that were found to resemble it."""

    id: str
    size: Positive = Field(description="Documents, itself included.")
    members: list[str] = Field(description="Their ids, its own first; not more than were asked for.")


class Groups(BaseModel):
    """A part of the list of groups."""

    groups: list[GroupBody]
    total_groups: Positive = Field(description="Of the index, however many are listed.")
    total_documents: Positive = Field(description="In all of them.")


class StatsBody(BaseModel):
    """What the index holds, and how it was made."""

    model_config = ConfigDict(extra="allow")

    documents: Positive


class Health(BaseModel):
    """Whether the service is well."""

    status: Literal["ok", "ready"]


class ProblemBody(BaseModel):
    """Why a request was not met (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str = Field(description="A stable word, as in docs/service.md.")
    detail: str
    hint: str | None = None
    request_id: str = Field(description="In the log, and in the header X-Request-ID.")


_OF_RAW = "Of a raw text."
_OF_LINES = "Of a raw text, or of all lines."


class AddSettings(BaseModel):
    """What may stand in the URL of what is added."""

    id: Id | None = Field(None, description=_OF_RAW)
    url: Url | None = Field(None, description=_OF_RAW)
    if_new: bool | None = Field(None, description=_OF_LINES)
    replace: bool | None = Field(None, description=_OF_LINES)
    quiet: bool | None = Field(None, description="Of lines of JSON: answer those that were not added.")


class QuerySettings(BaseModel):
    """What may stand in the URL of a question."""

    limit: int | None = Field(None, ge=1, le=1000, description=_OF_LINES)
    threshold: float | None = Field(None, gt=0, le=1, description=_OF_LINES)
    url: Url | None = Field(None, description=_OF_RAW)
    where: list[str] | None = Field(None, max_length=100, description=_OF_LINES)
