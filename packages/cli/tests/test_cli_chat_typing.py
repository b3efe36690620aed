"""What is typed in `heald chat` while one conversation replaces another."""

import asyncio
import sys
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from heald.commands.merged_options import merge_options
from heald.commands.stores import open_sessions
from heald.commands.terminal import Colours
from heald.sessions.session import Session
from heald.tools.shell.sandbox import Sandbox
from heald_cli.chat.console import ChatConsole
from heald_cli.chat.display import EventDisplay
from heald_cli.chat.screen import ChatScreen
from heald_cli.chat.session import ChatSession
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.main import parser
from heald_cli.new_session_settings import new_session_settings
from heald_cli.own_tools import open_own_tools
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_server.models import KnownModels


async def test_nothing_is_lost_that_is_typed_while_a_conversation_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close, closing, may_close = Session.close, asyncio.Event(), asyncio.Event()

    async def close_slowly(session: Session) -> None:
        closing.set()
        await may_close.wait()
        await close(session)

    monkeypatch.setattr(Session, "close", close_slowly)
    model = "openai/gpt-5"
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    options = parser("chat").parse_args(["chat", "--model", model, "--tools", "none", "--data", str(tmp_path / "data")])
    merge_options(options)
    settings = new_session_settings(options, model, options.tools, tmp_path)
    with create_pipe_input() as pipe:
        screen = ChatScreen(sys.stdout, source=pipe, output=DummyOutput())
        display = EventDisplay(screen, Colours(on=False))
        async with (
            asyncio.timeout(120),
            open_own_tools(options) as own_tools,
            open_sessions(options.data) as sessions,
        ):
            chat = ChatSession(
                sessions,
                KnownModels(model),
                settings,
                sandbox=Sandbox(),
                own_tools=own_tools,
                on_event=display.on_event,
                data=tmp_path / "data",
                limits=CheckpointLimits.of(options),
                extras=ExtrasCollector(options),
            )
            await chat.begin()
            first = chat.session.session
            console = ChatConsole(chat, screen, display, Colours(on=False), options)
            running = asyncio.create_task(console.run())
            pipe.send_text("/new\r")
            await closing.wait()
            screen.footer = ""
            pipe.send_text("typed ahead")
            while screen.buffer.text != "typed ahead" or not screen.footer:  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the row below is still refreshed
            may_close.set()
            console.quit()
            await running
            assert chat.session.session != first
            await chat.close()
