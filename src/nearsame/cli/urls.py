"""`nearsame urls`: URLs in, canonical URLs out; with --learn, what else does not matter in them."""

import sys
from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import engine, options, recipeoptions, sourceoptions, weboptions
from nearsame.cli.outcome import ended
from nearsame.cli.recipe import built
from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.web.rules import UrlRules
    from nearsame.web.urls import Urls

__all__ = ["urls"]


_LEARNING = options.section(
    "Learning",
    options.spec("--learn", is_flag=True, help="Learn from content which differences do not matter.", stands="no"),
    options.spec(
        "--save", metavar="FILE", writes=options.FILE, help="Write the learnt rules, as JSON.", stands="show them"
    ),
    options.spec("--rules", metavar="FILE", reads=True, help="Apply rules that --save wrote.", stands="none"),
    options.spec("--min-support", type=int, metavar="N", help="URLs that a rule must bring together.", stands="5"),
    options.spec(
        "--max-error", type=float, metavar="SHARE", help="Largest share of evidence against a rule.", stands="0.05"
    ),
    options.spec(
        "--noise", type=float, metavar="SHARE", help="Share of pages that change between visits.", stands="counted"
    ),
    options.spec("--min-hosts", type=int, metavar="N", help="Hosts that make a rule hold for all.", stands="3"),
    options.spec(
        "--held-out", type=float, metavar="SHARE", help="Share of the evidence to check rules on.", stands="0.3"
    ),
)
_THRESHOLDS = ("min_support", "max_error", "noise", "min_hosts", "held_out")


@click.command(cls=options.Command, short_help="Bring URLs to one form; learn what does not matter in them.")
@sourceoptions.SOURCES
@weboptions.content
@weboptions.canonical
@_LEARNING
@recipeoptions.method
@recipeoptions.text
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        writes=options.FILE,
        help="A file, as in a.parquet, a.csv.gz; - for JSON lines.",
        stands="none",
    ),
    options.overwriting("FILE"),
    options.SPREADSHEET,
    options.spec("--groups", is_flag=True, help="Write the URLs that share a form, by groups.", stands="all URLs"),
    options.spec("--surt", is_flag=True, help="A column of SURTs, as archives have them.", stands="no"),
    options.in_json("Counts"),
)
@options.room
@options.engine
@options.running
@click.pass_context
def urls(ctx: click.Context, /, **given: Any) -> int:
    """Bring URLs to one canonical form, and show which of them name one page.

    SOURCE is a text file of URLs, one a line; - for standard input; or whatever `nearsame dedup` reads, with a column
    of URLs. FILE has the columns url, canonical, rules (those that changed something) and degree; with --groups group,
    canonical, url and count. No rule merges two hosts but --www. Defaults stand in brackets.

    --learn needs pages: URLs and texts, which are compared as `nearsame dedup` does (the options under Method and
    Text), or --clusters, or --cluster-column. It finds parameters and parts of URLs that do not matter, each with
    the evidence for and against it, also on a part held out.
    """
    _check(ctx, given)
    from nearsame.outputs import addresses, console, lists
    from nearsame.web.rules import UrlRules
    from nearsame.web.urls import urls as find

    path = given["output"]
    if path not in (None, "-"):
        lists.writer(path, spreadsheet=given["spreadsheet"])
    recipe = weboptions.recipe_of(given)
    rules = None if given["rules"] is None else UrlRules.load(given["rules"], recipe)
    report = console.Report(sys.stderr if path == "-" else sys.stdout)
    quiet = given["quiet"] or given["as_json"]
    with engine.running_on({**given, "output": None}) as place:
        on = place.get("engine")
        if given["learn"]:
            rules = _learnt(ctx, given, on)
        forms = find(given["sources"], recipe=recipe, rules=rules, url_column=given["url_column"], engine=on)
    _write(given, forms, rules)  # first: who reads the summary may go away
    if not quiet:
        addresses.show_urls(report, forms.stats.record(), forms.groups, forms.skipped)
        if given["learn"] and rules is not None:
            addresses.show_rules(report, rules.record())
        for place in (path, given["save"]):
            if place not in (None, "-"):
                report.written(place)
    if given["as_json"]:
        learnt = {"learnt": rules.record()} if rules is not None and given["learn"] else {}
        console.print_json({**forms.stats.record(), "recipe": forms.recipe.record(), **learnt})
    return ended(forms.stats.unread, forms.skipped, given)


