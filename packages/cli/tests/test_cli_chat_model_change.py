"""`/model` with a model that cannot be opened: the conversation goes on with the former one."""

from pathlib import Path

import pytest

from heald.commands.merged_options import merge_options
from heald.commands.stores import open_sessions
from heald.core.errors import ConfigurationError
from heald.sessions.sessions import Sessions
from heald.tools.shell.sandbox import Sandbox
from heald_cli.chat.session import ChatSession
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.main import parser
from heald_cli.new_session_settings import new_session_settings
from heald_cli.own_tools import open_own_tools
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_server.models import KnownModels

FORMER, LATER = "openai/gpt-5", "openai/gpt-5-mini"


async def test_a_model_that_cannot_be_opened_leaves_the_former_one_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    options = parser("chat").parse_args(
        ["chat", "--model", FORMER, "--tools", "none", "--data", str(tmp_path / "data")]
    )
    merge_options(options)
    settings = new_session_settings(options, FORMER, options.tools, tmp_path)
    async with open_own_tools(options) as own_tools, open_sessions(options.data) as sessions:
        chat = ChatSession(
            sessions,
            KnownModels(FORMER),
            settings,
            sandbox=Sandbox(),
            own_tools=own_tools,
            on_event=lambda _: None,
            data=tmp_path / "data",
            limits=CheckpointLimits.of(options),
            extras=ExtrasCollector(options),
        )
        await chat.begin()
        before = chat.session.session
        open_session = Sessions.open

        async def open_former_only(manager: Sessions, *words: object, **settings: object) -> object:
            if "gpt-5-mini" in str(settings.get("model", words)):
                raise ConfigurationError("It cannot be opened.")
            return await open_session(manager, *words, **settings)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(Sessions, "open", open_former_only)
        with pytest.raises(ConfigurationError, match="cannot be opened"):
            await chat.change_model(LATER)
        assert chat.model == chat.session.stored_settings.model == FORMER
        assert chat.session.session == before
        await chat.session.set_planning(planning=True)  # a closed session would raise
        await chat.close()
