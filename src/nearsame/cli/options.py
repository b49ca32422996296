"""What an option is, and those that several commands have: spelling, purpose, default in words.

1. Nothing here imports what computes: `--help` has to answer at once.
2. An option that is not given is None: the default is the recipe's own, and the text in brackets says it.
"""

import os
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, get_args

import click
from click.core import augment_usage_errors
from click.shell_completion import CompletionItem

from nearsame.cli import helping
from nearsame.cli.places import APART, BY_NAME, FILE, FOLDER, require_places
from nearsame.recipes.choices import KEEP_BY_COLUMN, KEEP_PLAIN, ClusterKind

__all__ = [
    "APART",
    "AS_JSON",
    "BY_NAME",
    "FILE",
    "FOLDER",
    "MEMORY",
    "QUIET",
    "REPORTING",
    "SPREADSHEET",
    "WHOLE",
    "Argument",
    "Command",
    "Commands",
    "Decorator",
    "Option",
    "auditing",
    "deciding",
    "engine",
    "given_options",
    "in_json",
    "ordering",
    "output",
    "overwriting",
    "room",
    "running",
    "running_plainly",
    "scanning_engine",
    "section",
    "setting",
    "spec",
    "switch",
    "words",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Spec = tuple[tuple[str, ...], dict[str, Any]]


class Option(click.Option):
    """An option with its section of the help, its default in words, and whether it is a setting of the recipe."""

    def __init__(
        self,
        *names: Any,
        section: str,
        stands: str = "",
        setting: bool = False,
        reads: bool = False,
        writes: str | None = None,
        **rest: Any,
    ) -> None:
        super().__init__(*names, **rest)
        self.section = section
        self.setting = setting
        self.reads = reads  # whether it names what is read
        self.writes = writes  # FILE, FOLDER, BY_NAME or APART, where it names what is written
        if stands:
            self.help = f"{self.help} [{stands}]"

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers: the words of a choice, or the names of files."""
        return _files(self, incomplete) or super().shell_complete(ctx, incomplete)


class Argument(click.Argument):
    """An argument that names what is read or written, as an option may."""

    def __init__(self, *names: Any, reads: bool = False, writes: str | None = None, **rest: Any) -> None:
        super().__init__(*names, **rest)
        self.reads = reads
        self.writes = writes

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers: the words of a choice, or the names of files."""
        return _files(self, incomplete) or super().shell_complete(ctx, incomplete)


def _files(parameter: "Option | Argument", incomplete: str) -> list[CompletionItem]:
    """What makes a shell offer the names of files, where a parameter names one."""
    return [CompletionItem(incomplete, type="file")] if parameter.reads or parameter.writes else []


class _Seed(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A whole number, or the word `random`."""

    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """What a recipe takes."""
        return value if value == "random" else click.INT.convert(value, param, ctx)


SEED = _Seed()


class Command(click.Command):
    """A command whose help groups the options by purpose, and which looks where it reads and writes before it runs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; of an option that is given twice, click would take the last without a word."""
        with augment_usage_errors(ctx):  # else a hint about what the parser refuses would not name the command
            # what is given twice is two arguments with a dash; parsing once more takes a tenth of a small run's work
            if not ctx.resilient_parsing and sum(arg.startswith("-") for arg in args) > 1:
                self._refuse_repeated(ctx, list(args))
            return super().parse_args(ctx, args)

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        parser, once = self.make_parser(ctx), []
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not (param.multiple or param.count):
                every = copy(param)
                every.multiple = True  # for the parser: it collects what it is given
                every.add_to_parser(parser, ctx)
                once.append(param)
        parsed = parser.parse_args(args)[0]
        if any(param.is_eager and parsed.get(str(param.name)) for param in once):  # --help
            return
        for param in once:
            values = parsed.get(str(param.name)) or []
            if param.is_flag and len(set(values)) > 1:
                both = " and ".join((param.opts[0], param.secondary_opts[0]))
                raise click.UsageError(f"{both} are both given", ctx)
            if not param.is_flag and len(values) > 1:
                times = "twice" if len(values) == 2 else f"{len(values)} times"
                given = ", ".join(value if isinstance(value, str) else str(param.flag_value) for value in values)
                raise click.UsageError(f"{param.opts[-1]} is given {times}: {given}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Refuse names that are not Unicode and places that cannot be used, before any work; then run the command."""
        self._refuse_no_unicode(ctx)
        require_places(self, ctx.params)
        return super().invoke(ctx)

    def _refuse_no_unicode(self, ctx: click.Context) -> None:
        """Names of files are bytes; nothing else that is given can be what is not Unicode."""
        for param in self.params:
            if getattr(param, "reads", False) or getattr(param, "writes", None):
                continue
            name = param.opts[-1] if isinstance(param, Option) else (param.metavar or "").strip("[].")
            value = ctx.params.get(str(param.name))
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and "\udc80" <= max(text, default="") <= "\udcff":
                    shown = os.fsencode(text).decode("utf-8", "backslashreplace")
                    raise click.UsageError(f"{name} {shown} is not UTF-8", ctx)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help`, which also takes a topic: a section of the help, or a method."""
        if self._help_option is None:
            self._help_option = helping.help_option(self.get_help_option_names(ctx))
        return self._help_option

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, and --help with the last."""
        helping.write(ctx, formatter)


class Commands(click.Group):
    """A group whose commands stand in the order in which one meets them; `--help COMMAND` is the help of that one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        del ctx
        return list(self.commands)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help`, which also takes the name of a command, and then shows the help of that one."""
        if self._help_option is None:
            self._help_option = helping.help_option(self.get_help_option_names(ctx), "COMMAND")
        return self._help_option


def words(literal: Any) -> "click.Choice[str]":
    """A choice among the words of a Literal."""
    return click.Choice(get_args(literal))


def section(name: str, *specs: Spec) -> Decorator:
    """Options of one section of the help, made by `spec`, `setting` or `switch`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for names, settings in reversed(specs):
            function = click.option(*names, cls=Option, section=name, **settings)(function)
        return function

    return decorate


def spec(*names: str, **settings: Any) -> Spec:
    """An option, for `section`."""
    return names, settings


def setting(*names: str, **settings: Any) -> Spec:
    """An option that is a setting of the recipe."""
    return spec(*names, **{"setting": True, "default": None, **settings})


def switch(*names: str, value: bool = True, **settings: Any) -> Spec:
    """A setting that is given without a value."""
    return setting(*names, is_flag=True, flag_value=value, type=bool, **settings)


def _order(purpose: str) -> Spec:
    return spec("--order-column", metavar="NAME", help=purpose, stands="order of reading; on Spark id, then text")


ordering = section(
    "Deciding", _order("The first of a pair, and of identical documents, is the one with the lesser value.")
)

deciding = section(
    "Deciding",
    spec(
        "--keep",
        default="first",
        metavar="POLICIES",
        help=f"Which of two stays: {', '.join(KEEP_PLAIN)}, or {'|'.join(KEEP_BY_COLUMN)}:COLUMN; of several, as in"
        ' "max:quality, longest", a later one decides ties.',
        stands="first",
    ),
    spec(
        "--use",
        metavar="LAYERS",
        help="Run these, cheapest first; each removes before the next looks: url, redirect, canonical, revisit,"
        " digest, text (the method). As in url,digest,text.",
        stands="text",
    ),
    spec(
        "--group-by",
        metavar="COLUMN",
        help="Seek duplicates only among documents of one value: of a column, of folders lang=en, or the host.",
        stands="among all",
    ),
    spec("--no-within", is_flag=True, help="Compare with --against only.", stands="within, too"),
    spec(
        "--decisions",
        multiple=True,
        metavar="FILE",
        reads=True,
        help="Obey what people have decided: a file that nearsame review writes or a report saves. May be repeated.",
        stands="none",
    ),
    spec(
        "--clusters",
        type=words(ClusterKind),
        default="greedy",
        metavar="KIND",
        help="components: keep one of all that chains of similar pairs join.",
        stands="greedy: what is like a kept one goes",
    ),
    _order("Of two that --keep leaves equal, the one with the lesser value stays."),
)

auditing = section(
    "Deciding",
    spec(
        "--audit/--no-audit",
        default=None,
        help="Measure recall on a sample of the run itself.",
        stands="if the method may miss pairs, or for --report",
    ),
    spec(
        "--require-recall",
        type=click.FloatRange(0, 1),
        metavar="NUMBER",
        help="Exit with 4 if the measured recall is below.",
        stands="none",
    ),
)

residual = section(
    "Deciding",
    spec(
        "--max-residual",
        type=click.FloatRange(0, 1),
        metavar="NUMBER",
        help="Exit with 4 if more of what is kept has a kept near-duplicate.",
        stands="none",
    ),
)

MEMORY = spec(
    "--memory", metavar="SIZE", help="As in 4GB; what does not fit goes to files.", stands="half of what is free"
)
room = section(
    "Running",
    MEMORY,
    spec(
        "--workdir",
        metavar="DIR",
        writes=APART,
        help="Keep finished steps there; the same command continues.",
        stands="none",
    ),
)

_ENGINE = (
    spec(
        "--engine",
        type=click.Choice(("local", "spark")),
        default="local",
        metavar="NAME",
        help="local: this machine; spark: Apache Spark, which reads SOURCE itself.",
        stands="local",
    ),
    spec("--master", metavar="URL", help="spark: where, as in local[4] or spark://host:7077.", stands="local[*]"),
    spec("--conf", multiple=True, metavar="KEY=VALUE", help="spark: a setting of its own. Repeatable.", stands="none"),
    spec("--partitions", type=int, metavar="N", help="spark: partitions of the documents.", stands="as read"),
)
engine = section(
    "Engine",
    *_ENGINE,
    spec(
        "--broadcast",
        "broadcast_bytes",
        metavar="SIZE",
        help="spark: largest table held by every worker.",
        stands="256MB",
    ),
    spec(
        "--on-driver",
        "driver_bytes",
        metavar="SIZE",
        help="spark: documents, or keys and features, that the driver may decide; 0: none.",
        stands="128MB; of documents an eighth of free memory",
    ),
)

scanning_engine = section("Engine", *_ENGINE)  # of what holds and decides nothing there

WHOLE = spec("--all", "everything", is_flag=True, help="Cut nothing short.", stands="long ones are cut")
AS_JSON = spec("--json", "as_json", is_flag=True, help="All of it as JSON.", stands="for people")

_DEBUG = spec("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.", stands="one line")

QUIET = spec("-q", "--quiet", is_flag=True, help="Print errors only.", stands="progress and summary")
running = section(
    "Running",
    spec("--threads", type=int, metavar="N", help="How many; the answer is the same.", stands="all processors"),
    QUIET,
    _DEBUG,
)

running_plainly = section("Running", _DEBUG)


SPREADSHEET = spec(
    "--spreadsheet",
    is_flag=True,
    help="In .csv, a ' before texts that a spreadsheet would take for formulas.",
    stands="as they are",
)


# By engine.py, and by outcome.py: an answer that is not as good as required is written all the same.
_SEEN_TO = ("engine", "audit", "require_recall", "max_residual")


def overwriting(what: str, condition: str = "if it exists.") -> Spec:
    """Whether what is written takes the place of what is there."""
    return spec("--overwrite", is_flag=True, help=f"Replace {what} {condition}", stands="refuse")


REPORTING = (
    spec("--report", metavar="FILE", writes=FILE, help="A page of what was found, .html; or .json.", stands="none"),
    spec("--report-without-texts", is_flag=True, help="No text of a document in it.", stands="some, side by side"),
)


def in_json(what: str, stands: str = "summary") -> Spec:
    """Whether the answer comes as JSON."""
    return spec("--json", "as_json", is_flag=True, help=f"{what} as JSON on standard output.", stands=stands)


def typed(ctx: click.Context) -> list[click.Parameter]:
    """What was typed, of all that a command takes."""
    default = click.core.ParameterSource.DEFAULT
    return [param for param in ctx.command.params if ctx.get_parameter_source(str(param.name)) is not default]


def given_options(given: Mapping[str, Any], known: type) -> dict[str, Any]:
    """The options of the command line that a call of the library takes by the same name: `known` declares these."""
    names = [name for name in known.__annotations__ if name in given and name not in _SEEN_TO]
    return {name: None if given[name] == () else given[name] for name in names}


def output(*specs: Spec) -> Decorator:
    """What is written: each command has its own, made by `spec`."""
    return section("Output", *specs)
