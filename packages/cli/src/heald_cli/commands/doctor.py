"""`heald doctor`: checks this machine, and explains how to get what is missing."""

import argparse
import asyncio
import inspect
import sys
from pathlib import Path

import msgspec

from heald.commands.finding import Check, DoctorFinding, wrong
from heald.commands.options import add_options
from heald.commands.terminal import CYAN, DIM, GREEN, RED, YELLOW, Colours, show_progress
from heald.commands.text_columns import pad
from heald.config.paths import data_path
from heald.core.errors import HealdError
from heald.core.json import encode_text
from heald.tools.sanitize import sanitize_text
from heald_cli.doctor.machine import check_data_folder, check_database, check_python, check_ripgrep
from heald_cli.doctor.network import check_network, skip_network
from heald_cli.doctor.own_tools import check_own_tools
from heald_cli.doctor.plugins import check_distributions, check_plugins
from heald_cli.doctor.prices import check_prices
from heald_cli.doctor.providers import check_keys, check_local_servers
from heald_cli.doctor.sandbox import check_sandbox
from heald_cli.doctor.settings import check_settings

EXAMPLES = """examples:
  heald doctor
  heald doctor --network     also check whether providers can be reached; no key is sent
  heald doctor --json

Values of keys are never shown. exit status: 0 everything that is needed works, 1 something is wrong"""
_MARKS = {"ok": ("✓", GREEN), "missing": ("–", YELLOW), "wrong": ("✗", RED), "skipped": ("·", DIM)}
_WIDTH = 18


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--network", action="store_true", help="also connect to the providers")
    add_options(parser, "doctor")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    findings = asyncio.run(_run_checks(data_path(options.data), options.network, options.json))
    healthy = all(finding.state != "wrong" for finding in findings)
    if options.json:
        print(encode_text({"healthy": healthy, "findings": msgspec.to_builtins(findings)}))
    return 0 if healthy else 1


async def _run_checks(data: Path, network: bool, quiet: bool) -> list[DoctorFinding]:
    checks: dict[str, Check] = {
        "python": check_python,
        "data": lambda: check_data_folder(data),
        "sessions": lambda: check_database(data),
        "settings": check_settings,
        "own tools": check_own_tools,
        "sandbox": check_sandbox,
        "ripgrep": check_ripgrep,
        "distributions": check_distributions,
        "plugins": check_plugins,
        "prices": check_prices,
        "keys": check_keys,
        "local servers": check_local_servers,
        "network": check_network if network else skip_network,
    }
    findings: list[DoctorFinding] = []
    for name, check in checks.items():
        if not quiet:
            show_progress(name)
        rows = await _run_check(name, check)
        findings += rows
        if not quiet:
            show_progress("")
            for finding in rows:
                _print_finding(finding)
    return findings


async def _run_check(name: str, check: Check) -> list[DoctorFinding]:
    """Run a check. One that raises is reported and does not stop the others."""
    try:
        rows = check()
        return list(await rows if inspect.isawaitable(rows) else rows)
    except (OSError, HealdError, ImportError) as error:
        return [wrong(name, f"could not be checked: {error}")]


def _print_finding(finding: DoctorFinding) -> None:
    paint = Colours(sys.stdout)
    mark, colour = _MARKS[finding.state]
    print(f"{paint(mark, colour)} {pad(finding.name, _WIDTH)} {sanitize_text(finding.text)}")
    if finding.fix and finding.state != "ok":
        print(f"  {' ' * _WIDTH} {paint(sanitize_text(finding.fix), CYAN)}")
    sys.stdout.flush()
