"""The defaults of programs, servers and commands are the same."""

import inspect
from typing import Any

import heald
from heald.sessions.session import Session
from heald_cli.chat.session import ChatSession
from heald_cli.settings.chat import ChatTable
from heald_cli.settings.serve import ServeTable
from heald_server.open_sessions import OpenSessions
from heald_server.settings import ServerSettings


def default_of(table: type, name: str) -> Any:
    """The default of an option of a command."""
    return getattr(table, name)["default"]


def test_an_exchange_of_a_dead_process_is_continued_everywhere() -> None:
    functions = (heald.open_session, Session.open, OpenSessions.__init__, ChatSession.__init__)
    defaults = [inspect.signature(function).parameters["after_crash"].default for function in functions]
    tables = [default_of(table, "after_crash") for table in (ServeTable, ChatTable)]
    assert {*defaults, *tables, ServerSettings().after_crash} == {"continue"}


async def test_calls_are_asked_about_wherever_somebody_can_answer() -> None:
    async def decide(_: object) -> bool:
        return True

    model = heald.testing.ScriptedModel(["Hi."])
    assert heald.Agent(model, on_approval=decide).permissions.mode == "ask"
    assert heald.Agent(model).permissions.mode == "auto"
    assert default_of(ServeTable, "permissions") == default_of(ChatTable, "permissions") == "ask"
