"""From options to a recipe: the one place.

1. An option that the chosen method does not have is an error that names both; none is ever ignored.
2. What a value may be is the recipe's business.
"""

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from nearsame.cli.options import Option
from nearsame.cli.recipeoptions import METHODS
from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.recipes.methods import Method

__all__ = ["built", "hashes"]


def built(command: click.Command, options: dict[str, Any]) -> "Method":
    """Take the recipe's options out of `options`, and make the recipe."""
    from nearsame.recipes import methods as recipes

    name = options.pop("method")
    is_chosen = click.get_current_context().get_parameter_source("method") is not ParameterSource.DEFAULT
    if options.get("codes_column") is not None and not is_chosen:
        name = "codes"
    methods = _choices(command)
    known = {method: recipes.METHODS[method].model_fields for method in methods}
    settings = {}
    for option in command.params:
        if isinstance(option, Option) and option.setting and (value := options.pop(str(option.name))) is not None:
            if option.name not in known[name]:
                _refuse(option, value, name, [method for method in methods if option.name in known[method]])
            settings[str(option.name)] = value
    if isinstance(settings.get("table"), str):
        settings["table"] = hashes(settings["table"])
    return recipes.by_name(name, **settings)


def hashes(path: str) -> Any:
    """The table of hashes in a file."""
    from nearsame.sources.whole import read_json

    return read_json(path, 'hashes by feature, as in {"the": 13}')


def _choices(command: click.Command) -> tuple[str, ...]:
    """The methods that a command offers; all, where it has no option for them."""
    for param in command.params:
        if param.name == "method" and isinstance(param.type, click.Choice):
            return tuple(param.type.choices)
    return METHODS


def _refuse(option: Option, value: Any, method: str, others: list[str]) -> None:
    spelt = option.secondary_opts[0] if value is False and option.secondary_opts else option.opts[0]
    choices = " or ".join(f"--method {other}" for other in others)
    raise ConfigError(f"--method {method} has no option {spelt}", hint=f"Leave it out, or choose {choices}.")