def _learnt(ctx: click.Context, given: dict[str, Any], on: Any) -> "UrlRules":
    from nearsame.outputs import console
    from nearsame.web.dust import learn_urls
    from nearsame.web.learning import Learning

    learning = Learning(**{name: given[name] for name in _THRESHOLDS if given[name] is not None})
    places = {name: given[name] for name in ("url_column", "cluster_column", "clusters")}
    settings: dict[str, Any] = {}
    if given["clusters"] is None and given["cluster_column"] is None:
        settings = {name: given[name] for name in weboptions.DEDUP}
        settings["method"] = built(ctx.command, dict(given))
    with console.watched(quiet=given["quiet"]) as progress:
        if settings:
            settings["progress"] = progress
        recipe = weboptions.recipe_of(given)
        return learn_urls(given["sources"], recipe=recipe, learning=learning, engine=on, **places, **settings)


def _write(given: dict[str, Any], forms: "Urls", rules: "UrlRules | None") -> None:
    from nearsame.outputs import lists

    path = given["output"]
    if path == "-":
        table = forms.groups if given["groups"] else forms.with_surt() if given["surt"] else forms.table
        lists.json_lines(table, sys.stdout.buffer)
    elif path is not None:
        forms.write(path, **{name: given[name] for name in ("groups", "surt", "overwrite", "spreadsheet")})
    if given["save"] is not None and rules is not None:
        rules.save(given["save"], overwrite=given["overwrite"])


def _require_no_file(given: dict[str, Any]) -> None:
    """Refuse options about a file that is not written."""
    for name, idle in (("overwrite", given["save"] is None), ("spreadsheet", True)):
        if given[name] and idle:
            raise ConfigError(f"--{name} does nothing without a file to write", hint="Leave it out.")


def _check(ctx: click.Context, given: dict[str, Any]) -> None:
    engine.check(given, anywhere=("up_to", "spreadsheet"))
    path = given["output"]
    if path == "-" and given["as_json"]:
        raise ConfigError("--json and -o -: both want standard output", hint="Leave one out.")
    if path in (None, "-"):
        _require_no_file(given)
    if given["groups"] and given["surt"]:
        raise ConfigError("--groups and --surt: groups have no column of SURTs", hint="Leave one out.")
    for name in ("groups", "surt"):
        if given[name] and path is None:
            raise ConfigError(f"--{name} does nothing without -o", hint="Add -o FILE, or -o - to see them.")
    if given["learn"] and given["rules"] is not None:
        raise ConfigError("--learn and --rules: rules are learnt, or read", hint="Leave one out.")
    if given["learn"] and "-" in given["sources"]:
        raise ConfigError("--learn reads its source twice, and - can be read only once", hint="Name a file.")
    if not given["learn"]:
        only = [name for name in weboptions.given_names(ctx, "Learning") if name != "--rules"]
        clusters = [
            name for name in ("--clusters", "--cluster-column") if given[name[2:].replace("-", "_")] is not None
        ]
        others = [*only, *clusters, *weboptions.for_comparing(ctx)]
        weboptions.refuse(others, "does nothing without --learn", "Add --learn.")
    elif given["clusters"] is not None or given["cluster_column"] is not None:
        hint = "Leave it out, or the clusters."
        weboptions.refuse(weboptions.for_comparing(ctx), "does nothing where clusters are given", hint)
