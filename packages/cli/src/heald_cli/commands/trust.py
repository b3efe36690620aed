"""`heald trust`: trusts or refuses the `heald.toml`, `.mcp.json`, notes for agents and commands of a project."""

import argparse
import os
import sys
from pathlib import Path

from heald.commands.terminal import print_note
from heald.config.paths import CONFIG_FILE, MCP_FILE, display_path, project_file
from heald.config.trust import decisions, forget, remember, state_of
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.tools.shell.network.folder_hosts import all_folders, forget_in
from heald.tools.visible_text import escape_line
from heald_cli.trust_question import ask_trust, check_content
from heald_cli.trusted_paths import describe_trusted, read_trusted_content, trusted_paths

EXAMPLES = """examples:
  heald trust                 show the heald.toml of this project, and ask
  heald trust --yes           for scripts: trust it without asking
  heald trust --no            refuse it, and do not ask again until it changes
  heald trust --forget        forget the decision, and the hosts that commands of this folder may reach
  heald trust --list --json   list all decisions, and the hosts of each folder

A project's heald.toml names models, addresses, tools, hooks and permissions, its .mcp.json MCP servers, its AGENTS.md
instructs the model, its folders .heald, .agents and .claude have commands, skills, agents and hooks. They may come with
a repository that somebody else wrote, so they have no effect until you trust them, and none after they, or the code
that they name, were changed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="project (the current folder)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust it as it is now")
    which.add_argument("--no", action="store_true", help="refuse it as it is now")
    which.add_argument("--forget", action="store_true", help="forget the decision, and the hosts of the folder")
    which.add_argument("--list", action="store_true", help="list all decisions")
    parser.add_argument("--json", action="store_true", help="with --list: print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    if options.list:
        return _list(as_json=options.json)
    if not Path(options.folder).is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r}.")
    hosts = forget_in(options.folder) if options.forget else []
    if hosts:
        print_note(f"Commands of this folder may no longer reach {', '.join(hosts)} without a question.")
    paths = [path for name in (CONFIG_FILE, MCP_FILE) if (path := project_file(Path(options.folder), name)) is not None]
    paths += trusted_paths(options.folder)
    if not paths and hosts:
        return 0
    if not paths:
        where = f"{options.folder!r}, or above it in the same project"
        raise ConfigurationError(
            f"There is no heald.toml in {where}, no .mcp.json, no AGENTS.md, and no folder .heald, .agents or .claude "
            "with commands, skills, agents or hooks."
        )
    return max(_run_for(path, options) for path in paths)


def _run_for(path: Path, options: argparse.Namespace) -> int:
    if options.forget:
        text = "is forgotten." if forget(path) else "had no decision."
    elif options.yes or options.no:
        text = _decide(path, trusted=options.yes)
    elif not sys.stdin.isatty():
        raise ConfigurationError(f"There is no terminal to ask on about {describe_trusted(path)}; give --yes or --no.")
    else:
        return 0 if ask_trust(path) else 1
    print_note(f"{escape_line(describe_trusted(path))} {text}")
    return 0


def _decide(path: Path, *, trusted: bool) -> str:
    content = read_trusted_content(path)
    if content is None:
        raise ConfigurationError(f"{display_path(path)} does not exist any more.")
    if trusted:
        check_content(path, content)
    remember(path, content, trusted=trusted)
    return "is trusted as it is now." if trusted else "is refused as it is now."


def _list(*, as_json: bool) -> int:
    decided, folders = decisions(), all_folders()
    if not decided and not folders and not as_json:
        print_note("Nothing is trusted or refused yet; `heald trust` decides about the project in this folder.")
    for name, answer in sorted(decided.items()):
        content = read_trusted_content(Path(name)) if os.path.exists(name) else None
        state = state_of(Path(name), content) if content is not None else "deleted"
        line = encode_text({"file": name, "state": state, "trusted": answer.trusted and state == "trusted"})
        print(line if as_json else f"{state:<8} {escape_line(display_path(Path(name)))}")
    for name, hosts in sorted(folders.items()):
        line = encode_text({"folder": name, "hosts": hosts})
        print(line if as_json else f"{'hosts':<8} {escape_line(display_path(Path(name)))}: {', '.join(hosts)}")
    return 0
