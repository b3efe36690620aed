"""`heald models`: lists models with their abilities and prices."""

import argparse
import sys
from difflib import get_close_matches

import msgspec

from heald.commands.terminal import BOLD, DIM, Colours, print_note
from heald.commands.text_columns import align_columns
from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import encode_text

EXAMPLES = """examples:
  heald models                        models whose key is set, and those of local servers
  heald models --provider anthropic   all known models of a provider
  heald models --search haiku --json

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
    rows = [row for row in _list_models(options.provider) if options.search.lower() in row.name.lower()]
    if options.json:
        for row in rows:
            print(encode_text(row))
        return 0
    if not rows:
        print_note(_nothing_found(options))
        return 1
    paint = Colours(sys.stdout)
    head = ["model", "context", "sees", "thinks", "$ in", "$ out", ""]
    lines = align_columns([head, *(_row(row) for row in rows)])
    print(paint(lines[0], BOLD))
    for line, row in zip(lines[1:], rows, strict=True):
        print(line if row.usable else paint(line, DIM))
    return 0


def _list_models(provider: str | None) -> list[ModelRow]:
    from heald.providers.catalogue import known_models
    from heald_server.models import KnownModels

    offered = KnownModels()
    sizes = {name: size for server in offered.servers.find() for name, size in server.context_sizes.items()}
    try:
        default = offered.default
    except HealdError:
        default = ""
    names = [view.name for view in offered.list_models()]
    usable = set(names)
    if provider is not None:
        local = {name.partition("/")[0] for name in names} & {"local"}
        _check_provider(provider, [*(view.name for view in offered.list_providers()), *local])
        priced = [f"{provider}/{model}" for model in known_models(provider, _priced_as(provider))]
        names = [*(name for name in names if name.partition("/")[0] == provider), *priced]
    names = list(dict.fromkeys(names))
    keyed = {view.name for view in offered.list_providers() if view.key_set}
    return [
        _describe_model(name, name in usable or name.partition("/")[0] in keyed, name == default, sizes.get(name))
        for name in names
    ]


def _priced_as(provider: str) -> str:
    from heald.providers.resolve import resolve_endpoint

    try:
        return resolve_endpoint(provider).price_provider or provider
    except HealdError:  # it has no address, such as Azure
        return provider


def _check_provider(provider: str, names: list[str]) -> None:
    if provider in names:
        return
    near = get_close_matches(provider, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    raise ConfigurationError(f"There is no provider {provider!r}; {hint}")


def _describe_model(name: str, usable: bool, is_default: bool, size: int | None) -> ModelRow:
    from heald.providers.catalogue import describe_model
    from heald.providers.resolve import resolve

    provider = name.partition("/")[0]
    row = ModelRow(name=name, provider=provider, usable=usable, is_default=is_default)
    try:
        info = describe_model(resolve(name))
    except HealdError:  # it has no address
        free = {"input_usd_per_million": 0.0, "output_usd_per_million": 0.0}
        return msgspec.structs.replace(row, vision=True, reasoning=False, **free) if provider == "local" else row
    fields = ("context_window", "vision", "reasoning", "input_usd_per_million", "output_usd_per_million")
    row = msgspec.structs.replace(row, **{field: getattr(info, field) for field in fields})
    return msgspec.structs.replace(row, context_window=size) if size is not None else row


def _row(model: ModelRow) -> list[str]:
    marks = {True: "yes", False: "", None: "?"}
    size = f"{model.context_window // 1000}k" if model.context_window else "?"
    notes = ["default"] * model.is_default + ["no key"] * (not model.usable)
    usd = (model.input_usd_per_million, model.output_usd_per_million)
    prices = ["?" if price is None else f"{price:.2f}" for price in usd]
    return [model.name, size, marks[model.vision], marks[model.reasoning], *prices, ", ".join(notes)]


def _nothing_found(options: argparse.Namespace) -> str:
    if options.search:
        return f"No model's name contains {options.search!r}; try another word, or --provider."
    if options.provider:
        return f"No model of {options.provider} is in the price list; name one as {options.provider}/NAME."
    return "No key is set and no local server answers; see `heald doctor`. --provider lists models without a key."
