"""A hand-over in every dialect: the call is visible where calls are, the change of the agent where it has a place."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

import heald
from dialect_support import frame_data, spoken
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.events import AgentChanged
from heald.core.json import encode
from heald_server.dialects.registry import load_dialects, open_dialect

S = heald.testing.ScriptedModel
NO_CALLS = {"openai", "responses"}
"""Dialects that do not show the agent's own calls."""
CHANGES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "native": lambda frame: frame.get("type") == "agent_changed",
    "agentx": lambda frame: frame.get("type") == "agent_changed",
    "ag-ui": lambda frame: frame.get("name") == "agent_changed",
    "ai-sdk": lambda frame: frame.get("type") == "data-agent-changed",
}


async def handed_over() -> list[Event]:
    billing = Agent(S(["Refunded."], name="scripted/billing"), name="billing")
    agent = Agent(S([[S.call("hand_over", agent="billing")]]), name="triage", handoffs=[billing])
    events: list[Event] = []
    agent.subscribe(events.append)
    await agent.run("Refund 7.")
    return events


@pytest.mark.parametrize("name", sorted(load_dialects()))
async def test_a_hand_over_is_visible_and_the_answer_is_that_of_the_other_agent(name: str) -> None:
    events = await handed_over()
    frames: list[Any] = json.loads(encode(frame_data(spoken(open_dialect(name), events))))
    text = json.dumps(frames)
    assert "Refunded" in text
    assert ("hand_over" in text) == (name not in NO_CALLS)
    if name not in CHANGES:
        return
    objects = [cast("dict[str, Any]", frame) for frame in frames if isinstance(frame, dict)]
    (changed,) = [frame for frame in objects if CHANGES[name](frame)]
    assert '"billing"' in json.dumps(changed)
    assert any(isinstance(event.data, AgentChanged) for event in events)
