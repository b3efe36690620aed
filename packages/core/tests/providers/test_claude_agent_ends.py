"""How a query of the Claude Agent SDK ends when it does not end well: every call has a result, every message an end."""

import asyncio
import json
import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from claude_agent_recordings import call, init, message, result, text, whole
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_support import Die, End, Played, Use, Wait

import heald
from heald.core.envelope import Event
from heald.core.errors import (
    AuthenticationFailed,
    ConfigurationError,
    ConnectionFailed,
    HealdError,
    IncompleteStream,
    InvalidRequest,
    MalformedResponse,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)
from heald.providers.claude_agent import ClaudeAgent

WEATHER = "mcp__heald__weather"
KEY = "sk-ant-api03-canary0000000000000"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C"


@heald.tool
async def sleep() -> str:
    """Sleep."""
    await asyncio.sleep(60)
    return "rested"


def cancel_at(played: Played, kind: str) -> None:
    def on_event(event: Event) -> None:
        if event.type == kind:
            played.agent.cancel("Enough.")

    played.agent.subscribe(on_event)


async def test_cancelled_in_the_middle_of_a_message() -> None:
    started = message("msg_1", text("Take a coat."))[:3]
    async with Played([[init(), *started, Wait()]]) as played:
        cancel_at(played, "text_delta")
        done = await played.agent.run("What should I wear?")
    assert (done.status, done.text) == ("cancelled", "Take a")
    assert played.types("message_discarded", "message_stop") == ["message_discarded"]
    assert played.processes[0].interrupted


async def test_cancelled_after_the_message_but_before_the_result() -> None:
    async with Played([[init(), *message("msg_1", text("Take a coat.")), Wait()]]) as played:
        cancel_at(played, "text_content_block_stop")
        done = await played.agent.run("What should I wear?")
    assert (done.status, done.text) == ("cancelled", "Take a coat.")


@pytest.mark.parametrize("at", ["tool_executing", "tool_call", "message_stop", "message_start", "exchange_request"])
async def test_cancelled_around_a_tool_of_heald(at: str) -> None:
    name = "mcp__heald__sleep"
    recording = [init(), *message("msg_1", call(name, "toolu_1")), Use("toolu_1", name, {}), Wait()]
    async with Played([recording], tools=[sleep]) as played:
        cancel_at(played, at)
        async with asyncio.timeout(60):
            done = await played.agent.run("Sleep.")
    assert done.status == "cancelled"
    assert [told.status for told in played.payloads_of("tool_result")] == (
        [] if at in ("message_start", "exchange_request") else ["cancelled"]
    )


async def test_cancelled_while_a_tool_of_the_sdk_runs() -> None:
    use = Use("toolu_1", "Bash", {"command": "sleep 60"}, meanwhile=[Wait()])
    recording = [init(), *message("msg_1", call("Bash", "toolu_1", command="sleep 60")), use]
    async with Played([recording], sdk_tools=["Bash"]) as played:
        cancel_at(played, "tool_executing")
        done = await played.agent.run("Sleep.")
    assert (done.status, played.payloads_of("tool_result")[0].status) == ("cancelled", "cancelled")
    assert played.processes[0].interrupted


async def test_cancelled_while_somebody_is_asked() -> None:
    use = Use("toolu_1", "Bash", {"command": "ls"})
    recording = [init(), *message("msg_1", call("Bash", "toolu_1", command="ls")), use, Wait()]
    async with Played([recording], sdk_tools=["Bash"], permissions="ask") as played:
        cancel_at(played, "approval_requested")
        done = await played.agent.run("List.")
    assert (done.status, played.payloads_of("tool_result")[0].status) == ("cancelled", "cancelled")
    assert all(decision["permissionDecision"] == "deny" for decision in played.processes[0].decisions)


async def test_the_process_dies_in_the_middle_of_a_message() -> None:
    started = message("msg_1", text("Take a coat."))[:3]
    async with Played([[init(), *started, Die(137)]]) as played:
        with pytest.raises(ConnectionFailed, match="ended with exit code 137 before the answer was complete"):
            await played.agent.run("What should I wear?")
    assert played.types("message_discarded", "message_stop") == ["message_discarded"]
    assert "/home" not in str(played.events)


