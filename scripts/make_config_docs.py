"""Writes the tables of docs/configuration.md from the schema of `heald.toml`. `make docs` runs it, a test checks it."""

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec

from heald.config.command_tables import command_tables, find_table, is_named_table, settings_tables
from heald.config.keys import Key, describe_keys
from heald.config.schema import AgentTable, Everywhere, McpTable, ProviderTable
from heald.config.shared_tables import SHARED
from heald.config.table import Table
from heald.wires.request import Quirks

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
_REGION = re.compile(r"(?<=<!-- made by make docs -->\n).*?(?=<!-- until here -->)", re.S)


def page(text: str) -> str:
    """The page with its tables renewed."""
    return _REGION.sub(lambda _: tables(), text)


def tables() -> str:
    parts = [_table("At the top", Everywhere)]
    parts += [_table(f"`[{name}]`", table, name) for name, table in command_tables().items()]
    shared = {name: table for name in settings_tables() if (table := find_table(name)) is not None} | SHARED
    parts += [_table(f"`[{name}]`", table, name) for name, table in shared.items() if not is_named_table(name)]
    parts.append(_table("`[agent]`", AgentTable))
    parts.append(_table("`[providers.NAME]`", ProviderTable))
    parts.append(_table("`[providers.NAME.quirks]`", Quirks))
    parts.append(_table("`[mcp.NAME]`", McpTable))
    parts += [_table(f"`[{name}.NAME]`", table) for name, table in shared.items() if is_named_table(name)]
    return "\n" + "\n".join(parts) + "\n"


def _table(title: str, table: type[Table] | type[Quirks], prefix: str = "") -> str:
    text = " ".join(inspect.cleandoc(table.__doc__ or "").split())
    lines = [f"### {title}\n", f"{text}\n", "| key | type | default | |", "|---|---|---|---|"]
    # A table declares its defaults, a struct has them.
    fields = () if issubclass(table, Table) else msgspec.structs.fields(table)
    defaults = {field.name: field.default for field in fields}
    for name, key in describe_keys(table).items():
        notes = [*([key.help] if key.help else []), *(["not in a project's file"] if key.user_only else [])]
        notes += ["required"] if key.required else []
        default = "" if table is Everywhere else _default(key, defaults.get(name))
        lines.append(f"| {' | '.join([f'`{name}`', key.words, default, '; '.join(notes)])} |")
    if prefix:
        lines.append(f"\nVariables: `HEALD_{prefix.upper()}_` and the key in capitals.")
    return "\n".join(lines) + "\n"


def _default(key: Key, default: Any) -> str:
    value = default if key.default is None else key.default
    if value is None or value in ("", []):
        return key.without
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
