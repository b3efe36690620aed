"""`weft models`: the models that can be named here, with what they can do and cost."""

import argparse
import sys
from difflib import get_close_matches

import msgspec

from weft.cli.paint import BOLD, DIM, Paint, rows_of
from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import encode_text

_EXAMPLES = """examples:
  weft models                        those whose keys are set, and those of servers on this machine
  weft models --provider anthropic   all that are known of one, with or without a key
  weft models --search haiku --json

Any other model of a provider can be named as well; this is the price list, not a limit."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    provider: str
    usable: bool
    """Its key is set, or it needs none."""
    is_default: bool = False
    context_window: int | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "models",
        help="models that can be named here, and what they cost",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--provider", metavar="NAME", help="all that are known of this one")
    parser.add_argument("--search", default="", metavar="TEXT", help="those whose name holds the text")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = [each for each in _listed(options.provider) if options.search.lower() in each.name.lower()]
    if options.json:
        for each in found:
            print(encode_text(each))
        return 0
    if not found:
        print(f"weft: {_nothing(options)}", file=sys.stderr)
        return 1
    paint = Paint(sys.stdout)
    head = ["model", "context", "sees", "thinks", "$ in", "$ out", ""]
    lines = rows_of([head, *(_row(each) for each in found)])
    print(paint(lines[0], BOLD))
    for line, each in zip(lines[1:], found, strict=True):
        print(line if each.usable else paint(line, DIM))
    return 0


def _listed(provider: str | None) -> list[Listed]:
    from weft.providers.catalogue import known_models
    from weft.server.models import KnownModels

    offered = KnownModels()
    offered.servers.find()
    try:
        default = offered.default
    except WeftError:
        default = ""
    names = [view.name for view in offered.listed()]
    usable = set(names)
    if provider is not None:
        known = [
            *(view.name for view in offered.providers()),
            *({name.partition("/")[0] for name in names} & {"local"}),
        ]
        _check_provider(provider, known)
        own = [f"{provider}/{model}" for model in known_models(provider, _priced_as(provider))]
        names = [*(name for name in names if name.partition("/")[0] == provider), *own]
    names = list(dict.fromkeys(names))
    keyed = {view.name for view in offered.providers() if view.key_set}
    return [_one(name, name in usable or name.partition("/")[0] in keyed, name == default) for name in names]


def _priced_as(provider: str) -> str:
    from weft.providers.factory import endpoint_of

    try:
        return endpoint_of(provider).price_provider or provider
    except WeftError:  # one without an address, such as Azure's
        return provider


def _check_provider(provider: str, known: list[str]) -> None:
    if provider in known:
        return
    near = get_close_matches(provider, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
    raise ConfigurationError(f"There is no provider {provider!r}; {hint}")


def _one(name: str, usable: bool, is_default: bool) -> Listed:
    from weft.providers.catalogue import describe
    from weft.providers.factory import resolve

    provider = name.partition("/")[0]
    try:
        info = describe(resolve(name))
    except WeftError:  # it has no address
        listed = Listed(name=name, provider=provider, usable=usable, is_default=is_default)
        own = {"vision": True, "reasoning": False, "input_usd_per_million": 0.0, "output_usd_per_million": 0.0}
        return msgspec.structs.replace(listed, **own) if provider == "local" else listed
    return Listed(
        name=name,
        provider=provider,
        usable=usable,
        is_default=is_default,
        context_window=info.context_window,
        vision=info.vision,
        reasoning=info.reasoning,
        input_usd_per_million=info.input_usd_per_million,
        output_usd_per_million=info.output_usd_per_million,
    )


def _row(each: Listed) -> list[str]:
    marks = {True: "yes", False: "", None: "?"}
    size = f"{each.context_window // 1000}k" if each.context_window else "?"
    notes = ["default"] * each.is_default + ["no key"] * (not each.usable)
    prices = [_price(each.input_usd_per_million), _price(each.output_usd_per_million)]
    return [each.name, size, marks[each.vision], marks[each.reasoning], *prices, ", ".join(notes)]


def _price(dollars: float | None) -> str:
    return "?" if dollars is None else f"{dollars:.2f}"


def _nothing(options: argparse.Namespace) -> str:
    if options.search:
        return f"No model's name holds {options.search!r}; look with another word, or with --provider."
    if options.provider:
        return f"No model of {options.provider} is in the price list; name one as {options.provider}/NAME."
    return "No key is set and no local server answers; `weft doctor` says what to do, --provider lists without a key."