async def test_the_output_ends_in_the_middle_of_a_message() -> None:
    started = message("msg_1", text("Take a coat."))[:3]
    async with Played([[init(), *started, End()]]) as played:
        with pytest.raises(IncompleteStream):
            await played.agent.run("What should I wear?")


async def test_the_process_dies_while_its_tool_runs() -> None:
    use = Use("toolu_1", "Bash", {"command": "ls"}, meanwhile=[Die(), Wait()])
    recording = [init(), *message("msg_1", call("Bash", "toolu_1", command="ls")), use]
    async with Played([recording], sdk_tools=["Bash"]) as played:
        with pytest.raises(ConnectionFailed):
            await played.agent.run("List.")
    told = played.payloads_of("tool_result")[0]
    assert told.status == "interrupted"
    assert "may have run" in told.content


async def test_the_process_dies_after_the_answer_was_whole() -> None:
    async with Played([[init(), *message("msg_1", text("Take a coat.")), Die()]]) as played:
        with pytest.raises(ConnectionFailed):
            await played.agent.run("What should I wear?")
        assert played.agent.messages[-1].text == "Take a coat."
    assert played.types("message_stop") == ["message_stop"]


async def test_max_turns_of_the_sdk_is_a_limit() -> None:
    recording = [
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        result(subtype="error_max_turns", is_error=True, errors=["Reached maximum number of turns (1)"]),
    ]
    async with Played([recording], tools=[weather]) as played:
        done = await played.agent.run("What should I wear?")
    assert (done.status, done.limit, done.error) == ("limit", "turns", None)
    assert done.note == "Claude Code reached its own limit of turns."
    assert played.payloads_of("tool_result")[0].status == "ok"


async def test_a_budget_of_heald_ends_the_sdks_loop() -> None:
    recording = [
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        Wait(),
    ]
    async with Played([recording], tools=[weather], budget=heald.Budget(turns=1)) as played:
        done = await played.agent.run("What should I wear?")
    assert (done.status, done.limit, done.note) == ("limit", "turns", "The exchange reached its budget of 1 turns.")
    assert played.processes[0].interrupted


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        (result("API Error: 529 overloaded_error", is_error=True, api_error_status=529), Overloaded, "overloaded"),
        (result("Invalid API key · Please run /login", is_error=True), AuthenticationFailed, "ANTHROPIC_API_KEY"),
        (result(f"bad key {KEY}", is_error=True, api_error_status=401), AuthenticationFailed, "bad key sk-a…"),
        (result("Prompt is too long", is_error=True), InvalidRequest, "begin anew"),
        (
            result(subtype="error_during_execution", is_error=True, errors=["No conversation found with session x"]),
            InvalidRequest,
            "begin a new session",
        ),
        (result(subtype="error_during_execution", is_error=True), ServerFault, "with an unspecified error"),
        (
            result(subtype="error_during_execution", is_error=True, errors=["ENOENT: /home/me/.claude/x.json"]),
            ProviderError,
            "ENOENT: …",
        ),
        (whole("m", text("Credit balance is too low"), error="billing_error"), QuotaExhausted, "billing"),
        (whole("m", text("Slow down"), error="rate_limit"), RateLimited, "Slow down"),
        (whole("m", text("Please run /login"), error="authentication_failed"), AuthenticationFailed, "run /login"),
        (
            {"type": "system", "subtype": "api_retry", "attempt": 2, "error_status": 401, "session_id": "s-1"},
            AuthenticationFailed,
            "the key was refused",
        ),
        ({"type": "assistant", "session_id": "s-1"}, MalformedResponse, "cannot read"),
    ],
)
async def test_an_error_is_typed_and_states_one_sentence(line: Any, kind: type[HealdError], said: str) -> None:
    async with Played([[init(), line, Wait()]]) as played:
        with pytest.raises(kind) as raised:
            await played.agent.run("Hi.")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert KEY not in str(played.events)
    assert "/home" not in str(played.events)
    assert played.payloads_of("exchange_response")[0].status == "failed"


