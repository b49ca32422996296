"""`nearsame explain`: one text in, or two, a method step by step out."""

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.places import names_a_file
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError
from nearsame.recipes.choices import EXAMPLE_NAMES

if TYPE_CHECKING:
    from nearsame.answers.comparisons import Explanation

__all__ = ["explain"]

_READING = options.section(
    "Sources",
    options.spec(
        "--id",
        "ids",
        multiple=True,
        metavar="ID",
        help="FILE holds records: this one; twice for two, of one file or of each.",
        stands="a file is one text",
    ),
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
)
_EXPLAINING = options.section(
    "Method",
    recipeoptions.chosen("simhash"),
    *recipeoptions.SETTINGS,
    options.spec(
        "--orders",
        metavar="FILE",
        reads=True,
        help="minhash: JSON, lists of shingles in ascending order, instead of permutations.",
        stands="none",
    ),
    options.spec(
        "--numbers",
        is_flag=True,
        help="The text lists numbers: a vector, or hashes that are taken as they are.",
        stands="hyperplane yes, else no",
    ),
    options.spec(
        "--example",
        type=click.Choice(EXAMPLE_NAMES),
        metavar="NAME",
        help=f"A worked example of the literature: {', '.join(EXAMPLE_NAMES)}.",
        stands="none",
    ),
    options.spec(
        "--codes",
        metavar="CODES",
        help="How a --search finds near ones of these: 13,0b1101,0xd,1101 of 4 --bits, or the words of a file.",
        stands="none",
    ),
    options.spec(
        "--turns",
        metavar="N,...",
        help="adjacent: how far codes are turned left before each sort.",
        stands="every turn",
    ),
)
_FORMS = {"--json": "as_json", "--markdown": "markdown", "--html": "page"}
_OF_CODES = ("bits", "k", "search", "blocks", "header")


@click.command(cls=options.Command, short_help="Walk through a method with one text or two, step by step.")
@click.argument("text", cls=options.Argument, required=False, metavar="[FILE|TEXT]", reads=True)
@click.argument("other", cls=options.Argument, required=False, metavar="[FILE|TEXT]", reads=True)
@_READING
@sourceoptions.page_files
@_EXPLAINING
@recipeoptions.text
@options.output(
    options.WHOLE,
    options.spec("--markdown", is_flag=True, help="Tables of Markdown.", stands="for a terminal"),
    options.spec("--html", "page", metavar="FILE", writes=options.FILE, help="A page with pictures.", stands="none"),
    options.overwriting("FILE"),
    options.AS_JSON,
)
@options.running_plainly
@click.pass_context
def explain(ctx: click.Context, /, **given: Any) -> None:
    """Walk through a method with one text, step by step, as textbooks do; with two, side by side, and compare them.

    FILE is read as a text as a whole (of a web page, what is extracted), if it exists or is a URL; of a file of
    records --id chooses one. Anything else is the TEXT itself; - is standard input. Defaults stand in brackets.
    """
    _check_form(given)
    if given["example"] is not None:
        walk = _example(ctx, given)
    elif given["codes"] is not None:
        walk = _codes(ctx, given)
    else:
        walk = _texts(ctx, given)
    _show(walk, given)


def _check_form(given: dict[str, Any]) -> None:
    """Refuse two forms at once, and one that cannot be."""
    forms = [name for name in _FORMS if given[_FORMS[name]]]
    if len(forms) > 1:
        raise ConfigError(f"{forms[0]} and {forms[1]} are both given", hint="Leave one of them out.")
    if given["overwrite"] and given["page"] is None:
        raise ConfigError("--overwrite does nothing without --html FILE", hint="Leave it out.")


def _show(walk: "Explanation", given: dict[str, Any]) -> None:
    from nearsame.outputs import console, explanation
    from nearsame.outputs.report_page import ReportPage

    everything = given["everything"]
    if given["as_json"]:
        console.print_json(walk.record())
    elif given["markdown"]:
        click.echo(explanation.markdown(walk, everything=everything), nl=False)
    elif given["page"] is not None:
        from nearsame.outputs.reports import write_explanation

        write_explanation(walk, given["page"], overwrite=given["overwrite"], everything=everything)
        console.Report(sys.stdout).written(given["page"])
    else:
        explanation.report(ReportPage(sys.stdout), walk, everything=everything)


def _example(ctx: click.Context, given: dict[str, Any]) -> "Explanation":
    from nearsame.studies.explain import explain_example

    _refuse_others(ctx, "--example", ("example",))
    return explain_example(given["example"])


