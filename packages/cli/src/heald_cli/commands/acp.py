"""`heald acp`: the coding assistant in an editor, over the Agent Client Protocol."""

import argparse
import asyncio
import sys
from functools import partial

from heald.agent.folder_extras import FolderExtras
from heald.commands.logs import log_to
from heald.commands.memory_protection import protect_memory
from heald.commands.model_options import named_model
from heald.commands.options import add_options
from heald.commands.stores import open_sessions
from heald.core.errors import ConfigurationError
from heald.sessions.settings import SessionSettings
from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from heald.tools.shell.sandbox import Sandbox
from heald_cli.chat.session import KIND
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.inside_notice import report_missing_sandbox
from heald_cli.model_choice import check_chat_model, default_model
from heald_cli.new_session_settings import new_session_settings
from heald_cli.own_tools import open_own_tools
from heald_cli.server_start import environment_token
from heald_server.models import KnownModels

EXAMPLES = """examples:
  heald acp                                         started by an editor such as Zed, JetBrains or Neovim
  heald acp --model openai/gpt-5.2 --permissions auto
  heald acp --terminal editor                       run commands in the editor's terminal, without the sandbox
  HEALD_TOKEN=… heald acp --server http://127.0.0.1:7878   join the sessions of a server

Standard input and output carry the protocol; messages for people go to standard error. docs/acp.md has the
settings of each editor. The sessions are those of `heald chat`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "acp")


def run(options: argparse.Namespace) -> int:
    if sys.stdin.isatty():
        raise ConfigurationError("heald acp is started by an editor; to talk in this terminal use `heald chat`.")
    protect_memory()
    log_to(options.log)
    if options.server:
        asyncio.run(_serve_remote(options.server))
        return 0
    models = KnownModels(options.model, {options.model: named_model(options)} if options.base_url else {})
    settings = new_session_settings(options, options.model or "", options.tools)
    sandbox = Sandbox(unsandboxed=options.unsandboxed)
    Permissions(settings.mode(), settings.rules)
    report_missing_sandbox(settings.mode(), sandbox)
    named_tools(settings.tools, sandbox)
    asyncio.run(_serve(options, models, settings, sandbox))
    return 0


async def _serve_remote(url: str) -> None:
    from heald_cli.editors.serve import serve_editor
    from heald_cli.editors.server_agent import ServerEditorAgent

    await serve_editor(ServerEditorAgent(url, environment_token() or None))


async def _serve(options: argparse.Namespace, models: KnownModels, settings: SessionSettings, sandbox: Sandbox) -> None:
    from heald_cli.editors.agent import EditorAgent, EditorOptions
    from heald_cli.editors.serve import serve_editor

    extras = ExtrasCollector(options)

    def find_extras(settings: SessionSettings) -> FolderExtras:
        folder = settings.workspace
        memory = extras.open_memory(folder) if folder else None
        return extras.collect(folder, settings.instructions, has_tools=bool(settings.tools), memory=memory)

    async with open_own_tools(options) as own_tools, open_sessions(options.data) as sessions:
        chosen = EditorOptions(
            kind=KIND,
            settings=settings,
            check_model=partial(check_chat_model, models),
            default_model=lambda: default_model(models),
            find_extras=find_extras,
            own_tools=own_tools.sources,
            problems=tuple(own_tools.problems),
            use_files=options.editor_files,
            use_terminal=options.terminal == "editor",
        )
        await serve_editor(EditorAgent(sessions, models, sandbox, chosen))
