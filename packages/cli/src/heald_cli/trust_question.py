"""Asks on a terminal whether to trust a file of a project."""

import sys
from pathlib import Path

from heald.commands.terminal import BOLD, DIM, YELLOW, Colours
from heald.config.document import parse_document, read_content
from heald.config.mcp_servers import parse_mcp_file
from heald.config.paths import MCP_FILE, display_path
from heald.config.trust import named_code, remember, state_of
from heald.core.errors import ConfigurationError
from heald.tools.sanitize import sanitize_text
from heald_cli.markdown_files import read_project_folder

_MAX_LINES = 200


def ask_trust(path: Path) -> bool:
    """Show a project's file and ask. Returns whether it is trusted now."""
    content = read_trusted_content(path) or b""
    check_content(path, content)  # reports errors before the question
    paint = Colours(sys.stderr)
    state = "has changed since you trusted it" if state_of(path, content) == "changed" else "is not trusted yet"
    print(paint(f"heald: {sanitize_text(display_path(path))} {state}. It contains:", BOLD), file=sys.stderr)
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
    if answer in ("y", "yes") and read_trusted_content(path) != content:
        raise ConfigurationError(f"{display_path(path)} was changed while you read it; read it again.")
    if answer in ("y", "yes", "n", "no"):
        remember(path, content, trusted=answer in ("y", "yes"))
    return answer in ("y", "yes")


def read_trusted_content(path: Path) -> bytes | None:
    return read_project_folder(path) if path.is_dir() else read_content(path)


def check_content(path: Path, content: bytes) -> None:
    if path.name == MCP_FILE:
        parse_mcp_file(path, content)
    elif path.suffix != ".md" and not path.is_dir():
        parse_document(path, "project", content)
