"""Makes the flags of a command from the configuration schema, and merges flags, environment, `weft.toml` and defaults.

Order of precedence: flags, environment, the user's `weft.toml`, the project's, the default; in one file a command's
table wins over the top. Rules of all places count together. An endpoint counts for the model named at the same place.
"""

import argparse
import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from weft.cli.request_settings import parse_table, request_settings
from weft.config.document import ConfigDocument, is_secret
from weft.config.keys import Key, command_keys, convert_value
from weft.config.paths import working_folder
from weft.config.schema import COMMANDS, OWN_TOOLS, counts_everywhere
from weft.config.sources import Ignored, Sources, mark_reported, sources
from weft.core.errors import ConfigurationError, WeftError
from weft.providers.config import check_variable
from weft.providers.defaults import merge_members

if TYPE_CHECKING:
    from weft.config.mcp_servers import ConfiguredServer

DEFAULT = "default"
OTHER_VARIABLES = (
    *("WEFT_TOKEN", "WEFT_TOKEN_FILE", "WEFT_STORE_PASSWORD", "WEFT_STORE_PASSWORD_FILE"),
    *("WEFT_CHROMIUM", "WEFT_IMAGES", "WEFT_FAULT"),
)
_SUMMED = ("rule", "tool", "mcp_server", "hooks_before", "hooks_after", "web_allow_hosts")
_ENDPOINT = ("base_url", "wire", "api_key_env")
Groups = dict[str, "argparse._ArgumentGroup"]  # pyright: ignore[reportPrivateUsage]


class Setting(msgspec.Struct, frozen=True):
    """The value of a key and the place that set it."""

    key: str
    value: Any
    origin: str = DEFAULT
    """A flag, a variable, or a file and its line."""
    strength: int = 0
    folder: Path | None = None
    """The folder of the project's file that set it."""


# --- flags ----------------------------------------------------------------------------------------------------------


def add_options(parser: argparse.ArgumentParser, command: str, groups: Groups | None = None) -> None:
    """Add a flag for every setting of a command. A flag that is not given leaves no attribute."""
    groups = {} if groups is None else groups
    keys = command_keys(command)
    for name, key in keys.items():
        if name != key.name and key.name in keys and not key.own_flag:
            continue  # the command has a flag of that name; a shared table sets this one
        if key.group and key.group not in groups:
            groups[key.group] = parser.add_argument_group(key.group)
        (groups[key.group] if key.group else parser).add_argument(
            *key.aliases, key.flag, dest=name, default=argparse.SUPPRESS, help=_flag_help(key), **_flag_shape(key)
        )


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
    found = [parser]
    for action in cast("list[Any]", parser._actions):  # pyright: ignore[reportPrivateUsage]
        choices: Any = action.choices
        if isinstance(choices, dict):
            inner = cast("dict[str, argparse.ArgumentParser]", choices)
            found += [deeper for each in inner.values() for deeper in walk_parsers(each)]
    return found


# --- merging --------------------------------------------------------------------------------------------------------


def merge_options(options: argparse.Namespace) -> None:
    """Complete the options of a command with what the environment, files and defaults set."""
    command = _settings_of(options)
    keys = command_keys(command)
    if not keys:
        return
    given = {name: _flag_value(keys[name], value) for name, value in vars(options).items() if name in keys}
    settings = [Setting(name, given.get(name, key.default)) for name, key in keys.items()]
    try:
        now = sources()
        if now.ignored is not None:
            mark_reported(now.ignored)
            now = sources() if command in COMMANDS and _ask_trust(now.ignored) else now
        if now.ignored_servers is not None and "mcp_server" in keys:
            now = sources() if _ask_trust(now.ignored_servers) else now
        check_variables(os.environ)
        settings = merge_settings(command, given, now.documents)
    except WeftError:
        if command != "doctor":  # which reports the error itself
            raise
    for setting in settings:
        setattr(options, setting.key, _option_value(keys[setting.key], setting.value))


def _settings_of(options: argparse.Namespace) -> str:
    """The command whose settings count: a command may use those of another."""
    return getattr(options, "settings_of", options.command)