async def test_after_a_failure_the_next_model_continues() -> None:
    scripted = heald.testing.ScriptedModel(["Take a coat."])
    recording = [init(), result("API Error: 529 overloaded_error", is_error=True, api_error_status=529)]
    async with Played([recording], fallbacks=[scripted]) as played:
        assert (await played.agent.run("What should I wear?")).text == "Take a coat."


async def test_a_claude_code_that_does_not_name_its_calls() -> None:
    name = WEATHER
    recording = [init(), *message("msg_1", call(name, "toolu_1", city="Oslo")), Use("toolu_1", name, {"city": "Oslo"})]
    async with Played([[*recording, Wait()]], tools=[weather], tool_ids=False) as played:
        with pytest.raises(ConfigurationError, match=r"pip install -U .* claude-agent-sdk"):
            await played.agent.run("What should I wear?")


async def test_claude_code_is_not_there() -> None:
    model = ClaudeAgent(options=ClaudeAgentOptions(cli_path="/nowhere/claude"))
    async with heald.Agent(model) as agent:
        with pytest.raises(HealdError) as raised:
            await agent.run("Hi.")
    assert "/nowhere" not in str(raised.value)


def test_the_sdk_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: dict[str, None] = {}
    monkeypatch.setattr("heald.providers.claude_agent.find_spec", nothing.get)
    with pytest.raises(ConfigurationError, match=r"needs the Claude Agent SDK; pip install 'heald\[claude\]'\."):
        heald.Agent("claude-agent/claude-sonnet-4-6")


STUBBORN = """\
#!{python}
import json, os, signal, sys, time
if "-v" in sys.argv or "--version" in sys.argv:
    print("9.9.9 (Claude Code)"); sys.exit()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({pid!r}, "w").write(str(os.getpid()))
def say(line): print(json.dumps(line), flush=True)
for line in sys.stdin:
    line = json.loads(line)
    if line["type"] == "control_request" and line["request"]["subtype"] == "initialize":
        {before}
        answer = {{"subtype": "success", "request_id": line["request_id"]}}
        answer["response"] = {{"hook_on_failure_supported": True, "hooks_applied": True}}
        say({{"type": "control_response", "response": answer}})
    elif line["type"] == "user":
        for started in json.loads({lines!r}): say(started)
        {then}
while True: time.sleep(1)
"""


def stubborn(folder: Path, *, before: str = "pass", then: str = "pass") -> tuple[ClaudeAgent, Path]:
    """A real process that ends neither at the end of its input nor when it is told to."""
    program, pid = folder / "claude", folder / "pid"
    lines = json.dumps([init(), *message("msg_1", text("Take a coat."))[:3]])
    program.write_text(STUBBORN.format(python=sys.executable, pid=str(pid), lines=lines, before=before, then=then))
    program.chmod(0o755)
    return ClaudeAgent(options=ClaudeAgentOptions(cli_path=program, cwd=folder)), pid


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("before", ["pass", "time.sleep(100)"])
async def test_a_cancelled_process_is_dead_before_it_would_end(tmp_path: Path, before: str) -> None:
    model, pid = stubborn(tmp_path, before=before)
    async with heald.Agent(model) as agent:
        exchange = agent.send("What should I wear?")
        async with asyncio.timeout(120):
            while not pid.exists() or not pid.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        started = monotonic()
        exchange.cancel("Enough.")
        assert (await exchange.result()).status == "cancelled"
        took = monotonic() - started
        assert not is_alive(int(pid.read_text()))
    assert took < 60  # it sleeps for 100


async def test_a_real_process_that_dies(tmp_path: Path) -> None:
    model, _ = stubborn(tmp_path, then="os._exit(3)")
    async with heald.Agent(model) as agent:
        with pytest.raises(ConnectionFailed, match="exit code 3"):
            await agent.run("What should I wear?")


async def test_a_real_process_that_states_no_json(tmp_path: Path) -> None:
    model, _ = stubborn(tmp_path, then="print('{broken', flush=True); os._exit(0)")
    async with heald.Agent(model) as agent:
        with pytest.raises(HealdError):
            await agent.run("What should I wear?")
