"""Asks on a terminal whether to trust a file of a project."""

import sys
from collections.abc import Sequence
from pathlib import Path

from heald.commands.terminal import BOLD, DIM, YELLOW, Colours, terminal_size
from heald.config.document import parse_document
from heald.config.mcp_servers import parse_mcp_file
from heald.config.paths import MCP_FILE, display_path
from heald.config.trust import remember, state_of
from heald.core.errors import ConfigurationError
from heald.tools.visible_text import Excerpt, describe_hidden, escape_line, excerpt, name_bytes, whole_rows
from heald_cli.escaped_rows import lay_out, note_lines
from heald_cli.trust_content import TrustedText, effects_of, trusted_texts
from heald_cli.trusted_paths import describe_trusted, read_trusted_content

_MAX_LINES, _MAX_CHARACTERS = 200, 40_000


def ask_trust(path: Path) -> bool:
    """Show a project's file and ask. Returns whether it is trusted now."""
    content = read_trusted_content(path) or b""
    check_content(path, content)  # reports errors before the question
    paint = Colours(sys.stderr)
    state = "has changed since you trusted it" if state_of(path, content) == "changed" else "is not trusted yet"
    print(paint(f"heald: {escape_line(describe_trusted(path))} {state}. It contains:", BOLD), file=sys.stderr)
    texts, effects = trusted_texts(path, content), list(effects_of(path, content))
    left_out = _show(texts, effects, paint, whole=False)
    more = f", [v]iew all ({left_out:,} characters are left out)" if left_out else ""
    question = f"trust it? [y]es, [n]o and never ask{more}, anything else: not now. "
    while (answer := _read_answer(question)) in ("v", "view"):
        _show(texts, effects, paint, whole=True)
    is_same = read_trusted_content(path) == content and trusted_texts(path, content) == texts
    if answer in ("y", "yes") and not is_same:
        raise ConfigurationError(f"{display_path(path)} was changed while you read it; read it again.")
    if answer in ("y", "yes", "n", "no"):
        remember(path, content, trusted=answer in ("y", "yes"))
    return answer in ("y", "yes")


def _read_answer(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()


def _show(texts: Sequence[TrustedText], effects: Sequence[tuple[str, str]], paint: Colours, *, whole: bool) -> int:
    """Print every text byte for byte, escaped, and what the file does. Returns the number of characters left out."""
    columns = terminal_size().columns - 1
    left_out = 0
    for part in texts:
        text = part.content.decode("utf-8", "surrogateescape")
        shortened = _shorten(text.removesuffix("\n"), whole=whole)
        left_out += shortened.left_out
        notes = [*describe_hidden(text), *([part.cut_note] if part.cut_note else [])]
        rows = lay_out(["", *map(name_bytes, shortened.rows)], "", paint, columns, DIM)[1:]
        title = paint(f"  {escape_line(part.title)}", BOLD)
        print(title, *rows, *note_lines(notes, paint, columns, YELLOW), sep="\n", file=sys.stderr)
    for title, text in effects:
        shortened = _shorten(text, whole=whole)
        left_out += shortened.left_out
        rows = lay_out(shortened.rows, f"  it {escape_line(title)}: ", paint, columns, YELLOW)
        notes = note_lines(describe_hidden(text, is_command=True), paint, columns, YELLOW)
        print(*rows, *notes, sep="\n", file=sys.stderr)
    return left_out


def _shorten(text: str, *, whole: bool) -> Excerpt:
    return Excerpt(whole_rows(text), 0) if whole else excerpt(text, characters=_MAX_CHARACTERS, lines=_MAX_LINES)


def check_content(path: Path, content: bytes) -> None:
    if path.name == MCP_FILE:
        parse_mcp_file(path, content)
    elif path.suffix != ".md" and not path.is_dir():
        parse_document(path, "project", content)
