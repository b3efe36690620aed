"""`heald config`: shows all settings and where each is set."""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

from heald.commands.merged_options import check_variables, merge_settings
from heald.commands.setting import DEFAULT, Setting
from heald.commands.terminal import BOLD, DIM, YELLOW, Colours, print_note
from heald.commands.text_columns import align_columns, truncate
from heald.config.command_tables import command_tables
from heald.config.old_name import find_old_names
from heald.config.paths import MCP_FILE, display_path, project_file, user_file
from heald.config.sources import Sources, sources
from heald.core.json import encode_text
from heald.tools.sanitize import sanitize_text

EXAMPLES = """examples:
  heald config                      all settings, and where each is set
  heald config build                settings of one command
  heald config --json | jq .settings.serve.port
  HEALD_MODEL=openai/gpt-5.2 heald config run

Each of these overrides the ones before it: the default, heald.toml of the project (see heald trust),
~/.config/heald/heald.toml, the environment (HEALD_MODEL for all, HEALD_SERVE_MODEL for one command), flags. API keys
belong in none of them: see heald key.

  model = "anthropic/claude-sonnet-4-6"

  [build]
  stack = "react_tailwind\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", nargs="?", choices=list(command_tables()), metavar="COMMAND", help="command to show")
    parser.add_argument("--set", action="store_true", help="without defaults")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    now = sources()
    check_variables(os.environ)
    commands = [options.which] if options.which else command_tables()
    settings = {name: merge_settings(name, {}, now.documents) for name in commands}
    if options.set:
        settings = {
            name: [setting for setting in merged if setting.origin != DEFAULT] for name, merged in settings.items()
        }
    if options.json:
        print(
            encode_text(
                {"files": list(_files(now)), "settings": {name: _as_json(merged) for name, merged in settings.items()}}
            )
        )
        return 0
    paint = Colours(sys.stdout)
    for file in _files(now):
        line = f"{file['place']:<8} {file['file']}  {file['state']}"
        print(paint(line, YELLOW) if file["state"] in ("changed", "unknown") else line)
    for sentence in (*(note for document in now.documents for note in document.notes), *find_old_names()):
        print_note(sentence)
    if now.ignored is not None:
        print_note(str(now.ignored))
    if now.ignored_servers is not None:
        print_note(str(now.ignored_servers))
    for name, merged in settings.items():
        if not merged:
            continue
        print(f"\n{paint(f'heald {name}', BOLD)}")
        rows = [
            [f"  {setting.key}", truncate(_format_value(setting.value), 60), sanitize_text(setting.origin)]
            for setting in merged
        ]
        for line, setting in zip(align_columns(rows), merged, strict=True):
            print(paint(line, DIM) if setting.origin == DEFAULT else line)
    if options.set and not any(settings.values()):
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
    state = "used" if is_read else "does not exist"
    yield {"place": "user", "file": sanitize_text(display_path(user_file())), "state": state}


def _as_json(settings: list[Setting]) -> dict[str, Any]:
    return {setting.key: {"value": setting.value, "from": setting.origin} for setting in settings}


def _format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return sanitize_text(encode_text(cast("dict[str, Any]", value)))
    text = ", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)
    return sanitize_text(text).replace("\n", "↵")
