"""The settings of a conversation that begins here, made from the options of a command."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from heald.commands.request_settings import reasoning_of
from heald.sessions.settings import SessionSettings
from heald_cli.own_tools import builtin_names


def new_session_settings(
    options: argparse.Namespace, model: str, tools: Sequence[str], folder: Path | None = None
) -> SessionSettings:
    """Return the settings of a new conversation with a model, in a folder if there is one."""
    return SessionSettings(
        model=model,
        tools=builtin_names(tools),
        instructions=options.system,
        permissions=options.permissions,
        rules=options.rule,
        workspace=str(folder.resolve()) if folder is not None else None,
        temperature=options.temperature,
        reasoning=reasoning_of(options),
        extra=options.extra,
        cache=options.cache,
        tool_profile=options.tool_profile,
        tool_search=options.tool_search,
        edit_format=options.edit_format,
    )
