"""`weft config`: shows all settings and where each is set."""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

from weft.cli.options import DEFAULT, Setting, check_variables, merge_settings
from weft.cli.terminal import BOLD, DIM, YELLOW, Colours, align_columns, print_note, truncate
from weft.config.paths import MCP_FILE, display_path, project_file, user_file
from weft.config.schema import COMMANDS
from weft.config.sources import Sources, sources
from weft.core.json import encode_text
from weft.tools.sanitize import sanitize_text

EXAMPLES = """examples:
  weft config                      all settings, and where each is set
  weft config build                settings of one command
  weft config --json | jq .settings.serve.port
  WEFT_MODEL=openai/gpt-5.2 weft config run

Each of these overrides the ones before it: the default, weft.toml of the project (see weft trust),
~/.config/weft/weft.toml, the environment (WEFT_MODEL for all, WEFT_SERVE_MODEL for one command), flags. API keys
belong in none of them: see weft key.

  model = "anthropic/claude-sonnet-4-6"

  [build]
  stack = "react_tailwind\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", nargs="?", choices=list(COMMANDS), metavar="COMMAND", help="command to show")
    parser.add_argument("--set", action="store_true", help="without defaults")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    now = sources()
    check_variables(os.environ)
    found = {name: merge_settings(name, {}, now.documents) for name in ([options.which] if options.which else COMMANDS)}
    if options.set:
        found = {name: [each for each in some if each.origin != DEFAULT] for name, some in found.items()}
    if options.json:
        print(encode_text({"files": list(_files(now)), "settings": {name: _as_json(found[name]) for name in found}}))
        return 0
    paint = Colours(sys.stdout)
    for file in _files(now):
        line = f"{file['place']:<8} {file['file']}  {file['state']}"
        print(paint(line, YELLOW) if file["state"] in ("changed", "unknown") else line)
    if now.ignored is not None:
        print_note(str(now.ignored))
    if now.ignored_servers is not None:
        print_note(str(now.ignored_servers))
    for name, settings in found.items():
        if not settings:
            continue
        print(f"\n{paint(f'weft {name}', BOLD)}")
        rows = [
            [f"  {each.key}", truncate(_format_value(each.value), 60), sanitize_text(each.origin)] for each in settings
        ]
        for line, each in zip(align_columns(rows), settings, strict=True):
            print(paint(line, DIM) if each.origin == DEFAULT else line)
    if options.set and not any(found.values()):
        print_note("Nothing is set; all settings have their defaults.")
    return 0


def _files(now: Sources) -> Iterator[dict[str, str]]:
    project = project_file()
    if project is not None:
        state = now.ignored.state if now.ignored is not None else "trusted"
        yield {"place": "project", "file": sanitize_text(display_path(project)), "state": state}
    servers = project_file(name=MCP_FILE)
    if servers is not None:
        state = now.ignored_servers.state if now.ignored_servers is not None else "trusted"
        yield {"place": "project", "file": sanitize_text(display_path(servers)), "state": state}
    is_read = any(document.place == "user" for document in now.documents)
    state = "obeyed" if is_read else "not there"
    yield {"place": "user", "file": sanitize_text(display_path(user_file())), "state": state}


def _as_json(settings: list[Setting]) -> dict[str, Any]:
    return {each.key: {"value": each.value, "from": each.origin} for each in settings}


def _format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return sanitize_text(encode_text(cast("dict[str, Any]", value)))
    text = ", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)
    return sanitize_text(text).replace("\n", "↵")
