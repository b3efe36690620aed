"""Writes the tables of docs/configuration.md from the schema of `weft.toml`. `make docs` runs it, a test checks it."""

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec

from weft.config.keys import Key, describe_keys
from weft.config.schema import COMMANDS, SHARED, AgentTable, Everywhere, McpTable, ProviderTable, Table
from weft.wires.request import Quirks

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
_REGION = re.compile(r"(?<=<!-- made by make docs -->\n).*?(?=<!-- until here -->)", re.S)


def page(text: str) -> str:
    """The page with its tables renewed."""
    return _REGION.sub(lambda _: tables(), text)


def tables() -> str:
    parts = [_table("At the top", Everywhere)]
    parts += [_table(f"`[{name}]`", table, name) for name, table in COMMANDS.items()]
    parts += [_table(f"`[{name}]`", table, name) for name, (table, _) in SHARED.items()]
    parts.append(_table("`[agent]`", AgentTable))
    parts.append(_table("`[providers.NAME]`", ProviderTable))
    parts.append(_table("`[providers.NAME.quirks]`", Quirks))
    parts.append(_table("`[mcp.NAME]`", McpTable))
    return "\n" + "\n".join(parts) + "\n"


def _table(title: str, table: type[Table] | type[Quirks], name: str = "") -> str:
    text = " ".join(inspect.cleandoc(table.__doc__ or "").split())
    lines = [f"### {title}\n", f"{text}\n", "| key | type | default | |", "|---|---|---|---|"]
    # A table declares its defaults, a struct has them.
    own = {} if issubclass(table, Table) else {field.name: field.default for field in msgspec.structs.fields(table)}
    for key, each in describe_keys(table).items():
        notes = [*([each.help] if each.help else []), *(["not in a project's file"] if each.user_only else [])]
        notes += ["required"] if each.required else []
        default = "" if table is Everywhere else _default(each, own.get(key))
        lines.append(f"| {' | '.join([f'`{key}`', each.words, default, '; '.join(notes)])} |")
    if name:
        lines.append(f"\nVariables: `WEFT_{name.upper()}_` and the key in capitals.")
    return "\n".join(lines) + "\n"


def _default(key: Key, own: Any) -> str:
    value = own if key.default is None else key.default
    if value is None or value in ("", []):
        return key.without
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
