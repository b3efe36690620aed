"""The options of a command, and its flags, which are made from the tables of its settings."""

import argparse
from typing import Any, cast

from heald.config.keys import Key, command_keys

Groups = dict[str, "argparse._ArgumentGroup"]  # pyright: ignore[reportPrivateUsage]


class CommandOptions(argparse.Namespace):
    """The options of a command, from the command line, the environment, files and defaults."""

    __slots__ = ("flags",)

    def __init__(self) -> None:
        super().__init__()
        self.flags: frozenset[str] = frozenset()
        """The names of the options that the command line sets. It is not an option itself."""


def flags_of(options: argparse.Namespace) -> frozenset[str]:
    """Return the names of the options that the command line sets."""
    return options.flags if isinstance(options, CommandOptions) else frozenset()


def add_options(parser: argparse.ArgumentParser, command: str, groups: Groups | None = None) -> None:
    """Add a flag for every setting of a command. A flag that is not given leaves no attribute."""
    groups = {} if groups is None else groups
    keys = command_keys(command)
    for name, key in keys.items():
        if name != key.name and key.name in keys and not key.own_flag:
            continue  # the command has a flag of that name; a shared table sets this one
        if key.group and key.group not in groups:
            groups[key.group] = parser.add_argument_group(key.group)
        action: Any = (groups[key.group] if key.group else parser).add_argument(
            *key.aliases, key.flag, dest=name, default=argparse.SUPPRESS, help=_flag_help(key), **_flag_shape(key)
        )
        action.completions = key.completions


def _flag_shape(key: Key) -> dict[str, Any]:
    if key.is_bool:
        return {"action": Switch if key.default else "store_true"}
    shape: dict[str, Any] = {"action": "append"} if key.is_list or key.is_names or key.is_table else {}
    shape |= {"metavar": key.metavar} if key.metavar else {}
    shape |= {"choices": key.choices} if key.choices else {}
    return shape | ({"type": key.number} if key.number is not None else {})


def _flag_help(key: Key) -> str:
    text = key.help.replace("`", "'") + ("; repeatable" if key.is_list or key.is_table else "")
    default = f"{key.default:g}" if isinstance(key.default, float) else str(key.default)
    if key.is_bool:
        default = "yes" if key.default else ""
    elif key.default in (None, "", [], {}):
        default = key.without
    return (f"{text} ({default})" if default else text).replace("%", "%%")


class Switch(argparse.BooleanOptionalAction):
    """A flag that can be turned on and off: `--open` and `--no-open`."""

    def __init__(self, option_strings: list[str], dest: str, *, help: str = "", **rest: Any) -> None:  # noqa: A002
        super().__init__(option_strings, dest, **rest)
        self.help = help


def walk_parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return a parser and the parsers of its commands, recursively."""
    parsers = [parser]
    for action in cast("list[Any]", parser._actions):  # pyright: ignore[reportPrivateUsage]
        choices: Any = action.choices
        if isinstance(choices, dict):
            inner = cast("dict[str, argparse.ArgumentParser]", choices)
            parsers += [deeper for below in inner.values() for deeper in walk_parsers(below)]
    return parsers
