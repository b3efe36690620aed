"""Writes the tables of docs/configuration.md from the schema of `weft.toml`. `make docs` runs it, a test checks it."""

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec

from weft.cli.main import parser
from weft.cli.settling import shapes_of
from weft.config.kinds import kinds_of
from weft.config.schema import COMMANDS, AgentTable, Everywhere, ProviderTable
from weft.wires.quirks import Quirks

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
_REGION = re.compile(r"(?<=<!-- made by make docs -->\n).*?(?=<!-- until here -->)", re.S)


def page(text: str) -> str:
    """The page with its tables renewed."""
    return _REGION.sub(lambda _: tables(), text)


def tables() -> str:
    parts = [_table("At the top", Everywhere, {})]
    for name, table in COMMANDS.items():
        usual = {key: action.default for key, action in shapes_of(parser(name), name).items()}
        parts.append(_table(f"`[{name}]`", table, usual, name))
    parts.append(_table("`[agent]`", AgentTable, {}))
    parts.append(_table("`[providers.NAME]`", ProviderTable, {}))
    habits = {field.name: field.default for field in msgspec.structs.fields(Quirks)}
    parts.append(_table("`[providers.NAME.quirks]`", Quirks, habits))
    return "\n" + "\n".join(parts) + "\n"


def _table(title: str, table: type[msgspec.Struct], usual: dict[str, Any], command: str = "") -> str:
    said = " ".join(inspect.cleandoc(table.__doc__ or "").split())
    lines = [f"### {title}\n", f"{said}\n", "| key | holds | if nothing is said | |", "|---|---|---|---|"]
    for key, kind in kinds_of(table).items():
        notes = [*([kind.said] if kind.said else []), *(["not for a project"] if kind.user_only else [])]
        notes += ["needed"] if kind.required else []
        cells = [f"`{key}`", kind.words, _usual(usual.get(key)), "; ".join(notes)]
        lines.append(f"| {' | '.join(cells)} |")
    if command:
        lines.append(f"\nVariables: `WEFT_{command.upper()}_` and the key in capitals.")
    return "\n".join(lines) + "\n"


def _usual(value: Any) -> str:
    if value is None or value in ("", []):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
