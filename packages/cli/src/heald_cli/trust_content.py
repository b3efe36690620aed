"""What a file of a project brings along, as the user sees it before trusting it: texts for the model, and commands."""

import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from heald.config.mcp_servers import parse_mcp_file
from heald.config.paths import MCP_FILE, display_path
from heald.config.trust import named_code
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald_cli.folder_files import folder_files, folder_hooks
from heald_cli.markdown_files import MAX_SKILL_CHARACTERS
from heald_cli.project_notes import MAX_NOTE_CHARACTERS
from heald_cli.subfolder_notes import find_subfolder_notes
from heald_cli.trusted_paths import is_agent_folder

_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class TrustedText:
    """A text that the user decides on: its title, its bytes, and how much of it the model gets, if not all."""

    title: str
    content: bytes
    model_characters: int | None = None

    @property
    def cut_note(self) -> str:
        count = len(self.content.decode("utf-8", "replace").strip())
        if self.model_characters is None or count <= self.model_characters:
            return ""
        return f"the model gets the first {self.model_characters:,} of its {count:,} characters"


def trusted_texts(path: Path, content: bytes) -> list[TrustedText]:
    """Return the file itself, or all files of a folder, and the file of instructions that it names."""
    if path.is_dir():
        files, characters = (
            (folder_files(path), MAX_SKILL_CHARACTERS)
            if is_agent_folder(path)
            else (find_subfolder_notes(path), MAX_NOTE_CHARACTERS)
        )
        return [TrustedText(display_path(file), file.read_bytes(), characters) for file in files]
    if path.suffix == ".md":
        return [TrustedText(display_path(path), content, MAX_NOTE_CHARACTERS)]
    texts = [TrustedText(display_path(path), content)]
    named: Any = _agent_table(path, content).get("instructions_file")
    if isinstance(named, str) and "\0" not in named and (path.parent / named).is_file():
        with (path.parent / named).open("rb") as file:
            texts.append(TrustedText(f"the instructions in {display_path(path.parent / named)}", file.read(_MAX_BYTES)))
    return texts


def effects_of(path: Path, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield what the settings of a file do, decoded: a title such as `runs`, and the text or command line."""
    if path.is_dir():
        for hook in folder_hooks(path) if is_agent_folder(path) else ():
            moment = "before" if hook.moment == "PreToolUse" else "after"
            yield f"runs {moment} calls of {hook.matcher or 'all tools'}", hook.command
            for script in hook.find_scripts(str(path.parent)):
                yield "runs", display_path(Path(script))
        return
    if path.suffix == ".md":
        return
    instructions: Any = _agent_table(path, content).get("instructions")
    if isinstance(instructions, str):
        yield "tells the model", instructions
    for name, table in _server_tables(path, content).items():
        yield f"starts the MCP server {name}", _describe_server(table)
    hooks: Any = _tables(path, content).get("hooks")
    for moment, lines in cast("dict[str, Any]", hooks).items() if isinstance(hooks, dict) else ():
        for line in cast("list[Any]", lines) if isinstance(lines, list) else ():
            yield f"runs {moment} calls", str(line)
    for code in named_code(path, content):
        yield "runs", display_path(code)


def _describe_server(table: dict[str, Any]) -> str:
    """The command line or address of a server, and all of its other settings."""
    words = [str(table["command"]), *(str(word) for word in table.get("args", []))] if "command" in table else []
    start = shlex.join(words) if words else str(table.get("url", ""))
    rest = {key: value for key, value in table.items() if key not in ("command", "args", "url")}
    return f"{start}\n{encode_text(rest)}" if rest else start


def _server_tables(path: Path, content: bytes) -> dict[str, dict[str, Any]]:
    if path.name == MCP_FILE:
        try:
            return {server.name: server.table for server in parse_mcp_file(path, content)}
        except ConfigurationError:  # the question is not asked
            return {}
    tables: Any = _tables(path, content).get("mcp")
    entries = cast("dict[str, Any]", tables) if isinstance(tables, dict) else {}
    return {name: cast("dict[str, Any]", table) for name, table in entries.items() if isinstance(table, dict)}


def _agent_table(path: Path, content: bytes) -> dict[str, Any]:
    table: Any = _tables(path, content).get("agent")
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}


def _tables(path: Path, content: bytes) -> dict[str, Any]:
    if path.suffix != ".toml":
        return {}
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
