"""The settings that name functions, folders of tools and MCP servers, with the places that set them."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from heald.commands.merged_options import SUMMED, settings_of
from heald.commands.setting import Setting, find_values, option_value
from heald.config.keys import command_keys
from heald.config.paths import working_folder
from heald.config.schema import OWN_TOOLS
from heald.config.sources import Sources, sources

if TYPE_CHECKING:
    from heald.config.mcp_servers import ConfiguredServer


class OwnToolSettings(msgspec.Struct, frozen=True):
    """The settings that name tools of one's own, each with its place."""

    names: Sequence[Setting] = ()
    """Values of `tools` and `tool`."""
    servers: "Sequence[ConfiguredServer]" = ()


def find_own_tools(options: argparse.Namespace) -> OwnToolSettings:
    """Find the settings of completed options that name tools of one's own, with the places that set them."""
    command, now = settings_of(options), sources()
    flags: dict[str, Any] = {}
    for name, key in command_keys(command).items():
        if name not in OWN_TOOLS:
            continue
        settings = list(find_values(name, key, now.documents, os.environ))
        value = getattr(options, name)
        if name in SUMMED:
            by_flag = value[sum(len(setting.value) for setting in settings) :]  # flags come last
            flags |= {name: by_flag} if by_flag else {}
        elif not settings or option_value(key, settings[-1].value) != value:
            flags[name] = value
    return own_tool_settings(command, flags, now)


def own_tool_settings(command: str, flags: Mapping[str, Any], now: Sources) -> OwnToolSettings:
    """Find the settings of a command that name functions, folders and MCP servers. A stronger server wins by name."""
    keys = command_keys(command)
    settings: dict[str, list[Setting]] = {}
    for name in OWN_TOOLS:
        if name not in keys:
            return OwnToolSettings()
        settings[name] = list(find_values(name, keys[name], now.documents, os.environ))
        if name in flags:
            settings[name].append(Setting(name, flags[name], keys[name].flag, 100))
    named = settings["mcp_server"]
    servers = _find_servers(named, now) if now.server_file or now.documents or named else []
    names = [
        msgspec.structs.replace(setting, value=option_value(keys["tools"], setting.value))
        for setting in (*settings["tools"][-1:], *settings["tool"])
    ]
    return OwnToolSettings(names, list({server.name: server for server in servers}.values()))


def _find_servers(settings: Sequence[Setting], now: Sources) -> "list[ConfiguredServer]":
    """Return the MCP servers of files and flags, the weaker first."""
    from heald.config.mcp_servers import parse_mcp_file, parse_server, servers_of

    here = working_folder() or Path()
    of_project = parse_mcp_file(now.server_file.path, now.server_file.content) if now.server_file is not None else []
    servers = [*of_project, *(server for document in now.documents for server in servers_of(document))]
    return [
        *servers,
        *(parse_server(text, setting.origin, setting.folder or here) for setting in settings for text in setting.value),
    ]
