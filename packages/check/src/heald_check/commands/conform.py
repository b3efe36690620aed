"""`heald conform`: tests a model server and prints one line a check."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Literal

from msgspec.structs import replace

from heald.commands.edit_formats import store_edit_format
from heald.commands.terminal import show_progress
from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import encode_text
from heald.providers.endpoint import Endpoint
from heald.providers.model import Model
from heald.providers.registry import installed_providers
from heald_check.conform.check_finding import Outcome
from heald_check.conform.checks import PROBED_WIRES, ConformanceResult, checks_of, run_checks
from heald_check.conform.probe_client import ProbeClient, ProbeTimeouts

EXAMPLES = """examples:
  heald conform --base-url http://127.0.0.1:8080/v1 --model qwen3
  heald conform --base-url http://127.0.0.1:11434 --wire ollama --model qwen3 --only text tool-call
  heald conform --base-url https://models.example.com/v1 --model m --api-key-env MINE_API_KEY --json

The requests cost tokens. exit status: 0 all right, 1 something wrong, 2 the server could not be tested"""
_OUTCOMES: tuple[Outcome, ...] = ("ok", "wrong", "skipped")
_ADVICE = {
    "text": "Tool calls do not work here, files as text do: use --edit-format text. `heald chat` and `heald run` now "
    "use it for this model.",
    "none": "Neither tool calls nor files as text work here: the model can talk, but not change files.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base-url", required=True, metavar="URL", help="such as http://127.0.0.1:8080/v1")
    parser.add_argument("--wire", default="chat", choices=PROBED_WIRES, help="API of the server (chat)")
    parser.add_argument("--model", required=True, metavar="NAME", help="a model that the server has")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--only", nargs="+", default=[], metavar="CHECK", help="run these checks only")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=ProbeTimeouts().silence,
        metavar="SECONDS",
        help="longest silence of the server",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(args: argparse.Namespace) -> int:
    try:
        return asyncio.run(_conform(args))
    except HealdError as error:
        print(f"heald conform: {error}", file=sys.stderr)
        return 2


async def _conform(args: argparse.Namespace) -> int:
    _check_names(args.wire, args.only)
    model = _model(args)
    counts: Counter[Outcome] = Counter()
    outcomes: dict[str, Outcome] = {}
    show_progress("the first check")
    async for verdict in run_checks(ProbeClient(model, ProbeTimeouts(silence=args.timeout)), args.only):
        show_progress("")
        counts[verdict.outcome] += 1
        outcomes[verdict.check] = verdict.outcome
        _print(_as_json(verdict) if args.json else _as_line(verdict))
        show_progress("the next check")
    show_progress("")
    summary = {outcome: counts[outcome] for outcome in _OUTCOMES}
    _print(encode_text({"summary": summary}) if args.json else ", ".join(f"{n} {name}" for name, n in summary.items()))
    if (edit_format := _find_edit_format(outcomes)) is not None:
        store_edit_format(model, writes_text=edit_format == "text")
    if not args.json and edit_format in _ADVICE:
        _print(_ADVICE[edit_format])
    return 1 if counts["wrong"] else 0


def _find_edit_format(outcomes: Mapping[str, Outcome]) -> Literal["tools", "text", "none"] | None:
    """Find how this model should change files. Returns None if its answers do not show it."""
    if "tool-call" not in outcomes or "text-edit" not in outcomes:
        return None
    if outcomes["tool-call"] == "ok" and outcomes.get("continuation") in ("ok", None):
        return "tools"
    return "text" if outcomes["text-edit"] == "ok" else "none"


def _check_names(wire: str, only: list[str]) -> None:
    names = [check.name for check in checks_of(wire)]
    for name in only:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose among {', '.join(names)}."
            raise ConfigurationError(f"There is no check {name!r} for the wire {wire}; {hint}")


def _model(args: argparse.Namespace) -> Model:
    """Make the model from the options, with the quirks of the provider if the address is one of a preset."""
    here = (args.wire, args.base_url.rstrip("/"))
    endpoints = installed_providers().values()
    preset = next((endpoint for endpoint in endpoints if (endpoint.wire, endpoint.base_url) == here), None)
    endpoint = preset or Endpoint(provider="your server", wire=args.wire, base_url=here[1])
    keys = (args.api_key_env,) if args.api_key_env else ()
    model = Model.at(replace(endpoint, key_envs=keys, key_required=bool(keys)), args.model)
    model.require_key()
    return model


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


def _print(line: str) -> None:
    """Print at once, in the character set of the terminal."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding), flush=True)


def _as_line(verdict: ConformanceResult) -> str:
    case = f" [{verdict.case}]" if verdict.case else ""
    return f"{verdict.outcome:<8} {verdict.check:<18} {verdict.seen} | {verdict.right}{case}"


def _as_json(verdict: ConformanceResult) -> str:
    fields = {"outcome": verdict.outcome, "check": verdict.check, "seen": verdict.seen, "right": verdict.right}
    return encode_text({**fields, "case": verdict.case or None})