def _codes(ctx: click.Context, given: dict[str, Any]) -> "Explanation":
    from nearsame.sources.whole import read_text
    from nearsame.studies.explain import explain_codes

    _refuse_others(ctx, "--codes", ("codes", "turns", *_OF_CODES))
    codes = read_text(given["codes"]) if _is_file(given["codes"]) else given["codes"]
    settings = {name: given[name] for name in _OF_CODES if given[name] is not None}
    turns = None if given["turns"] is None else [_whole(turn) for turn in given["turns"].split(",")]
    return explain_codes(codes.replace(",", " ").split(), turns=turns, **settings)


def _texts(ctx: click.Context, given: dict[str, Any]) -> "Explanation":
    from nearsame.studies import explain as study

    if given["text"] is None:
        raise click.UsageError("Missing argument 'FILE|TEXT', or --example, or --codes.", ctx)
    if given["turns"] is not None:
        raise ConfigError("--turns does nothing without --codes", hint="Leave it out.")
    texts = [text for text in (given["text"], given["other"]) if text is not None]
    orders = _orders(given["orders"]) if given["orders"] else None
    recipe = built(ctx.command, given)
    are_numbers = given["numbers"] or recipe.of_vectors
    sides: list[Any] = _read(texts, given, are_numbers=are_numbers)
    if are_numbers:
        sides = list(map(_numbers, sides))
    return study.explain(*sides, method=recipe, orders=orders)


def _orders(file: str) -> Any:
    from nearsame.sources.whole import read_json

    return read_json(file, "a list of lists of texts")


def _refuse_others(ctx: click.Context, option: str, known: tuple[str, ...]) -> None:
    """Refuse what does nothing beside an option."""
    for param in options.typed(ctx):
        if param.name not in (*known, "everything", "overwrite", *_FORMS.values()):
            shown = param.opts[0] if isinstance(param, click.Option) else "a text"
            raise ConfigError(f"{option} takes no {shown.removeprefix('a ')}", hint="Leave one of them out.")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"--turns {text!r} is not a whole number", hint="Write them as in 0,2.") from None


def _read(texts: list[str], given: dict[str, Any], *, are_numbers: bool) -> list[str]:
    """What files and records hold, or the texts themselves."""
    ids, extract = given["ids"], given["extract"]
    if len(ids) > len(texts) == 1:
        texts = texts * 2
    if len(ids) > len(texts):
        raise ConfigError(f"--id is given {len(ids)} times", hint="A walk is for one document, or for two.")
    for name in ("text_column", "id_column"):
        if given[name] is not None and not ids:
            raise ConfigError(f"--{name.replace('_', '-')} does nothing without --id", hint="Leave it out.")
    rest = texts[len(ids) :]
    if "-" in texts:
        from nearsame.sources.kinds import require_distinct

        require_distinct(texts)
    files = [text for text in rest if _is_file(text)]
    if not are_numbers:
        _refuse_records(files)
    if extract is not None and not files and not ids:
        raise ConfigError(f"--extract {extract} does nothing to a text", hint="Name a web page, or leave it out.")
    chosen = _chosen(texts, given) if ids else []
    contents = _contents(files, None if ids else extract) if files else {}
    return [*chosen, *(contents.get(text, text) for text in rest)]


def _chosen(texts: list[str], given: dict[str, Any]) -> list[str]:
    """The texts of the records that --id names."""
    from nearsame.flow.page_reading import text_of_record, with_pages
    from nearsame.sources import Columns

    columns = with_pages(Columns(given["text_column"], given["id_column"]), {"extract": given["extract"]})
    return [text_of_record(*each, columns) for each in zip(texts, given["ids"], strict=False)]


def _contents(files: list[str], extract: Any) -> dict[str, str]:
    from nearsame.flow.whole_texts import texts_of

    return dict(zip(files, texts_of(files, extract), strict=True))


def _refuse_records(files: list[str]) -> None:
    from nearsame.files.formats import BY_SUFFIX
    from nearsame.files.systems import suffixed_name

    for file in files:
        if any(suffix in BY_SUFFIX for suffix in PurePath(suffixed_name(file)).suffixes[-2:]):
            raise ConfigError(f"{file} holds records, not one text", hint="Choose one of them with --id.")


def _is_file(text: str) -> bool:
    if text == "-" or ("://" in text and " " not in text):
        return True
    return names_a_file(text)


def _numbers(text: str) -> list[float]:
    """Numbers with spaces or commas between them, in brackets or not."""
    numbers = []
    for word in text.strip().strip("[]").replace(",", " ").split():
        try:
            numbers.append(int(word) if word.lstrip("+-").isdecimal() else float(word))
        except ValueError:
            raise ConfigError(f"{word!r} is not a number", hint="Write numbers with spaces between them.") from None
    return numbers
