"""`weft trust`: trusts or refuses the `weft.toml`, `.mcp.json`, notes for agents and commands of a project."""

import argparse
import os
import sys
from pathlib import Path

from weft.cli.project_commands import find_project_folder, read_project_folder
from weft.cli.project_notes import find_notes
from weft.cli.terminal import BOLD, DIM, YELLOW, Colours, print_note
from weft.config.document import parse_document, read_content
from weft.config.mcp_servers import parse_mcp_file
from weft.config.paths import CONFIG_FILE, MCP_FILE, display_path, project_file
from weft.config.sources import decisions, forget, named_code, remember, state_of
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.tools.sanitize import sanitize_text

EXAMPLES = """examples:
  weft trust                 show the weft.toml of this project, and ask
  weft trust --yes           for scripts: trust it without asking
  weft trust --no            refuse it, and do not ask again until it changes
  weft trust --forget        forget the decision
  weft trust --list --json   list all decisions

A project's weft.toml names models, addresses, tools, hooks and permissions, its .mcp.json MCP servers, its AGENTS.md
instructs the model, its .weft folder has commands and skills. They may come with a repository that somebody else wrote,
so they have no effect until you trust them, and none after they, or the code that they name, were changed."""
_MAX_LINES = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="project (the current folder)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust it as it is now")
    which.add_argument("--no", action="store_true", help="refuse it as it is now")
    which.add_argument("--forget", action="store_true", help="forget the decision")
    which.add_argument("--list", action="store_true", help="list all decisions")
    parser.add_argument("--json", action="store_true", help="with --list: print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    if options.list:
        return _list(as_json=options.json)
    if not Path(options.folder).is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r}.")
    paths = [path for name in (CONFIG_FILE, MCP_FILE) if (path := project_file(Path(options.folder), name)) is not None]
    if (notes := find_notes(options.folder)) is not None:
        paths.append(notes)
    if (commands := find_project_folder(options.folder)) is not None:
        paths.append(commands)
    if not paths:
        where = f"{options.folder!r}, or above it in the same project"
        raise ConfigurationError(f"There is no weft.toml in {where}, no .mcp.json and no AGENTS.md.")
    return max(_run_for(path, options) for path in paths)


def _run_for(path: Path, options: argparse.Namespace) -> int:
    if options.forget:
        text = "is forgotten." if forget(path) else "had no decision."
    elif options.yes or options.no:
        text = _decide(path, trusted=options.yes)
    elif not sys.stdin.isatty():
        raise ConfigurationError(f"There is no terminal to ask on about {display_path(path)}; give --yes or --no.")
    else:
        return 0 if ask_trust(path) else 1
    print_note(f"{sanitize_text(display_path(path))} {text}")
    return 0


def ask_trust(path: Path) -> bool:
    """Show a project's file and ask. Returns whether it is trusted now."""
    content = _read(path) or b""
    _check_content(path, content)  # reports errors before the question
    paint = Colours(sys.stderr)
    state = "has changed since you trusted it" if state_of(path, content) == "changed" else "is not trusted yet"
    print(paint(f"weft: {sanitize_text(display_path(path))} {state}. It contains:", BOLD), file=sys.stderr)
    lines = sanitize_text(content.decode("utf-8", "replace")).splitlines()
    for line in lines[:_MAX_LINES]:
        print(paint(f"  │ {line}", DIM), file=sys.stderr)
    if len(lines) > _MAX_LINES:
        left = f"  │ … {len(lines) - _MAX_LINES} more lines: read the file before you trust it"
        print(paint(left, YELLOW), file=sys.stderr)
    for code in named_code(path, content):
        print(paint(f"  it runs {sanitize_text(display_path(code))}", YELLOW), file=sys.stderr)
    print("trust it? [y]es, [n]o and never ask, anything else: not now. ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes") and _read(path) != content:
        raise ConfigurationError(f"{display_path(path)} was changed while you read it; read it again.")
    if answer in ("y", "yes", "n", "no"):
        remember(path, content, trusted=answer in ("y", "yes"))
    return answer in ("y", "yes")


def _decide(path: Path, *, trusted: bool) -> str:
    content = _read(path)
    if content is None:
        raise ConfigurationError(f"{display_path(path)} does not exist any more.")
    if trusted:
        _check_content(path, content)
    remember(path, content, trusted=trusted)
    return "is trusted as it is now." if trusted else "is refused as it is now."


def _read(path: Path) -> bytes | None:
    return read_project_folder(path) if path.is_dir() else read_content(path)


def _check_content(path: Path, content: bytes) -> None:
    if path.name == MCP_FILE:
        parse_mcp_file(path, content)
    elif path.suffix != ".md" and not path.is_dir():
        parse_document(path, "project", content)


def _list(*, as_json: bool) -> int:
    decided = decisions()
    if not decided and not as_json:
        print_note("Nothing is trusted or refused yet; `weft trust` decides about the project in this folder.")
    for name, answer in sorted(decided.items()):
        content = _read(Path(name)) if os.path.exists(name) else None
        state = state_of(Path(name), content) if content is not None else "gone"
        line = encode_text({"file": name, "state": state, "trusted": answer.trusted and state == "trusted"})
        print(line if as_json else f"{state:<8} {sanitize_text(display_path(Path(name)))}")
    return 0
