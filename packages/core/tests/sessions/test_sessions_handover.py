"""A stored session that was handed over: another process continues it with the agent that speaks."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from handover_scenario import BILLING_FACTOR, SESSION, TOKENS

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.events import AgentChanged, ExchangeResponse, MessageDiscarded, ToolExecuting
from heald.core.messages import ToolResult
from heald.sessions.memory import MemoryStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log
from log_support import call, scripted

SCENARIO = Path(__file__).parent / "handover_scenario.py"
TO_BILLING = [call("hand_over", agent="billing")]
PRICE = 0.001 * TOKENS


def _run(folder: Path, kind: str = "-", number: int = 0) -> tuple[int, str]:
    command = [sys.executable, "-W", "error", str(SCENARIO), str(folder), kind, str(number)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(command, env=environment, timeout=120, check=False, stdout=subprocess.PIPE, text=True)
    return process.returncode, process.stdout


async def _read_log(folder: Path) -> list[Event]:
    store = SqliteStore(folder / "sessions.db")
    try:
        return [event async for event in iterate_events(store, SESSION)]
    finally:
        await store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="a process kills itself")
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("tool_executing", 1),
        ("agent_changed", 1),
        ("tool_completed", 1),
        ("tool_result", 1),
        ("tool_result", 2),
        ("message_start", 2),
        ("assistant_message", 2),
        ("tool_executing", 3),
        ("tool_result", 3),
        ("message_start", 3),
    ],
)
async def test_a_process_that_is_killed_around_a_hand_over_is_continued(tmp_path: Path, kind: str, number: int) -> None:
    assert _run(tmp_path, kind, number)[0] == -signal.SIGKILL
    had_ended = any(isinstance(event.data, ExchangeResponse) for event in await _read_log(tmp_path))
    code, output = _run(tmp_path)
    assert code == 0
    text, turns, speaker, cost = msgspec.json.decode(output)
    log = await _read_log(tmp_path)
    assert not check_log(log)
    if had_ended:  # an answer that comes at once may be stored as a whole; the second run is another exchange
        assert ((kind, number), text, turns, speaker) == (("message_start", 3), "Refunded.", 1, "billing")
        return
    assert (text, turns, speaker) == ("Refunded.", 3, "billing")
    assert [event.data.agent for event in log if isinstance(event.data, AgentChanged)] == ["billing"]
    refunds = [event for event in log if isinstance(event.data, ToolExecuting) and event.data.name == "refund"]
    assert len(refunds) == 1
    looked_up = [event.data for event in log if isinstance(event.data, ToolResult) and event.data.name == "look_up"]
    assert [result.status for result in looked_up] == ["ok"]
    if not any(isinstance(event.data, MessageDiscarded) for event in log):  # a lost answer costs something too
        assert cost == pytest.approx(PRICE + 2 * PRICE * BILLING_FACTOR)


def team(triage: list[Any], billing: list[Any]) -> Agent[Any]:
    other = Agent(scripted(*billing, name="scripted/billing"), name="billing", permissions="read-only")
    return Agent(scripted(*triage, name="scripted/triage"), name="triage", handoffs=[other], permissions="auto")


async def test_a_session_is_opened_with_the_agent_that_speaks() -> None:
    store = MemoryStore()
    agent = team([TO_BILLING], ["Hello.", "Hello again."])
    async with heald.open_session("a", agent, store=store) as session:
        await session.run("Hello.")
    async with heald.open_session("a", agent, store=store) as session:
        assert (session.speaker, session.model_name) == ("billing", "scripted/billing")
        assert (await session.run("Hello?")).text == "Hello again."
        assert not check_log([event async for event in iterate_events(store, "a")])


async def test_a_rewind_brings_back_the_agent_of_that_event() -> None:
    agent = team(["I route.", TO_BILLING, "I route again."], ["Hello."])
    async with heald.open_session("a", agent, store=MemoryStore()) as session:
        await session.run("Hello.")
        seq = session.last_seq
        await session.run("Money.")
        end = session.last_seq
        assert session.speaker == "billing"
        await session.rewind(seq)
        assert session.speaker == "triage"
        assert (await session.run("Hello?")).text == "I route again."
        await session.rewind(end)
        assert session.speaker == "billing"
        await session.reset()
        assert session.speaker == "triage"


async def test_an_agent_that_does_not_exist_any_more_is_replaced_by_the_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    async with heald.open_session("a", team([TO_BILLING], ["Hello."]), store=store) as session:
        await session.run("Hello.")
    other = Agent(scripted(), name="sales")
    agent = Agent(scripted("I route."), name="triage", handoffs=[other])
    async with heald.open_session("a", agent, store=store) as session:
        assert session.speaker == "triage"
        assert (await session.run("Hello?")).text == "I route."
    assert "'billing', which does not exist any more; 'triage' continues it" in caplog.text
    log = [event async for event in iterate_events(store, "a")]
    assert [event.data.agent for event in log if isinstance(event.data, AgentChanged)] == ["billing", "triage"]
    async with heald.open_session("a", Agent(scripted("Alone.")), store=store) as session:
        assert (await session.run("Hello?")).text == "Alone."


async def test_the_state_of_a_log_names_the_agent_that_speaks() -> None:
    store = MemoryStore()
    state = heald.ConversationState()
    async with heald.open_session("a", team([TO_BILLING], ["Hello."]), store=store) as session:
        await session.run("Hello.")
    names: list[tuple[str | None, str | None]] = []
    async for event in iterate_events(store, "a"):
        state.feed(event)
        names.append((state.agent, state.next_agent))
    assert list(dict.fromkeys(names)) == [(None, None), (None, "billing"), ("billing", None)]
