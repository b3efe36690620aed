"""`heald chat`: the coding assistant in a terminal."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from heald.commands.logs import log_to
from heald.commands.memory_protection import protect_memory
from heald.commands.model_options import complete_model, named_model
from heald.commands.options import add_options, flags_of
from heald.commands.stores import find_session, open_sessions
from heald.commands.terminal import BOLD, DIM, Colours, can_redraw, choose_theme, hold_typing
from heald.config.paths import data_folder, display_path
from heald.core.errors import ConfigurationError
from heald.sessions.settings import SessionSettings
from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from heald.tools.shell.sandbox import Sandbox
from heald_cli.agent_choice import use_agent
from heald_cli.attempts.command import clean_leftovers
from heald_cli.chat.session import ChatSession, EventHandler
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.inside_notice import report_missing_sandbox
from heald_cli.model_choice import default_model
from heald_cli.new_session_settings import new_session_settings
from heald_cli.own_tools import OwnTools, open_own_tools, print_problems
from heald_cli.project_notes import find_notes, notes_state
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_server.models import KnownModels

EXAMPLES = """examples:
  heald chat                                        work in the current folder
  heald chat "Fix the failing test"                 begin with a request
  heald chat site --model openai/gpt-5.2
  heald chat --resume                               continue the last conversation of this folder
  heald chat --permissions auto --rule 'deny run_command(git push *)'

While it runs: Enter sends, Esc interrupts, Shift-Tab changes the mode, @path attaches a file, Ctrl-V a picture, /help
lists the rest. Calls that do more than read wait for a key: y yes, n no with a reason, a always this."""
_LAST = "last"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="folder to work in (the current folder)")
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first request")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=_LAST,
        metavar="SESSION",
        help="continue the last conversation of the folder, or this one",
    )
    add_options(parser, "chat")


def run(options: argparse.Namespace) -> int:
    protect_memory()
    if options.prompt is None and len(options.folder.split()) > 1 and not Path(options.folder).is_dir():
        options.folder, options.prompt = ".", options.folder  # heald chat "fix the bug"
    folder = Path(options.folder)
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r} to work in; create it first.")
    if options.agent:
        if options.resume is not None and "agent" in flags_of(options):
            raise ConfigurationError("--agent begins a conversation; --resume continues one with its own agent.")
        use_agent(options, folder)
    if options.model and not options.base_url:
        options.model = complete_model(options.model)
    models = KnownModels(options.model, {options.model: named_model(options)} if options.base_url else {})
    settings = msgspec.structs.replace(
        new_session_settings(options, options.model or default_model(models), options.tools, folder),
        agent=options.agent or "",
    )
    sandbox = Sandbox(unsandboxed=options.unsandboxed)
    Permissions(settings.mode(), settings.rules)
    report_missing_sandbox(settings.mode(), sandbox)
    named_tools(settings.tools, sandbox)
    clean_leftovers(data_folder(options.data))
    log_to("warning", data_folder(options.data) / "chat.log")  # the screen is for the conversation
    if sys.stdin.isatty() and can_redraw(sys.stdout):
        _ask_about_notes(settings.workspace)
        with hold_typing(sys.stdin):
            asyncio.run(_chat(options, models, settings, sandbox))
        return 0
    return asyncio.run(_chat_plain(options, models, settings, sandbox))


def _ask_about_notes(folder: str | None) -> None:
    """Ask whether notes for agents, commands and skills are trusted, unless the user has decided about them."""
    from heald_cli.trust_question import ask_trust
    from heald_cli.trusted_paths import undecided_paths

    for path in undecided_paths(folder) if sys.stdin.isatty() else ():
        ask_trust(path)


@asynccontextmanager
async def _open_chat(
    options: argparse.Namespace,
    models: KnownModels,
    settings: SessionSettings,
    sandbox: Sandbox,
    on_event: EventHandler,
    *,
    in_background: bool = False,
) -> AsyncGenerator[tuple[ChatSession, OwnTools]]:
    """Open the conversation that the options name. With `in_background` MCP servers start beside it."""
    folders = [settings.workspace or "."]
    waits = not in_background or not settings.tools or bool(settings.agent)
    async with (
        open_own_tools(options, folders=folders, waits=waits) as own_tools,
        open_sessions(options.data) as sessions,
    ):
        chat = ChatSession(
            sessions,
            models,
            settings,
            sandbox=sandbox,
            own_tools=own_tools,
            on_event=on_event,
            data=data_folder(options.data),
            limits=CheckpointLimits.of(options),
            extras=ExtrasCollector(options),
            after_crash=options.after_crash,
        )
        if options.resume is None:
            await chat.begin()
        else:
            conversations = (
                await chat.earlier() if options.resume == _LAST else [await find_session(sessions, options.resume)]
            )
            if not conversations:
                raise ConfigurationError(
                    "There is no earlier conversation in this folder; begin one with `heald chat`."
                )
            await chat.resume(conversations[0], options.model)
        try:
            if options.plan:
                await chat.session.set_planning(True)
            yield chat, own_tools
        finally:
            await chat.close()


async def _chat_plain(
    options: argparse.Namespace, models: KnownModels, settings: SessionSettings, sandbox: Sandbox
) -> int:
    """Chat without a terminal: requests from standard input, plain text to standard output."""
    from heald_cli.chat.plain import chat_plain

    async with _open_chat(options, models, settings, sandbox, lambda _: None) as (chat, own_tools):
        print_problems(own_tools)
        if options.resume is not None:
            chat.show_events()
        return await chat_plain(chat, options.prompt)


async def _chat(options: argparse.Namespace, models: KnownModels, settings: SessionSettings, sandbox: Sandbox) -> None:
    from heald_cli.chat.console import ChatConsole
    from heald_cli.chat.display import EventDisplay
    from heald_cli.chat.input_history import InputHistory
    from heald_cli.chat.screen import ChatScreen

    theme = choose_theme(options.theme)
    paint = Colours(sys.stdout, theme=theme)
    screen = ChatScreen(sys.stdout, theme=theme, history=InputHistory(data_folder(options.data) / "chat-history"))
    display = EventDisplay(screen, paint)
    async with _open_chat(options, models, settings, sandbox, display.on_event, in_background=True) as opened:
        chat, own_tools = opened
        console = ChatConsole(chat, screen, display, paint, options, own_tools.servers)
        try:
            screen.print(f"{paint('heald', BOLD)} with {chat.model} in {chat.folder}")
            console.note("/help lists commands and keys. Asks before anything but reading.")
            if chat.session.stored_settings.planning:
                console.note("Plan mode: the model may only read. It answers with a plan; you approve it.")
            for notes in find_notes(chat.folder):
                is_trusted = notes_state(notes) == "trusted"
                place = "this folder" if str(notes.parent) == chat.folder else display_path(notes.parent)
                console.note(f"{notes.name} of {place} is {'' if is_trusted else 'not '}followed.")
            if reason := chat.edit_format_reason:
                console.note(reason)
            for problem in own_tools.problems:
                console.note(problem)
            own_tools.on_problem = console.note
            if options.resume is not None:
                await console.show_history()
            if options.prompt:
                console.submit(options.prompt)
            await console.run()
        finally:
            name, is_stored = chat.session.session, chat.session.last_seq > 0
    for folder in chat.kept_folders:
        print(paint(f"Changes of a sub-agent that were not applied are in {folder}.", DIM))
    if is_stored:
        print(paint(f"heald chat --resume {name} continues from here.", DIM))
