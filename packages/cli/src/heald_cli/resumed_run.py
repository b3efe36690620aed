"""`heald run --resume`: runs one prompt in the last conversation of a folder, or in a stored one, and exits."""

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec

from heald.agent.budget import Budget
from heald.agent.result import AgentResult
from heald.commands.model_options import complete_model, named_model
from heald.commands.options import flags_of
from heald.commands.stores import find_session, open_sessions
from heald.commands.terminal import print_note
from heald.config.paths import data_folder
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.messages import Message
from heald.sessions.settings import SessionSettings
from heald.tools.shell.sandbox import Sandbox
from heald_cli.chat.modes import find_mode
from heald_cli.chat.session import ChatSession
from heald_cli.end_signals import call_at_end
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.model_choice import default_model
from heald_cli.new_session_settings import new_session_settings
from heald_cli.output_guard import OutputGuard
from heald_cli.own_tools import OwnTools, open_own_tools, print_problems
from heald_cli.questions import ask_approval, ask_question
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.run_agent import check_folder, complete_question
from heald_server.models import KnownModels

LAST = "last"
"""Stands for the last conversation of the folder."""


async def run_resumed(
    options: argparse.Namespace, question: Message, show: Callable[[Event], None]
) -> tuple[OutputGuard, AgentResult]:
    """Continue the conversation that `--resume` names, and store what happens in it. If the folder has none yet, this
    begins one."""
    folder = check_folder(options.workspace or ".")
    assert folder is not None
    name = options.model[0] if options.model else None
    name = complete_model(name) if name and not options.base_url else name
    options.model = name
    models = KnownModels(name, {name: named_model(options)} if name and options.base_url else {})
    settings = _settings(options, models, Path(folder))
    async with open_own_tools(options, folders=[folder]) as own_tools, open_sessions() as sessions:
        print_problems(own_tools)
        chat = ChatSession(
            sessions,
            models,
            settings,
            sandbox=Sandbox(unsandboxed=options.unsandboxed),
            own_tools=own_tools,
            on_event=lambda _: None,
            data=data_folder(),
            limits=CheckpointLimits.of(options),
            extras=ExtrasCollector(options),
        )
        earlier = await chat.earlier() if options.resume == LAST else [await find_session(sessions, options.resume)]
        if earlier:
            await chat.resume(earlier[0], name)
        else:
            print_note("There is no earlier conversation in this folder; this begins one.")
            await chat.begin()
        try:
            if earlier and "permissions" in flags_of(options):
                await chat.set_mode(find_mode(options.permissions))
            return await _ask(chat, options, question, show, own_tools)
        finally:
            await chat.close()


async def _ask(
    chat: ChatSession,
    options: argparse.Namespace,
    question: Message,
    show: Callable[[Event], None],
    own_tools: OwnTools,
) -> tuple[OutputGuard, AgentResult]:
    session = chat.session
    if session.current is not None:
        await session.current.result()  # what a crashed process left open
    guard = OutputGuard(show, session.cancel)
    session.subscribe(guard)
    session.answer_with(on_approval=ask_approval, on_question=ask_question)
    call_at_end(session.cancel, "It was terminated.")
    question, faults = await complete_question(question, own_tools)
    for fault in faults:
        print_note(fault)
    budget = Budget(
        turns=options.max_turns, tokens=options.max_tokens, usd=options.max_usd, seconds=options.max_seconds
    )
    return guard, await session.send(question, budget=budget).result()


def _settings(options: argparse.Namespace, models: KnownModels, folder: Path) -> SessionSettings:
    """Return the settings of a conversation that begins here. One that is continued has its own."""
    if options.agent:
        raise ConfigurationError("--agent begins a conversation; --resume continues one with its own agent.")
    return msgspec.structs.replace(
        new_session_settings(options, options.model or default_model(models), options.tools or ["all"], folder),
        max_output_tokens=options.max_output,
    )
