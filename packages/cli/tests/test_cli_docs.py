"""The pages about the command line: made from the schema of today, and every example is one that the parser takes."""

import argparse
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from cli_bench import run, run_process
from heald.commands.options import walk_parsers
from heald.config.document import parse_document
from heald.config.paths import user_file
from heald_cli.main import commands, parser
from heald_cli.usage import CommandParser
from repository import ROOT

Capture = pytest.CaptureFixture[str]

CLI = (ROOT / "docs" / "cli.md").read_text("utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def _heald(line: str) -> list[str] | None:
    """The words behind `heald`, of a line as people type it."""
    match = re.search(r"(?:^|[|\s])heald ((?:[^|<>]|<(?!\s)|>(?!\s))*)", line)
    words = shlex.split(re.split(r"\s{3,}", match[1])[0]) if match is not None else []
    return words if words and words[0] in commands() and "…" not in words else None


def _documented() -> Iterator[Any]:
    for page in (CLI, CONFIGURATION):
        for block in _CONSOLE.findall(page):
            for line in block.splitlines():
                words = _heald(line) if line.startswith("$ ") else None
                if words is not None:
                    yield pytest.param(words, id=" ".join(words))


def _helped() -> Iterator[Any]:
    for command in commands():
        for line in "\n".join(below.epilog or "" for below in walk_parsers(parser(command))[1:]).splitlines():
            words = _heald(line) if line.startswith("  ") else None
            if words is not None:
                yield pytest.param(words, id=" ".join(words))


@pytest.mark.parametrize("words", [*_documented(), *_helped()])
def test_examples_are_accepted(words: list[str]) -> None:
    assert parser(words[0]).parse_args(words).command == words[0]


@pytest.mark.parametrize("command", list(commands()))
def test_each_command_has_its_part_with_an_example(command: str) -> None:
    part = CLI.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    assert f"heald {command}" in "".join(_CONSOLE.findall(part))
    options = " ".join(_format_all_options(below) for below in walk_parsers(parser(command)))
    for flag in _FLAG.findall(part):
        assert flag in options, f"heald {command} has no {flag}"


def _format_all_options(command: argparse.ArgumentParser) -> str:
    """The help of a command with the options that only `--help-all` shows."""
    if isinstance(command, CommandParser):
        command.common_options = frozenset()
    return command.format_help()


def test_the_tables_are_made_from_the_schema_of_today() -> None:
    spec = importlib.util.spec_from_file_location("make_config_docs", ROOT / "scripts" / "make_config_docs.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.page(CONFIGURATION) == CONFIGURATION, "run scripts/make_config_docs.py"
    assert "max_usd_per_day" in CONFIGURATION


@pytest.mark.parametrize(
    "block",
    [
        block
        for page in ("configuration.md", "agents.md", "providers.md")
        for block in re.findall(r"^```toml\n(.*?)^```", (ROOT / "docs" / page).read_text("utf-8"), re.M | re.S)
    ],
)
def test_files_that_are_shown_are_right(block: str) -> None:
    assert tomllib.loads(block)
    parse_document(user_file(), "user", block.encode())


async def test_the_error_that_is_shown(capsys: Capture) -> None:
    """As `docs/configuration.md` has it, but for the place of the file."""
    user_file().parent.mkdir(parents=True)
    user_file().write_text("\n[serve]\nprot = 1\n")
    ran = await run(capsys, "serve")
    assert ran.err.endswith("heald.toml:3: [serve] has an unknown key 'prot'; did you mean 'port'?\n")
    assert ran.err.partition("heald.toml:")[2] in CONFIGURATION


@pytest.mark.parametrize(
    "words",
    [
        "config",
        "config --json",
        "trust --list",
        "key list",
        "models --provider anthropic",
        "sessions list",
        "demo --pause 0",
    ],
)
async def test_examples_that_need_nothing_run(words: str) -> None:
    ran = await run_process(*words.split())
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
