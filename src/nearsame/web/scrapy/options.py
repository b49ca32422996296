"""What the settings of a Scrapy project say: every NEARSAME_ setting, read once and checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.recipes.choices import EXTRACTS, CrawlAction, Extract
from nearsame.recipes.methods import Method, MinHash, Recipe, by_name

__all__ = ["MEMORY", "NAMES", "CrawlOptions"]

Word = TypeVar("Word", bound=str)

MEMORY = "memory"
_ACTIONS: tuple[CrawlAction, ...] = get_args(CrawlAction)
_IN_JOBDIR = "nearsame.index"
_OWN_IN_JOBDIR = "nearsame.own"
_LINKS_IN_JOBDIR = "nearsame.links"
_DIGITS = 10  # of a number that can be meant
_FOLLOW = 25  # wasted pages of a kind: two years of a calendar; a listing that is worth it does not come near
NAMES = (
    "NEARSAME_ENABLED",
    "NEARSAME_INDEX",
    "NEARSAME_ACTION",
    "NEARSAME_METHOD",
    "NEARSAME_THRESHOLD",
    "NEARSAME_FOLLOW",
    "NEARSAME_MIN_WORDS",
    "NEARSAME_EXTRACT",
    "NEARSAME_TEXT_FIELD",
    "NEARSAME_HTML_FIELD",
    "NEARSAME_URL_FIELD",
    "NEARSAME_MARK_FIELD",
)


@dataclass(frozen=True)
class CrawlOptions:
    """The settings.

    Attributes:
        index: where documents are kept: a file, a postgresql:// URL, or `memory`.
        action: what becomes of near-duplicate items.
        job: the file that says which documents of the index are of a job that goes on; None: there is no job.
        links: the file that says which links such a job has given; None likewise.
        method: by which they are; None: an index that is there knows, and otherwise `MinHash()`.
        follow: how many pages of a kind may be wasted before links to them are dropped; 0: all are.
        min_words: pages of fewer words are not judged.
        extract: what of a page is compared.
        text_field: of items, that holds their text.
        html_field: of items, that holds markup, where there is no text.
        url_field: of items, that holds the URL of their page.
        mark_field: of items, that says what they resemble.
    """

    index: str
    action: CrawlAction
    job: Path | None
    links: Path | None
    method: Method | None
    follow: int
    min_words: int
    extract: Extract
    text_field: str
    html_field: str
    url_field: str
    mark_field: str

    @classmethod
    def of(cls, settings: BaseSettings) -> "CrawlOptions":
        """Read and check them.

        Raises:
            ConfigError: One of them is impossible, or not one of ours.
        """
        try:
            return cls._of(settings)
        except ConfigError as error:
            error.add_note(error.hint)  # Scrapy shows a traceback
            raise

    @classmethod
    def _of(cls, settings: BaseSettings) -> "CrawlOptions":
        unknown = [name for name in settings if str(name).startswith("NEARSAME_") and name not in NAMES]
        if unknown:
            raise ConfigError(f"{unknown[0]} is not a setting", hint=f"Choose from {', '.join(NAMES)}.")
        return cls(
            index=settings.get("NEARSAME_INDEX") or str(_in_job(settings, _IN_JOBDIR) or MEMORY),
            action=_one_of(settings, "NEARSAME_ACTION", _ACTIONS),
            job=_in_job(settings, _OWN_IN_JOBDIR),
            links=_in_job(settings, _LINKS_IN_JOBDIR),
            method=_method(settings),
            follow=_number(settings, "NEARSAME_FOLLOW", _FOLLOW),
            min_words=_number(settings, "NEARSAME_MIN_WORDS", 0),
            extract=_one_of(settings, "NEARSAME_EXTRACT", EXTRACTS),
            text_field=settings.get("NEARSAME_TEXT_FIELD", "text"),
            html_field=settings.get("NEARSAME_HTML_FIELD", "html"),
            url_field=settings.get("NEARSAME_URL_FIELD", "url"),
            mark_field=settings.get("NEARSAME_MARK_FIELD", "near_duplicate"),
        )


def _in_job(settings: BaseSettings, name: str) -> Path | None:
    """A file in the folder of the job, if there is one."""
    home = job_dir(settings)
    return None if home is None else Path(home) / name


def _number(settings: BaseSettings, name: str, default: int) -> int:
    value = settings.get(name, default)
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise ConfigError(f"{name}={value!r} is not a whole number from 0 on", hint="Give a number, as in 25.")
    return int(text)


def _one_of(settings: BaseSettings, name: str, choices: tuple[Word, ...]) -> Word:
    value = settings.get(name, choices[0])
    if value not in choices:
        raise ConfigError(f"{name}={value!r} is not one of {', '.join(choices)}", hint="Choose one of these.")
    return choices[choices.index(value)]


def _method(settings: BaseSettings) -> Method | None:
    """A recipe, its name, or its name with settings, as in {"method": "minhash", "recall": 0.999}."""
    given, threshold = settings.get("NEARSAME_METHOD"), settings.get("NEARSAME_THRESHOLD")
    more = {} if threshold is None else {"threshold": threshold}
    match given:
        case None:
            return MinHash(**more) if more else None
        case str():
            return by_name(given, **more)
        case Recipe() if not more:
            return cast("Method", given)
        case Mapping() if "method" in given:
            rest: dict[str, Any] = {str(name): value for name, value in given.items() if name != "method"}
            return by_name(given["method"], **rest, **more)
    message = f"NEARSAME_METHOD={given!r} and NEARSAME_THRESHOLD={threshold!r} do not make a recipe"
    raise ConfigError(message, hint='Give a name, as in "minhash", or a recipe with its own threshold.')
