"""How a setting is declared: its description, its default and the types that several settings share."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Seconds = Annotated[float, Meta(ge=0)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Share = Annotated[float, Meta(ge=0, le=1)]
Natural = Annotated[int, Meta(ge=0)]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Keys of one table."""


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
) -> Meta:
    """Describe a setting.

    `text` is its help, `default` its value when nothing sets it; `without` says in words what happens then.
    `group` is the heading in `--help`, `flag` replaces the name of the flag, `aliases` are further flags. A project's
    file may not set a `user_only` key, and a `path` in it must stay inside the project.
    """
    shape = {"group": group, "default": default, "without": without, "metavar": metavar, "aliases": aliases}
    shape |= {"own_flag": flag} if flag else {}
    return Meta(description=text, extra={**shape, "user_only": user_only, "is_path": path, "required": required})