@contextmanager
def request_options(options: argparse.Namespace) -> Generator[None]:
    """Make the options on requests, to models and to the web, the defaults of all requests while a command runs."""
    with _model_request_options(options), _web_request_options(getattr(options, "web_allow_hosts", None) or []):
        yield


def _web_request_options(hosts: list[str]) -> AbstractContextManager[None]:
    if not hosts:
        return nullcontext()
    from weft.tools.results import ToolFault
    from weft.tools.web.fetcher import allow_hosts
    from weft.tools.web.urls import parse_host

    try:
        return allow_hosts([parse_host(host) for host in hosts])
    except ToolFault as fault:
        raise ConfigurationError(f"--allow-host: {fault}") from None


def _model_request_options(options: argparse.Namespace) -> AbstractContextManager[None]:
    if not hasattr(options, "retry_attempts"):
        return nullcontext()
    from weft.core.retry import Retry
    from weft.providers.defaults import request_defaults
    from weft.providers.watchdog import Timeouts

    retry = {name: getattr(options, f"retry_{name}") for name in Retry.__struct_fields__}
    timeouts = {name: getattr(options, f"timeouts_{name}") for name in Timeouts.__struct_fields__}
    return request_defaults(Retry(**retry), Timeouts(**timeouts), request_settings(options))


def merge_settings(
    command: str,
    given: Mapping[str, Any],
    documents: Sequence[ConfigDocument],
    environ: Mapping[str, str] | None = None,
) -> list[Setting]:
    """Resolve every setting of a command: from flags, else from the strongest place that sets it."""
    environ = os.environ if environ is None else environ
    keys = command_keys(command)
    found: dict[str, Setting] = {}
    for name, key in keys.items():
        values = list(_find_values(command, name, key, documents, environ))
        if name in given:
            values.append(Setting(name, given[name], key.flag, 100))
        if name in _SUMMED and values:
            rules = [each for value in values for each in value.value]
            found[name] = Setting(name, rules, ", ".join(value.origin for value in values), values[-1].strength)
        elif key.is_table and values:
            merged = reduce(merge_members, (value.value for value in values))
            found[name] = Setting(name, merged, ", ".join(value.origin for value in values), values[-1].strength)
        else:
            found[name] = values[-1] if values else Setting(name, key.default)
    return list(_drop_foreign_endpoint(found, keys).values())


class OwnToolSettings(msgspec.Struct, frozen=True):
    """The settings that name tools of one's own, each with its place."""

    names: Sequence[Setting] = ()
    """Values of `tools` and `tool`."""
    servers: "Sequence[ConfiguredServer]" = ()


def find_own_tools(options: argparse.Namespace) -> OwnToolSettings:
    """Find the settings of completed options that name tools of one's own, with the places that set them."""
    command, now = _settings_of(options), sources()
    given: dict[str, Any] = {}
    for name, key in command_keys(command).items():
        if name not in OWN_TOOLS:
            continue
        known = list(_find_values(command, name, key, now.documents, os.environ))
        value = getattr(options, name)
        if name in _SUMMED:
            by_flag = value[sum(len(each.value) for each in known) :]  # flags come last
            given |= {name: by_flag} if by_flag else {}
        elif not known or _option_value(key, known[-1].value) != value:
            given[name] = value
    return own_tool_settings(command, given, now)


def own_tool_settings(command: str, given: Mapping[str, Any], now: Sources) -> OwnToolSettings:
    """Find the settings of a command that name functions, folders and MCP servers. A stronger server wins by name."""
    keys = command_keys(command)
    found: dict[str, list[Setting]] = {}
    for name in OWN_TOOLS:
        if name not in keys:
            return OwnToolSettings()
        found[name] = list(_find_values(command, name, keys[name], now.documents, os.environ))
        if name in given:
            found[name].append(Setting(name, given[name], keys[name].flag, 100))
    servers = _find_servers(found["mcp_server"], now) if now.servers or now.documents or found["mcp_server"] else []
    names = [
        Setting(each.key, _option_value(keys["tools"], each.value), each.origin, each.strength, each.folder)
        for each in (*found["tools"][-1:], *found["tool"])
    ]
    return OwnToolSettings(names, list({server.name: server for server in servers}.values()))


