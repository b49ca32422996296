"""What `--help` shows of a command with many options: those that people need first, all, or those of one topic.

1. A topic is a section of the help, or a method: then its settings are shown. A group has its commands for topics.
2. A command with few options shows them all.
"""

from collections.abc import Sequence
from typing import Any

import click

__all__ = ["FIRST", "MANY", "SECTIONS", "help_option", "write"]

SECTIONS = (
    "Sources", "Listening", "Limits", "URLs", "Learning", "Mirrors", "Method", "Text", "Deciding", "Output",
    "Engine", "Running",
)  # fmt: skip
FIRST = frozenset({
    "against", "text_column", "url_column", "sources", "method", "also", "threshold", "shingle_size", "keep", "prefer",
    "min_common", "example", "codes", "learn", "save", "rules", "output", "overwrite", "max_pairs", "groups", "tables",
    "dry_run", "as_json", "store", "memory", "engine", "quiet", "help",
})  # fmt: skip
MANY = 40  # options: with fewer, all are shown
_TOPIC = "nearsame.help"  # where a context keeps what was asked for
_ALL, _SHORT = "all", "first"


def help_option(names: Sequence[str], what: str = "TOPIC") -> click.Option:
    """`--help`, which may be given a topic, or a command of a group."""
    return click.Option(
        list(names),
        metavar=f"[{what}]",
        is_flag=False,
        flag_value=_SHORT,
        is_eager=True,
        expose_value=False,
        callback=_show,
        help="Show this, or all that belongs to TOPIC, and exit."
        if what == "TOPIC"
        else f"Show this, or the help of {what}, and exit.",
    )


def _show(ctx: click.Context, _: click.Parameter, topic: str | None) -> None:
    if topic is None or ctx.resilient_parsing:
        return
    kind, topics = "topic", [_ALL, *_topics(_options(ctx))]
    if isinstance(ctx.command, click.Group):
        kind, topics = "command", ctx.command.list_commands(ctx)
    if topic not in (_SHORT, *topics):
        asked = topic or "''"
        raise click.UsageError(f"--help {asked}: there is no such {kind}; choose from {', '.join(topics)}", ctx)
    if isinstance(ctx.command, click.Group) and topic in topics:
        ctx = click.Context(ctx.command.get_command(ctx, topic) or ctx.command, ctx, topic)
    ctx.meta[_TOPIC] = topic if kind == "topic" else _SHORT
    click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()


def write(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The options in their sections, and where the others are named."""
    options = _options(ctx)
    topic = ctx.meta.get(_TOPIC, _SHORT)
    shown = _of_topic(options, topic)
    for name in SECTIONS:
        records = [record for option in shown if _section(option) == name and (record := option.get_help_record(ctx))]
        if records:
            with formatter.section(name):
                formatter.write_dl(records, col_max=28)
    if len(shown) < len(options):
        command, others = ctx.command_path, len(options) - len(shown)
        more = f"{others} more options: {command} --help all, or --help with one of {', '.join(_topics(options))}."
        formatter.write_paragraph()
        formatter.write_text(more)


def _of_topic(options: list[click.Option], topic: str) -> list[click.Option]:
    if topic == _ALL or (topic == _SHORT and len(options) < MANY):
        return options
    if topic == _SHORT:
        return [option for option in options if option.name in FIRST]
    if topic in _methods(options):
        from nearsame.recipes.methods import METHODS

        fields = METHODS[topic].model_fields
        return [option for option in options if getattr(option, "setting", False) and option.name in fields]
    return [option for option in options if _section(option).lower() == topic]


def _topics(options: list[click.Option]) -> list[str]:
    there = {_section(option) for option in options}
    return [*(name.lower() for name in SECTIONS if name in there), *_methods(options)]


def _methods(options: list[click.Option]) -> tuple[str, ...]:
    """The methods that one can choose from."""
    types: list[Any] = [option.type for option in options if option.name == "method"]
    return tuple(types[0].choices) if types and isinstance(types[0], click.Choice) else ()


def _section(option: click.Option) -> str:
    return str(getattr(option, "section", SECTIONS[-1]))


def _options(ctx: click.Context) -> list[click.Option]:
    params = ctx.command.get_params(ctx)
    return [param for param in params if isinstance(param, click.Option) and not param.hidden]
