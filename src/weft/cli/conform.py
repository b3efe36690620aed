"""`weft conform`: what somebody's server gets wrong, one line a check.

Exit status: 0 if all is right, 1 if something is wrong, 2 if the server could not be tested at all.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches

from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import encode_text
from weft.providers.model import Endpoint, Model
from weft.providers.presets import PRESETS
from weft.testing.conform.bench import Bench, Patience
from weft.testing.conform.checks import checks_of, run_checks
from weft.testing.conform.verdict import Outcome, Verdict
from weft.wires.registry import WIRES

_EXAMPLES = """examples:
  weft conform --base-url http://127.0.0.1:8080/v1 --model qwen3
  weft conform --base-url http://127.0.0.1:11434 --wire ollama --model qwen3 --only text tool-call
  weft conform --base-url https://models.example.com/v1 --model m --api-key-env MINE_API_KEY --json

exit status: 0 all right, 1 something wrong, 2 the server could not be tested"""
_OUTCOMES: tuple[Outcome, ...] = ("ok", "wrong", "skipped")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = subparsers.add_parser(
        "conform",
        help="find out what a model server gets wrong",
        description="Send real requests to a model server and print what it gets wrong. The requests cost tokens.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base-url", required=True, metavar="URL", help="such as http://127.0.0.1:8080/v1")
    parser.add_argument("--wire", default="chat", choices=list(WIRES), help="the API it speaks (chat)")
    parser.add_argument("--model", required=True, metavar="NAME", help="a model that the server has")
    parser.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the key")
    parser.add_argument("--only", nargs="+", default=[], metavar="CHECK", help="run these checks only")
    parser.add_argument("--timeout", type=_seconds, default=Patience.silence, metavar="SECONDS", help="without a byte")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    try:
        return asyncio.run(_conform(args))
    except WeftError as error:
        print(f"weft conform: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the lines has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


async def _conform(args: argparse.Namespace) -> int:
    _check_names(args.wire, args.only)
    model = _model(args)
    counts: Counter[Outcome] = Counter()
    _wait("the first check")
    async for verdict in run_checks(Bench(model, Patience(silence=args.timeout)), args.only):
        _wait("")
        counts[verdict.outcome] += 1
        _print(_as_json(verdict) if args.json else _as_line(verdict))
        _wait("the next check")
    _wait("")
    told = {outcome: counts[outcome] for outcome in _OUTCOMES}
    _print(encode_text({"summary": told}) if args.json else ", ".join(f"{n} {name}" for name, n in told.items()))
    return 1 if counts["wrong"] else 0


def _check_names(wire: str, only: list[str]) -> None:
    known = [check.name for check in checks_of(wire)]
    for name in only:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose among {', '.join(known)}."
            raise ConfigurationError(f"There is no check {name!r} for the wire {wire}; {hint}")


def _model(args: argparse.Namespace) -> Model:
    """The model as given, with the habits of the provider where Weft knows the address."""
    here = (args.wire, args.base_url.rstrip("/"))
    known = next((known for known in PRESETS.values() if (known.wire, known.base_url) == here), None)
    endpoint = known or Endpoint(provider="your server", wire=args.wire, base_url=here[1])
    keys = (args.api_key_env,) if args.api_key_env else ()
    model = Model.at(replace(endpoint, key_envs=keys, key_required=bool(keys)), args.model)
    model.require_key()
    return model


def _wait(what: str) -> None:
    """On a terminal, what is waited for."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{f'  trying {what} …' if what else ''}", end="", file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


def _print(line: str) -> None:
    """At once, and in whatever letters the terminal has."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding), flush=True)


def _as_line(verdict: Verdict) -> str:
    case = f" [{verdict.case}]" if verdict.case else ""
    return f"{verdict.outcome:<8} {verdict.check:<18} {verdict.seen} | {verdict.right}{case}"


def _as_json(verdict: Verdict) -> str:
    return encode_text(
        {
            "outcome": verdict.outcome,
            "check": verdict.check,
            "seen": verdict.seen,
            "right": verdict.right,
            "case": verdict.case or None,
        }
    )
