"""`weft models`: lists models with their abilities and prices."""

import argparse
import sys
from difflib import get_close_matches

import msgspec

from weft.cli.terminal import BOLD, DIM, Colours, align_columns, print_note
from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import encode_text

EXAMPLES = """examples:
  weft models                        models whose key is set, and those of local servers
  weft models --provider anthropic   all known models of a provider
  weft models --search haiku --json

Other models of a provider can be used as well; this is only the price list."""


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    provider: str
    usable: bool
    """Its key is set, or it needs no key."""
    is_default: bool = False
    context_window: int | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--provider", metavar="NAME", help="all known models of this provider")
    parser.add_argument("--search", default="", metavar="TEXT", help="only names that contain the text")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    found = [each for each in _list_models(options.provider) if options.search.lower() in each.name.lower()]
    if options.json:
        for each in found:
            print(encode_text(each))
        return 0
    if not found:
        print_note(_nothing_found(options))
        return 1
    paint = Colours(sys.stdout)
    head = ["model", "context", "sees", "thinks", "$ in", "$ out", ""]
    lines = align_columns([head, *(_row(each) for each in found)])
    print(paint(lines[0], BOLD))
    for line, each in zip(lines[1:], found, strict=True):
        print(line if each.usable else paint(line, DIM))
    return 0


def _list_models(provider: str | None) -> list[ModelRow]:
    from weft.providers.catalogue import known_models
    from weft.server.models import KnownModels

    offered = KnownModels()
    sizes = {name: size for server in offered.servers.find() for name, size in server.context_sizes.items()}
    try:
        default = offered.default
    except WeftError:
        default = ""
    names = [view.name for view in offered.list_models()]
    usable = set(names)
    if provider is not None:
        local = {name.partition("/")[0] for name in names} & {"local"}
        _check_provider(provider, [*(view.name for view in offered.list_providers()), *local])
        own = [f"{provider}/{model}" for model in known_models(provider, _priced_as(provider))]
        names = [*(name for name in names if name.partition("/")[0] == provider), *own]
    names = list(dict.fromkeys(names))
    keyed = {view.name for view in offered.list_providers() if view.key_set}
    return [
        _describe_model(name, name in usable or name.partition("/")[0] in keyed, name == default, sizes.get(name))
        for name in names
    ]


def _priced_as(provider: str) -> str:
    from weft.providers.factory import resolve_endpoint

    try:
        return resolve_endpoint(provider).price_provider or provider
    except WeftError:  # it has no address, such as Azure
        return provider


def _check_provider(provider: str, known: list[str]) -> None:
    if provider in known:
        return
    near = get_close_matches(provider, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
    raise ConfigurationError(f"There is no provider {provider!r}; {hint}")


def _describe_model(name: str, usable: bool, is_default: bool, size: int | None) -> ModelRow:
    from weft.providers.catalogue import describe_model
    from weft.providers.factory import resolve

    provider = name.partition("/")[0]
    row = ModelRow(name=name, provider=provider, usable=usable, is_default=is_default)
    try:
        info = describe_model(resolve(name))
    except WeftError:  # it has no address
        free = {"input_usd_per_million": 0.0, "output_usd_per_million": 0.0}
        return msgspec.structs.replace(row, vision=True, reasoning=False, **free) if provider == "local" else row
    fields = ("context_window", "vision", "reasoning", "input_usd_per_million", "output_usd_per_million")
    row = msgspec.structs.replace(row, **{field: getattr(info, field) for field in fields})
    return msgspec.structs.replace(row, context_window=size) if size is not None else row


def _row(each: ModelRow) -> list[str]:
    marks = {True: "yes", False: "", None: "?"}
    size = f"{each.context_window // 1000}k" if each.context_window else "?"
    notes = ["default"] * each.is_default + ["no key"] * (not each.usable)
    usd = (each.input_usd_per_million, each.output_usd_per_million)
    prices = ["?" if price is None else f"{price:.2f}" for price in usd]
    return [each.name, size, marks[each.vision], marks[each.reasoning], *prices, ", ".join(notes)]


def _nothing_found(options: argparse.Namespace) -> str:
    if options.search:
        return f"No model's name contains {options.search!r}; try another word, or --provider."
    if options.provider:
        return f"No model of {options.provider} is in the price list; name one as {options.provider}/NAME."
    return "No key is set and no local server answers; `weft doctor` says what to do, --provider lists without a key."
