"""How a setting is declared: a field of a `Table`, with its type and its `option`.

Flags, environment variables, `heald.toml` and docs/configuration.md are made from the declaration. The field's name is
the key in `heald.toml`; with dashes it is the flag, in capitals the variable (`HEALD_PORT`, `HEALD_SERVE_PORT`).
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, dataclass_transform

from msgspec import Meta

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Seconds = Annotated[float, Meta(ge=0)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Share = Annotated[float, Meta(ge=0, le=1)]
Natural = Annotated[int, Meta(ge=0)]
Names = str | list[str]
"""One name or several; its flag can be repeated, or holds names separated by commas."""


def option(
    text: str,
    group: str = "",
    *,
    default: Any = None,
    without: str = "",
    metavar: str = "",
    aliases: tuple[str, ...] = (),
    user_only: bool = False,
    path: bool = False,
    required: bool = False,
    flag: str = "",
    choices: Callable[[], Sequence[str]] | None = None,
    completions: Callable[[], Sequence[str]] | None = None,
    at_top: bool = True,
) -> Any:
    """Describe a setting. Returns fields of its `Key`.

    `text` is its help, `default` its value when nothing sets it; `without` describes in words what happens then.
    `group` is the heading in `--help`, `flag` replaces the name of the flag, `aliases` are further flags. A project's
    file may not set a `user_only` key, and a `path` in it must stay inside the project. `choices` returns the allowed
    texts, `completions` texts that a shell suggests. Without `at_top`, a key of the same name at the top of a file does
    not count.
    """
    shape = {"help": text, "group": group, "default": default, "without": without, "metavar": metavar}
    shape |= {"aliases": aliases, "user_only": user_only, "is_path": path, "required": required, "own_flag": flag}
    return shape | {"choices": choices, "completions": completions, "at_top": at_top}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
class Table:
    """Keys of one table. No table is instantiated: `describe_keys` reads the types and options of its fields."""


def list_fields(table: type) -> dict[str, Any]:
    """The fields of a table with their types, in their order. A field that a table declares anew keeps its place."""
    fields: dict[str, Any] = {}
    for ancestor in reversed(table.__mro__):
        fields |= getattr(ancestor, "__annotations__", {})
    return fields
