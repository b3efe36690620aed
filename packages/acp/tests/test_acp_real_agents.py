"""Unchanged agents from their registries as models, with a scripted provider behind them."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

import heald
from foreign_agents import AGENTS, ANSWER, NOTES, RIGHT, TASK, WRONG, ScriptedProvider
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested
from heald.testing.server import ScriptedServer
from heald.tools.approvals import Approval
from heald_acp.known_programs import KNOWN_PROGRAMS
from heald_acp.model import AcpAgent
from heald_check import check_log

REPORTS_COST = ("claude", "opencode")
DAILY = "claude"
"""The agent that `make test` runs too. It starts with a fifth of the processor time that others need."""


@pytest.mark.parametrize(
    "name", [name if name == DAILY else pytest.param(name, marks=pytest.mark.clients) for name in AGENTS]
)
async def test_an_agent_repairs_a_file_and_creates_one_with_our_approval(name: str, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    folder.mkdir()
    (folder / "calc.py").write_text(WRONG)
    command = await asyncio.to_thread(AGENTS[name].command)
    events: list[Event] = []
    questions: list[ApprovalRequested] = []

    async def approve(question: ApprovalRequested) -> Approval:
        questions.append(question)
        return Approval(allowed=True)

    async with ScriptedServer(ScriptedProvider()) as server:
        preset = KNOWN_PROGRAMS[name]
        env = {**preset.env, **AGENTS[name].environment(server.url), "HOME": str(home)}
        program = replace(preset, command=tuple(command), env=env)
        agent = heald.Agent(
            AcpAgent(program=program), workspace=folder, permissions=heald.Permissions("ask"), on_approval=approve
        )
        agent.subscribe(events.append)
        async with asyncio.timeout(300), agent:
            result = await agent.run(TASK)
    assert (result.status, result.text) == ("completed", ANSWER)
    assert (folder / "calc.py").read_text() == RIGHT
    assert [question.name for question in questions] == ["acp_edit", "acp_edit"]
    calls = [event.data for event in events if event.type == "tool_call"]
    names = ["acp_read", "acp_edit", "acp_edit"][-len(AGENTS[name].calls) :]
    assert [call.name for call in calls] == names  # pyright: ignore[reportAttributeAccessIssue]
    changes = [event.data for event in events if event.type == "file_changed"]
    assert [change.path for change in changes] == ["calc.py", NOTES]  # pyright: ignore[reportAttributeAccessIssue]
    assert result.usage.output
    assert (result.cost_usd is not None) is (name in REPORTS_COST)
    assert check_log(events) == []
