"""`weft doctor`: what works on this machine, and how to get the rest."""

import argparse
import asyncio
import inspect
import sys
from pathlib import Path

import msgspec

from weft.cli.checkup import Check, Finding, checks
from weft.cli.data import data_place
from weft.cli.paint import CYAN, DIM, GREEN, RED, YELLOW, Paint, pad
from weft.core.errors import WeftError
from weft.core.json import encode_text
from weft.tools.printable import printable

_EXAMPLES = """examples:
  weft doctor
  weft doctor --network     also try whether providers can be reached; no key is sent
  weft doctor --json

Values of keys are never shown. exit status: 0 all that is needed is there, 1 something is wrong"""
_MARKS = {"ok": ("✓", GREEN), "missing": ("–", YELLOW), "wrong": ("✗", RED), "skipped": ("·", DIM)}
_WIDTH = 18


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "doctor",
        help="what works on this machine, and how to get the rest",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--network", action="store_true", help="also ask the providers' addresses")
    parser.add_argument("--data", metavar="DIR", help="the folder that sessions would be kept in")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = asyncio.run(_examine(data_place(options.data), options.network, options.json))
    healthy = all(finding.state != "wrong" for finding in found)
    if options.json:
        print(encode_text({"healthy": healthy, "findings": msgspec.to_builtins(found)}))
    return 0 if healthy else 1


async def _examine(data: Path, network: bool, quiet: bool) -> list[Finding]:
    found: list[Finding] = []
    for name, check in checks(data, network=network):
        _wait_for(name, quiet)
        some = await _checked(name, check)
        _wait_for("", quiet)
        found += some
        for finding in some if not quiet else ():
            _show(finding)
    return found


async def _checked(name: str, check: Check) -> list[Finding]:
    """One check that breaks says so and leaves the others alone."""
    try:
        found = check()
        return await found if inspect.isawaitable(found) else found
    except (OSError, WeftError, ImportError) as error:
        return [Finding(name, "wrong", f"could not be looked at: {error}")]


def _wait_for(name: str, quiet: bool) -> None:
    if not quiet and sys.stderr.isatty():
        print(f"\r\x1b[K{f'  trying {name} …' if name else ''}", end="", file=sys.stderr, flush=True)


def _show(finding: Finding) -> None:
    paint = Paint(sys.stdout)
    mark, colour = _MARKS[finding.state]
    print(f"{paint(mark, colour)} {pad(finding.name, _WIDTH)} {printable(finding.said)}")
    if finding.fix and finding.state != "ok":
        print(f"  {' ' * _WIDTH} {paint(printable(finding.fix), CYAN)}")
    sys.stdout.flush()
