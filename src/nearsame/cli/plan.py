"""`nearsame plan`: what a choice of bands, or of k, will find and miss."""

import shutil
import sys
from typing import Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.errors import ConfigError
from nearsame.printable import lacks_bars
from nearsame.recipes.choices import JudgedBy

__all__ = ["plan"]

_SIMHASH = ("bits", "k", "measure", "codes")
_COMMON = ("threshold", "recall")
_PLANNING = options.section(
    "Method",
    options.setting(
        "--threshold", metavar="NUMBER", help="Least similarity of the pairs that are wanted.", stands="0.8"
    ),
    options.setting("--recall", type=float, metavar="NUMBER", help="Chance of finding a pair at it.", stands="0.99"),
    options.setting("--num-perm", type=int, metavar="N", help="Values in a MinHash signature.", stands="128"),
    options.setting("--bands", type=int, metavar="N", help="Bands; of --rows alone, the fewest.", stands="from recall"),
    options.setting(
        "--rows", type=int, metavar="N", help="Values in a band; of --bands alone, the most.", stands="from recall"
    ),
    recipeoptions.CHOICE,
    options.spec("--simhash", is_flag=True, help="Show SimHash's curve instead of MinHash's.", stands="MinHash"),
    options.setting("--bits", type=int, metavar="N", help="simhash: bits of a code.", stands="64"),
    options.setting("--k", type=int, metavar="N", help="simhash: bits in which two codes may differ.", stands="3"),
    options.setting(
        "--measure", type=options.words(JudgedBy), help="simhash: what similarities are.", stands="jaccard"
    ),
    options.setting("--codes", type=int, metavar="N", help="simhash: how many are searched.", stands="1000000"),
    options.spec(
        "--also",
        multiple=True,
        metavar="BxR|K",
        help="Other bands x rows (15x5), or with --simhash another k, in the same picture.",
        stands="none",
    ),
    sourceoptions.TEXT_COLUMN,
    options.spec("--sample", type=int, metavar="N", help="Documents to look at.", stands="10000"),
)


@click.command(cls=options.Command, short_help="Show what a threshold and a recall, or SimHash's k, find and miss.")
@click.argument("corpus", cls=options.Argument, nargs=-1, metavar="[SOURCE]...", reads=True)
@sourceoptions.page_settings
@_PLANNING
@recipeoptions.text
@options.output(
    options.spec(
        "--plot", metavar="FILE", writes=options.FILE, help="Draw the curve: a .svg or .png file.", stands="none"
    ),
    options.spec(
        "--report", metavar="FILE", writes=options.FILE, help="A page with the curve and tables, .html.", stands="none"
    ),
    options.overwriting("FILE"),
    options.in_json("The plan", "tables"),
)
@options.running_plainly
@click.pass_context
def plan(ctx: click.Context, /, **given: Any) -> int:
    """Show what a threshold and a recall, or SimHash's k, find and miss.

    For MinHash: the bands and rows that are chosen, why, the S-curve, its areas of false positives and false negatives,
    and the pairs lost at the threshold and above. With SOURCE, read as in `nearsame dedup`, also the candidates
    that its own similarities would give. Defaults stand in brackets.
    """
    settings = _settings(ctx.command, given)
    if given["overwrite"] and given["plot"] is None and given["report"] is None:
        raise ConfigError("--overwrite does nothing without --plot or --report", hint="Leave it out.")
    if given["plot"] is not None or given["report"] is not None:
        _require_files(given)
    made: Any = _simhash(given, settings) if given["simhash"] else _bands(given, settings)
    if given["plot"] is not None or given["report"] is not None:
        _write_files(made, given)
    if given["as_json"]:
        from nearsame.outputs import console

        console.print_json(made.record())
    else:
        from nearsame.outputs import plans

        text = plans.simhash_text if given["simhash"] else plans.plan_text
        width = min(shutil.get_terminal_size().columns, 80)
        click.echo(text(made, ascii_only=lacks_bars(sys.stdout.encoding), width=width), nl=False)
    if not getattr(made, "unread", 0):
        return 0
    from nearsame.cli.outcome import ended

    return ended(made.unread, [], {"quiet": False})  # a note has said it


def _require_files(given: dict[str, Any]) -> None:
    """Refuse names that say no format, and what is missing to draw, before anything is computed."""
    from nearsame.outputs import plots, reports

    if given["report"] is not None:
        reports.require_report(given["report"])
    if given["plot"] is not None:
        plots.check_name(given["plot"])
    plots.altair()


def _write_files(made: Any, given: dict[str, Any]) -> None:
    from nearsame.outputs import plots, reports

    if given["plot"] is not None:
        draw = plots.simhash_chart if given["simhash"] else plots.plan_chart
        plots.write_chart(draw(made), given["plot"], overwrite=given["overwrite"])
    if given["report"] is not None:
        reports.write_report(made, given["report"], overwrite=given["overwrite"])


def _settings(command: click.Command, given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, as the plan takes them."""
    chosen = [option for option in command.params if isinstance(option, options.Option) and option.setting]
    values = {str(option.name): given.pop(str(option.name)) for option in chosen}
    spelt = {str(option.name): option.opts[0] for option in chosen}
    settings = {name: value for name, value in values.items() if value is not None}
    own = (*_SIMHASH, *_COMMON)
    wrong = [name for name in settings if (name not in own if given["simhash"] else name in _SIMHASH)]
    if wrong and given["simhash"]:
        raise ConfigError(f"--simhash has no option {spelt[wrong[0]]}", hint="Leave one of them out.")
    if wrong:
        raise ConfigError(f"{spelt[wrong[0]]} needs --simhash", hint="Add --simhash, or leave it out.")
    return settings


def _bands(given: dict[str, Any], settings: dict[str, Any]) -> Any:
    from nearsame.flow.options import TextOptions
    from nearsame.studies.plan import plan as make

    return make(
        corpus=given["corpus"] or None,
        sample_size=given["sample"],
        also=[(pair[0], pair[1]) for pair in (_numbers(text, 2) for text in given["also"])],
        **{**options.given_options(given, TextOptions), **settings},
    )


def _simhash(given: dict[str, Any], settings: dict[str, Any]) -> Any:
    from nearsame.flow.options import TextOptions
    from nearsame.studies.plan import plan_simhash

    if given["corpus"]:
        raise ConfigError(f"--simhash takes no SOURCE: {given['corpus'][0]!r}", hint="Leave one of them out.")
    if given["sample"] is not None:
        raise ConfigError("--sample does nothing with --simhash", hint="Leave one of them out.")
    for name in options.given_options(given, TextOptions):
        if given[name] is not None:
            raise ConfigError(f"--{name.replace('_', '-')} does nothing with --simhash", hint="Leave one of them out.")
    numbers: dict[str, Any] = {
        name: _number(name, value) if name in _COMMON else value for name, value in settings.items()
    }
    return plan_simhash(**numbers, also=[_numbers(text, 1)[0] for text in given["also"]])


def _numbers(text: str, how_many: int) -> tuple[int, ...]:
    """The numbers of another setting: bands and rows, or k."""
    parts = text.lower().replace(" ", "").split("x")
    if len(parts) != how_many or not all(map(str.isdecimal, parts)):
        hint = "Write bands x rows, as in 15x5." if how_many == 2 else "Write a whole number, as in 6."
        raise ConfigError(f"--also {text!r} is not a setting", hint=hint)
    return tuple(map(int, parts))


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"{name}={value!r} is not a number", hint="Write it as in 0.8.") from None