def _find_servers(settings: Sequence[Setting], now: Sources) -> "list[ConfiguredServer]":
    """Return the MCP servers of files and flags, the weaker first."""
    from weft.config.mcp_servers import parse_server, servers_of

    here = working_folder() or Path()
    servers = [*now.servers, *(server for document in now.documents for server in servers_of(document))]
    return [
        *servers,
        *(parse_server(text, each.origin, each.folder or here) for each in settings for text in each.value),
    ]


def check_variables(environ: Mapping[str, str]) -> None:
    """Reject a variable whose name is nearly that of a setting."""
    given = [name for name in environ if name.startswith("WEFT_") and name not in OTHER_VARIABLES]
    if not given:
        return
    known: set[str] = set(OTHER_VARIABLES)
    for command in COMMANDS:
        known.update(name for key in command_keys(command).values() for name in key.variables(command))
    for name in given:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1, 0.9)
            if near:
                raise ConfigurationError(f"The environment has {name}, which sets nothing; did you mean {near[0]}?")


def _find_values(
    command: str, name: str, key: Key, documents: Sequence[ConfigDocument], environ: Mapping[str, str]
) -> Iterator[Setting]:
    """Yield the values of a key in files and in the environment, the weakest first."""
    for at, document in enumerate(documents):
        for step, path in enumerate(((), (key.table,))):
            is_read = counts_everywhere(command, key.name) if not path else bool(key.table)
            if is_read and key.name in document.table(*path):
                value = _read_document(document, path, key)
                folder = document.path.parent if document.place == "project" else None
                yield Setting(name, value, document.where(*path, key.name), 10 * (at + 1) + step, folder)
    for step, variable in enumerate(key.variables(command)):
        if environ.get(variable, "").strip():
            yield Setting(name, _parse_variable(variable, environ[variable], key), variable, 50 + step)


def _read_document(document: ConfigDocument, path: tuple[str, ...], key: Key) -> Any:
    value = document.table(*path)[key.name]
    if document.place == "project" and key.name == "api_key_env":
        check_variable(document, (*path, key.name), value, "an address of its own")
    folder = document.path.parent
    if document.place == "project" and key.is_path and folder != working_folder():
        if isinstance(value, list):
            return [str(folder / each) for each in cast("list[str]", value)]
        return str(folder / cast("str", value))
    return value


def _parse_variable(variable: str, text: str, key: Key) -> Any:
    if is_secret(text):
        raise ConfigurationError(f"{variable} holds what looks like a secret; keys have variables of their own.")
    value: Any = text.strip()
    if key.is_table:
        return parse_table(key, [value], variable)
    if key.is_list:
        separator = ";" if key.name in ("rule", "mcp_server") else ","
        value = [each.strip() for each in value.split(separator) if each.strip()]
    try:
        return convert_value(key, value, strict=False)
    except ValueError as error:
        raise ConfigurationError(f"The environment variable {variable} {error}.") from None


def _flag_value(key: Key, value: Any) -> Any:
    return parse_table(key, cast("list[str]", value), key.flag) if key.is_table else value


def _drop_foreign_endpoint(found: dict[str, Setting], keys: Mapping[str, Key]) -> dict[str, Setting]:
    """Drop an endpoint that a weaker place set than the place that named the model."""
    if "base_url" not in found:
        return found
    least = found["model"].strength
    for name in _ENDPOINT:
        if 0 < found[name].strength < least:
            found[name] = Setting(name, keys[name].default)
        if name == "base_url":
            least = max(least, found[name].strength)
    return found


def _option_value(key: Key, value: Any) -> Any:
    """Convert names to a list, whether they were repeated or separated by commas."""
    if not key.is_names:
        return value
    texts = cast("list[str]", value if isinstance(value, list) else [value])
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    # An empty name is a mistake, such as a variable that is not set: it does not stand for the default model.
    return names if names or not texts or key.name != "model" else [""]


def _ask_trust(ignored: Ignored) -> bool:
    """Ask on a terminal whether to trust a project's file. Returns whether it counts now."""
    if ignored.state == "refused":
        return False
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        print(f"weft: {ignored}", file=sys.stderr)
        return False
    from weft.cli.trust import ask_trust

    return ask_trust(ignored.path)
