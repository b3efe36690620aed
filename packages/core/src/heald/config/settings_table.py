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
    to the keys that it has. `[studio] prompts` is `options.studio_prompts`.
    """

    __slots__ = ("commands", "name", "table")

    def __init__(self, name: str, table: str, commands: "Mapping[str, tuple[str, ...]]") -> None:
        self.name = name
        self.table = table
        self.commands = commands
