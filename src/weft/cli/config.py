"""`weft config`: what is set, and where each of it comes from."""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

from weft.cli.paint import BOLD, DIM, YELLOW, Paint, cut, rows_of
from weft.cli.settled import DEFAULT, Setting, check_variables, settled
from weft.cli.settling import shapes_of
from weft.config.places import project_file, shown, user_file
from weft.config.schema import COMMANDS
from weft.config.sources import Sources, sources
from weft.core.json import encode_text
from weft.tools.printable import printable

_EXAMPLES = """examples:
  weft config                      all settings, and the place of each
  weft config build                those of one command
  weft config --json | jq .settings.serve.port
  WEFT_MODEL=openai/gpt-5.2 weft config run

The weaker first: the default, weft.toml of the project (see weft trust), ~/.config/weft/weft.toml, the environment
(WEFT_PORT for all, WEFT_SERVE_PORT for one command), flags. Keys stand in none of these: see weft key.

  model = "anthropic/claude-sonnet-4-6"

  [build]
  stack = "react_tailwind\""""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "config",
        help="what is set, and where each of it comes from",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("which", nargs="?", choices=list(COMMANDS), metavar="COMMAND", help="of one command only")
    parser.add_argument("--set", action="store_true", help="only what is set, not the defaults")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    now = sources()
    check_variables(os.environ)
    found = {name: _settings(name, now) for name in ([options.which] if options.which else COMMANDS)}
    if options.set:
        found = {name: [each for each in some if each.origin != DEFAULT] for name, some in found.items()}
    if options.json:
        print(encode_text({"files": list(_files(now)), "settings": {name: _as_json(found[name]) for name in found}}))
        return 0
    paint = Paint(sys.stdout)
    for file in _files(now):
        line = f"{file['place']:<8} {file['file']}  {file['state']}"
        print(paint(line, YELLOW) if file["state"] in ("changed", "unknown") else line)
    if now.ignored is not None:
        print(f"weft: {printable(str(now.ignored))}", file=sys.stderr)
    for name, settings in found.items():
        if not settings:
            continue
        print(f"\n{paint(f'weft {name}', BOLD)}")
        rows = [[f"  {each.key}", cut(_shown(each.value), 60), printable(each.origin)] for each in settings]
        for line, each in zip(rows_of(rows), settings, strict=True):
            print(paint(line, DIM) if each.origin == DEFAULT else line)
    if options.set and not any(found.values()):
        print("weft: Nothing is set; all is as it comes.", file=sys.stderr)
    return 0


def _settings(command: str, now: Sources) -> list[Setting]:
    from weft.cli.main import parser

    usual = {name: action.default for name, action in shapes_of(parser(command), command).items()}
    return settled(command, usual, {}, now.documents)


def _files(now: Sources) -> Iterator[dict[str, str]]:
    project = project_file()
    if project is not None:
        state = now.ignored.state if now.ignored is not None else "trusted"
        yield {"place": "project", "file": printable(shown(project)), "state": state}
    there = any(document.place == "user" for document in now.documents)
    yield {"place": "user", "file": printable(shown(user_file())), "state": "obeyed" if there else "not there"}


def _as_json(settings: list[Setting]) -> dict[str, Any]:
    return {each.key: {"value": each.value, "from": each.origin} for each in settings}


def _shown(value: Any) -> str:
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)).replace("\n", "↵")
