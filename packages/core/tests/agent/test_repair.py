"""A small model repairs code by a report of tests: each version is tried before it is written, and the next one asked
for in another way."""

from pathlib import Path
from typing import Any

import pytest
from agent.test_failing_code import RIGHT, WRONG, answer, request_of
from agent.test_text_editing import SMALL, of

import heald
from heald.core.envelope import Event
from heald.core.events import ToolFailed
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

OTHER = WRONG.replace("self.hour + hours", "hours + self.hour")
HALF = RIGHT.replace("% 24", "% 23")


async def run(
    folder: Path, codes: list[str], request: str, **options: Any
) -> tuple[heald.AgentResult, list[Event], list[list[dict[str, Any]]]]:
    events: list[Event] = []
    settings = {"tools": ["files", "shell"], "permissions": "auto", **options}
    async with ScriptedServer([wire_reply("chat", text=code) for code in codes]) as server:
        model = heald.Model(SMALL, base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, workspace=folder, **settings) as agent:
            agent.subscribe(events.append)
            result = await agent.send(request).result()
        sent = [request.body["messages"] for request in server.requests]
    assert check_log(events) == []
    return result, events, sent


async def test_a_version_that_fails_is_followed_by_others(tmp_path: Path) -> None:
    request = request_of(tmp_path, WRONG)
    codes = [answer(OTHER), answer(HALF), answer(RIGHT)]
    result, events, sent = await run(tmp_path, codes, request)
    assert (result.status, result.turns) == ("completed", 3)
    assert (tmp_path / "clock.py").read_text() == RIGHT
    assert of(events, ToolFailed) == []
    shown = [str(messages[-1]["content"]) for messages in sent]
    assert "Clock(23).shift(2)\n  got 25, expected 1" in shown[0]
    assert "These must hold:\n>>> Clock(23).shift(2)\n1" in shown[1]
    assert "def shift(self, hours):\n        pass" in shown[1]
    assert "got 2, expected 1" in shown[2]  # of the second version
    assert "got 25" not in shown[2]
    assert "% 23" in shown[2]
    assert len({len(messages) for messages in sent}) == 1  # no answer is shown again


async def test_a_version_that_passes_is_the_last(tmp_path: Path) -> None:
    result, _, sent = await run(tmp_path, [answer(RIGHT)], request_of(tmp_path, WRONG))
    assert (result.status, len(sent)) == ("completed", 1)
