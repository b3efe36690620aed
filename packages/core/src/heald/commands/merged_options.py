"""Merges the flags of a command with the environment, `heald.toml` and defaults.

Order of precedence: flags, environment, the user's `heald.toml`, the project's, the default; in one file a command's
table wins over the top. Rules of all places count together. An endpoint counts for the model named at the same place.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, cast

from heald.commands.options import CommandOptions
from heald.commands.request_settings import parse_table
from heald.commands.setting import Setting, find_values, option_value
from heald.config.command_tables import command_table, command_tables
from heald.config.document import ConfigDocument
from heald.config.keys import Key, command_keys
from heald.config.old_name import find_old_names
from heald.config.sources import Ignored, Sources, mark_reported, sources
from heald.core.errors import ConfigurationError, HealdError
from heald.providers.defaults import merge_members

AskTrust = Callable[[Path], bool]
"""Shows a file and asks whether to trust it. Returns whether it is trusted now."""
OTHER_VARIABLES = (
    *("HEALD_TOKEN", "HEALD_TOKEN_FILE", "HEALD_STORE_PASSWORD", "HEALD_STORE_PASSWORD_FILE"),
    *("HEALD_CHROMIUM", "HEALD_IMAGES", "HEALD_KEYS_SECRET"),
)
SUMMED = ("rule", "tool", "mcp_server", "hooks_before", "hooks_after", "web_allow_hosts", "secrets_show_in")
"""Lists whose values of all places count together."""
_ENDPOINT = ("base_url", "wire", "api_key_env")


def merge_options(options: argparse.Namespace, ask_trust: AskTrust | None = None) -> None:
    """Complete the options of a command with what the environment, files and defaults set.

    `ask_trust` asks on a terminal about a project's file that is not trusted.
    """
    command = settings_of(options)
    keys = command_keys(command)
    if not keys:
        return
    flags = {name: _flag_value(keys[name], value) for name, value in vars(options).items() if name in keys}
    settings = [Setting(name, flags.get(name, key.default)) for name, key in keys.items()]
    try:
        now = _read_sources(keys, ask_trust, asks=command_table(command) is not None)
        check_variables(os.environ, command)
        settings = merge_settings(command, flags, now.documents)
    except HealdError:
        if command != "doctor":  # which reports the error itself
            raise
    else:
        if command != "doctor":
            _print_notes(now)
    if isinstance(options, CommandOptions):
        options.flags = frozenset(flags)
    for setting in settings:
        setattr(options, setting.key, option_value(keys[setting.key], setting.value))


def _read_sources(keys: Mapping[str, Key], ask_trust: AskTrust | None, *, asks: bool) -> Sources:
    """Read the files that count, after the question about those that are not trusted."""
    now = sources()
    if now.ignored is not None:
        mark_reported(now.ignored.path)
        now = sources() if asks and _is_trusted_now(now.ignored, ask_trust) else now
    if now.ignored_servers is not None and "mcp_server" in keys:
        now = sources() if _is_trusted_now(now.ignored_servers, ask_trust) else now
    return now


def _print_notes(now: Sources) -> None:
    """Print what has no effect: tables of distributions that are not installed, and what has Heald's former name."""
    for document in now.documents:
        mark_reported(document.path)
    for sentence in (*(note for document in now.documents for note in document.notes), *find_old_names()):
        print(f"heald: {sentence}", file=sys.stderr)


def settings_of(options: argparse.Namespace) -> str:
    """The command whose settings count: a command may use those of another."""
    return getattr(options, "settings_of", options.command)


def merge_settings(
    command: str,
    flags: Mapping[str, Any],
    documents: Sequence[ConfigDocument],
    environ: Mapping[str, str] | None = None,
) -> list[Setting]:
    """Resolve every setting of a command: from flags, else from the strongest place that sets it."""
    environ = os.environ if environ is None else environ
    keys = command_keys(command)
    merged: dict[str, Setting] = {}
    for name, key in keys.items():
        settings = list(find_values(name, key, documents, environ))
        if name in flags:
            settings.append(Setting(name, flags[name], key.flag, 100))
        if not settings:
            merged[name] = Setting(name, key.default)
        elif name in SUMMED or key.is_table:
            values = [setting.value for setting in settings]
            value = reduce(merge_members, values) if key.is_table else [item for value in values for item in value]
            origins = ", ".join(setting.origin for setting in settings)
            merged[name] = Setting(name, value, origins, settings[-1].strength)
        else:
            merged[name] = settings[-1]
    return list(_drop_foreign_endpoint(merged, keys).values())


def check_variables(environ: Mapping[str, str], command: str = "") -> None:
    """Reject a variable whose name is nearly that of a setting. The settings of other commands are loaded only if
    `command` does not have all variables."""
    names = {*OTHER_VARIABLES, *_variables_of(command)}
    variables = [name for name in environ if name.startswith("HEALD_") and name not in names]
    if not variables:
        return
    for other in command_tables():
        names.update(_variables_of(other))
    for name in variables:
        if name not in names:
            from difflib import get_close_matches

            near = get_close_matches(name, names, 1, 0.9)
            if near:
                raise ConfigurationError(f"The environment has {name}, which sets nothing; did you mean {near[0]}?")


def _variables_of(command: str) -> list[str]:
    return [name for key in command_keys(command).values() for name in key.variables()]


def _flag_value(key: Key, value: Any) -> Any:
    return parse_table(key, cast("list[str]", value), key.flag) if key.is_table else value


def _drop_foreign_endpoint(merged: dict[str, Setting], keys: Mapping[str, Key]) -> dict[str, Setting]:
    """Drop an endpoint that a weaker place set than the place that named the model."""
    if "base_url" not in merged:
        return merged
    least = merged["model"].strength
    for name in _ENDPOINT:
        if 0 < merged[name].strength < least:
            merged[name] = Setting(name, keys[name].default)
        if name == "base_url":
            least = max(least, merged[name].strength)
    return merged


def _is_trusted_now(ignored: Ignored, ask_trust: AskTrust | None) -> bool:
    """Ask on a terminal whether to trust a project's file. Returns whether it counts now."""
    if ignored.state == "refused":
        return False
    if ask_trust is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        print(f"heald: {ignored}", file=sys.stderr)
        return False
    return ask_trust(ignored.path)
