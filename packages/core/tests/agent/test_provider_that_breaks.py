"""A provider session that breaks as none should: the log is closed all the same."""

import pytest

import heald
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import OnEvent, ProviderSession, ProviderTurn
from heald.providers.scripted import ScriptedSession
from heald_check import check_log


class Breaking(ScriptedSession):
    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        await super().stream_turn(lambda payload: on_event(payload) if payload.type != "message_stop" else None)
        raise ZeroDivisionError("a fault in a provider")


class BreakingModel(heald.testing.ScriptedModel):
    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return Breaking(self, messages, tools, settings)


async def test_an_open_message_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    agent = heald.Agent(BreakingModel(["Half an answer."]))
    log: list[Event] = []
    agent.subscribe(log.append)
    with pytest.raises(HealdError, match="inside Heald"):
        await agent.run("Hi")
    assert [violation for violation in check_log(log) if violation.invariant != "I50"] == []
    assert log[-1].type == "exchange_response"
    assert "ZeroDivisionError" in caplog.text
