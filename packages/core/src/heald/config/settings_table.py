"""The declaration of a table of `heald.toml` that several commands share, also those of other distributions.

A distribution offers it in the group `heald.settings`, under the name of the table. The module that holds it imports
nothing but this one: every command reads it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class SettingsTable:
    """A table of settings for several commands.

    `table` is a reference to its `Table`, such as `my_package.settings:MyTable`. `commands` maps the name of a command
    to the keys that it has. `[studio] prompts` is `options.studio_prompts`. With `is_named` there is one such table for
    each name that the user gives: `[acp_agents.NAME]`.
    """

    __slots__ = ("commands", "is_named", "name", "table")

    def __init__(
        self, name: str, table: str, commands: "Mapping[str, tuple[str, ...]]", *, is_named: bool = False
    ) -> None:
        self.is_named = is_named
        self.name = name
        self.table = table
        self.commands = commands
