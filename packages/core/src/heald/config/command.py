"""The declaration of a command, which a distribution offers in the group `heald.commands`.

`heald --help` reads the declarations of all commands, so a module that holds one imports nothing but this one.
"""

from importlib import import_module

TYPE_CHECKING = False  # the module `typing` takes longer than the help
if TYPE_CHECKING:
    from typing import Any

LAST = 1000
"""The rank of commands that declare none: they are listed after those of Heald."""
REQUEST_TABLES = ("retry", "timeouts", "request")
"""The shared tables of every command that sends requests to models."""


class Command:
    """A command of `heald`.

    `module` defines `EXAMPLES` (the end of its `--help`), `add_arguments(parser)` and `run(options) -> int`, the exit
    status. `table` is a reference, such as `my_package.settings:MyTable`, to the `Table` of its settings, the table
    `[NAME]` in `heald.toml`. `shared` names tables that several commands share. `keys` are keys of the top of
    `heald.toml`, for a command without a table. An `extensible` command also has the tables that distributions offer in
    the group `heald.settings`. `rank` is its place in `heald --help`.
    """

    __slots__ = ("extensible", "help", "keys", "module", "name", "rank", "shared", "table")

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002
        module: str,
        *,
        table: str = "",
        shared: tuple[str, ...] = (),
        keys: tuple[str, ...] = (),
        extensible: bool = False,
        rank: int = LAST,
    ) -> None:
        self.name = name
        self.help = help
        self.module = module
        self.table = table
        self.shared = shared
        self.keys = keys
        self.extensible = extensible
        self.rank = rank

    def load(self) -> "Any":
        """Import the module of the command."""
        return import_module(self.module)
