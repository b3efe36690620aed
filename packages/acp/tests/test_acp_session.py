"""An external agent as a model, with a scripted agent as a real process: events, approvals, files, terminals."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import heald
import scripted_agent
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested
from heald.tools.approvals import Approval
from heald.tools.shell.sandbox import Sandbox
from heald_acp.model import AcpAgent
from heald_acp.program import AgentProgram
from heald_check import check_log

NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="bubblewrap makes no sandbox here")
ASK = heald.Permissions("ask")


class Bench:
    """A folder with an agent that plays a script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._script, self._record = folder / "script.json", folder / "record.jsonl"
        self.events: list[Event] = []
        self.questions: list[ApprovalRequested] = []
        self.is_allowed = True

    def agent(
        self,
        *prompts: Sequence[Sequence[Any]],
        permissions: heald.Permissions | None = None,
        model: str = "",
        **more: Any,
    ) -> heald.Agent:
        self._script.write_text(json.dumps(prompts))
        command = (sys.executable, scripted_agent.__file__, str(self._script), str(self._record))
        program = AgentProgram(name="scripted", command=command, **more)

        async def approve(request: ApprovalRequested) -> Approval:
            self.questions.append(request)
            return Approval(allowed=self.is_allowed)

        agent = heald.Agent(
            AcpAgent(program=program, model=model),
            workspace=self.folder,
            permissions=permissions or heald.Permissions("auto"),
            on_approval=approve,
        )
        agent.subscribe(self.events.append)
        return agent

    def record(self) -> list[Any]:
        return [json.loads(line) for line in self._record.read_text().splitlines()]

    def answers(self) -> list[Any]:
        """The answers of Heald to requests of the agent."""
        return [entry.get("result", entry.get("error")) for entry in self.record() if "method" not in entry]

    def of(self, kind: str) -> list[Any]:
        return [event.data for event in self.events if event.type == kind]

    def results(self) -> dict[str, str]:
        return {result.id: result.status for result in self.of("tool_result")}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def edit(bench: Bench, name: str = "a.txt", text: str = "new\n") -> list[Any]:
    path = str(bench.folder / name)
    report = {"kind": "edit", "title": "Edit", "rawInput": {"path": path, "text": text}, "locations": [{"path": path}]}
    return ["ask", "c1", {**report, "writes": [path, text]}]


async def test_text_thinking_plan_usage_and_cost_are_events(bench: Bench) -> None:
    steps = [
        ["think", "Hm."],
        ["say", "Hello "],
        ["say", "there."],
        ["plan", {"entries": [{"content": "One", "status": "completed"}, {"content": "Two", "status": "pending"}]}],
        ["raw", "this is not JSON"],
        ["say", "Bye."],
        ["usage_update", {"used": 10, "size": 100, "cost": {"amount": 0.25, "currency": "USD"}}],
        ["answer", {"stopReason": "end_turn", "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}}],
    ]
    again = [
        ["say", "Once more."],
        ["usage_update", {"cost": {"amount": 0.4, "currency": "USD"}}],
        ["answer", {"stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}],
    ]
    async with bench.agent(steps, again) as agent:
        first = await agent.run("Greet")
        second = await agent.run("And now?")
    assert (first.status, first.text) == ("completed", "Bye.")
    assert (first.usage.input, first.usage.output, first.cost_usd) == (7, 3, 0.25)
    assert second.cost_usd == pytest.approx(0.15)
    assert "".join(delta.text for delta in bench.of("thinking_delta")) == "Hm."
    assert bench.of("tool_call")[0].name == "todo_list"
    assert [item["status"] for item in bench.of("tool_call")[0].input["items"]] == ["done", "pending"]
    prompts = [entry["params"]["prompt"] for entry in bench.record() if entry.get("method") == "session/prompt"]
    assert prompts == [[{"type": "text", "text": "Greet"}], [{"type": "text", "text": "And now?"}]]
    assert check_log(bench.events) == []


async def test_an_approved_edit_of_the_agent_is_a_change_of_the_log(bench: Bench) -> None:
    (bench.folder / "a.txt").write_text("old\n")
    async with bench.agent([edit(bench)], permissions=ASK) as agent:
        result = await agent.run("Change it")
    assert result.status == "completed"
    assert [(question.name, question.input["text"]) for question in bench.questions] == [("acp_edit", "new\n")]
    assert [(change.path, change.cause) for change in bench.of("file_changed")] == [("a.txt", "c1")]
    assert "-old" in bench.of("file_changed")[0].diff
    assert bench.answers() == [{"outcome": {"outcome": "selected", "optionId": "yes"}}]
    assert result.files == {"a.txt": "new\n"}
    assert check_log(bench.events) == []


async def test_a_refused_edit_is_not_made(bench: Bench) -> None:
    bench.is_allowed = False
    async with bench.agent([edit(bench), ["say", "As you like."]], permissions=ASK) as agent:
        result = await agent.run("Change it")
    assert (result.status, result.text) == ("completed", "As you like.")
    assert bench.answers() == [{"outcome": {"outcome": "selected", "optionId": "no"}}]
    assert bench.results() == {"c1": "denied"}
    assert not (bench.folder / "a.txt").exists()


@pytest.mark.parametrize("rule", ["deny run_command(rm *)", "deny acp_execute(rm *)"])
async def test_rules_for_our_tools_hold_for_those_of_the_agent(rule: str, bench: Bench) -> None:
    call = ["ask", "c1", {"kind": "execute", "title": "rm", "rawInput": {"command": "rm -rf x"}}]
    async with bench.agent([call], permissions=heald.Permissions("auto", [rule])) as agent:
        await agent.run("Clean up")
    assert bench.results() == {"c1": "denied"}
    assert not bench.questions


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_a_written_file_without_a_call_becomes_one(is_allowed: bool, bench: Bench) -> None:
    bench.is_allowed = is_allowed
    path = bench.folder / "b.txt"
    write = ["request", "fs/write_text_file", {"path": str(path), "content": "b\n"}]
    async with bench.agent([write], permissions=ASK) as agent:
        await agent.run("Write")
    assert [question.name for question in bench.questions] == ["acp_edit"]
    assert path.exists() is is_allowed
    assert len(bench.of("file_changed")) == is_allowed
    assert check_log(bench.events) == []


async def test_a_write_within_a_call_belongs_to_it_and_asks_if_the_call_did_not(bench: Bench) -> None:
    path = str(bench.folder / "b.txt")
    report = {"toolCallId": "c1", "kind": "edit", "status": "in_progress", "rawInput": {"path": path}}
    steps = [
        ["tool_call", report],
        ["request", "fs/write_text_file", {"path": path, "content": "b\n"}],
        ["tool_call_update", {"toolCallId": "c1", "status": "completed"}],
    ]
    async with bench.agent(steps, permissions=ASK) as agent:
        result = await agent.run("Write")
    assert result.status == "completed"
    assert [question.call_id for question in bench.questions] == ["c1"]
    assert [change.cause for change in bench.of("file_changed")] == ["c1"]


async def test_files_outside_of_the_folder_secrets_and_protected_files_are_refused(
    bench: Bench, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("CANARY")
    (bench.folder / ".env").write_text("PASSWORD=CANARY\n")
    (bench.folder / "link").symlink_to(tmp_path / "outside.txt")
    (bench.folder / "a.txt").write_text("one\ntwo\nthree\n")
    outside = [str(tmp_path / "outside.txt"), f"{bench.folder}/../outside.txt", f"{bench.folder}/link", "/etc/passwd"]
    reads = [["request", "fs/read_text_file", {"path": path}] for path in [*outside, f"{bench.folder}/.env"]]
    writes = [
        ["request", "fs/write_text_file", {"path": path, "content": "x"}]
        for path in [*outside[:3], f"{bench.folder}/.git/config"]
    ]
    lines = ["request", "fs/read_text_file", {"path": f"{bench.folder}/a.txt", "line": 2, "limit": 1}]
    permissions = heald.Permissions("auto", ["deny read(secrets)"])
    async with bench.agent([*reads, *writes, lines], permissions=permissions) as agent:
        await agent.run("Read")
    *refusals, content = bench.answers()
    assert all("message" in refusal for refusal in refusals), refusals
    assert content == {"content": "two\n"}
    assert "CANARY" not in json.dumps(refusals)
    assert (tmp_path / "outside.txt").read_text() == "CANARY"


async def test_a_file_that_does_not_exist_has_the_error_code_of_the_protocol(bench: Bench) -> None:
    read = ["request", "fs/read_text_file", {"path": f"{bench.folder}/new.txt"}]
    async with bench.agent([read]) as agent:
        await agent.run("Read")
    (answer,) = bench.answers()
    assert answer["code"] == -32002
    assert "'new.txt' does not exist" in answer["message"]


async def test_an_agent_that_does_not_ask_is_ended(bench: Bench) -> None:
    path = bench.folder / "a.txt"
    report = {"toolCallId": "c1", "kind": "execute", "title": "touch it", "rawInput": {"command": "touch"}}
    steps = [
        ["tool_call", {**report, "status": "in_progress"}],
        ["touch", str(path)],
        ["tool_call_update", {"toolCallId": "c1", "status": "completed"}],
        ["wait"],
    ]
    async with bench.agent(steps, permissions=heald.Permissions("read-only")) as agent:
        with pytest.raises(heald.HealdError, match="scripted ran 'touch it' without asking"):
            await agent.run("Go")
    assert [call.name for call in bench.of("tool_call")] in ([], ["acp_execute_unasked"])
    assert not bench.questions


async def test_what_an_agent_with_a_sandbox_of_its_own_does_not_ask_for_is_recorded(bench: Bench) -> None:
    report = {"toolCallId": "c1", "kind": "execute", "title": "ls", "rawInput": {"command": "ls"}}
    steps = [["tool_call", {**report, "status": "completed"}], ["say", "Done."]]
    async with bench.agent(steps, permissions=ASK, unasked="report") as agent:
        result = await agent.run("Go")
    assert result.text == "Done."
    assert [(call.name, call.input) for call in bench.of("tool_call")] == [("acp_execute_unasked", {"command": "ls"})]
    assert not bench.questions


async def test_a_call_that_a_running_one_waits_for_runs_inside_of_it(bench: Bench) -> None:
    """The first call ends when the second one is answered: that one cannot wait for the next message."""
    async with bench.agent([["ask_inside", "outer", "inner"], ["say", "Done."]], permissions=ASK) as agent:
        async with asyncio.timeout(60):
            result = await agent.run("Go")
    assert result.text == "Done."
    outer, inner = bench.of("tool_call")
    assert (outer.name, inner.name, inner.parent) == ("acp_think", "acp_execute", outer.id)
    assert [question.input["command"] for question in bench.questions] == ["inner"]
    assert check_log(bench.events) == []


async def test_calls_that_are_asked_for_at_once(bench: Bench) -> None:
    async with bench.agent([["ask_together", "one", "two", "three"]], permissions=ASK) as agent:
        async with asyncio.timeout(60):
            result = await agent.run("Go")
    assert result.status == "completed"
    assert sorted(question.input["command"] for question in bench.questions) == ["one", "three", "two"]
    assert [result.status for result in bench.of("tool_result")] == ["ok"] * 3
    assert check_log(bench.events) == []


@NEEDS_SANDBOX
async def test_a_terminal_is_our_sandbox_and_asks(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("CANARY")
    command = f"echo hello; cat {tmp_path}/outside.txt; env"
    async with bench.agent([["run_command", command]], permissions=ASK) as agent:
        result = await agent.run("Go")
    assert [question.input for question in bench.questions] == [{"command": command}]
    assert "hello" in result.text
    assert "CANARY" not in result.text
    assert check_log(bench.events) == []


async def test_a_refused_terminal_runs_nothing(bench: Bench) -> None:
    bench.is_allowed = False
    async with bench.agent([["run_command", "touch a.txt"]], permissions=ASK) as agent:
        result = await agent.run("Go")
    assert "not permitted" in result.text or "no method" in result.text
    assert not (bench.folder / "a.txt").exists()


@NEEDS_SANDBOX
async def test_an_approved_command_is_no_leave_for_another_one(bench: Bench) -> None:
    report = {"toolCallId": "c1", "kind": "execute", "status": "in_progress", "rawInput": {"command": "echo one"}}
    steps = [["tool_call", report], ["run_command", "echo one"], ["run_command", "echo two"]]
    async with bench.agent(steps, permissions=heald.Permissions("ask", ["allow run_command(echo one)"])) as agent:
        await agent.run("Go")
    assert [question.input for question in bench.questions] == [{"command": "echo two"}]


async def test_a_longer_work_than_our_own_loop_has_turns(bench: Bench) -> None:
    calls = [["tool_call", {"toolCallId": f"c{n}", "kind": "read", "status": "completed"}] for n in range(40)]
    steps = [step for call in calls for step in (call, ["say", "On."])]
    async with bench.agent(steps) as agent:
        assert (await agent.run("Go")).status == "completed"


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def process_of(agent: heald.Agent) -> int:
    session: Any = agent._conversation.session  # pyright: ignore[reportPrivateUsage]
    pid = session._conversation.pid
    assert isinstance(pid, int)
    return pid


@pytest.mark.parametrize("step", ["wait", "ignore"])
async def test_a_cancelled_exchange_ends_the_agent(step: str, bench: Bench) -> None:
    async with bench.agent([["say", "Wait"], [step]]) as agent:
        running = agent.send("Go")
        while not bench.of("text_delta"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        pid = process_of(agent)
        running.cancel()
        result = await running.result()
        assert result.status == "cancelled"
        assert not is_alive(pid)
    if step == "wait":
        assert any(entry.get("method") == "session/cancel" for entry in bench.record())
    assert check_log(bench.events) == []


async def test_an_agent_that_ended_is_started_again_with_the_conversation_as_text(bench: Bench) -> None:
    async with bench.agent([["say", "The word is fig."], ["exit", 3, "fatal: out of figs"]]) as agent:
        reason = "scripted ended with exit code 3 before the answer was complete: fatal: out of figs"
        with pytest.raises(heald.HealdError, match=reason):
            await agent.run("What is the word?")
        first = process_ids(bench)
        with pytest.raises(heald.HealdError):
            await agent.run("Well?")
    assert len(process_ids(bench)) == 2 > len(first)
    [_, second] = [entry["params"]["prompt"] for entry in bench.record() if entry.get("method") == "session/prompt"]
    assert "What is the word?" in second[0]["text"]
    assert second[-1] == {"type": "text", "text": "Well?"}


def process_ids(bench: Bench) -> list[Any]:
    return [entry for entry in bench.record() if entry.get("method") == "initialize"]


async def test_the_agent_lives_as_long_as_the_conversation(bench: Bench) -> None:
    async with bench.agent([["say", "One."]], [["say", "Two."]]) as agent:
        await agent.run("1")
        pid = process_of(agent)
        await agent.run("2")
        assert process_of(agent) == pid
    assert not is_alive(pid)


async def test_errors_of_the_agent_are_said(bench: Bench) -> None:
    steps = [["error", {"code": -32603, "message": "Internal error", "data": {"details": "the model m is gone"}}]]
    async with bench.agent(steps) as agent:
        with pytest.raises(heald.HealdError, match="scripted: Internal error: the model m is gone"):
            await agent.run("Go")
    missing = AcpAgent(program=AgentProgram(name="mine", command=("no-such-program",), install="brew install mine"))
    async with heald.Agent(missing, workspace=bench.folder) as agent:
        with pytest.raises(heald.ConfigurationError, match="'no-such-program', which was not found; install it with"):
            await agent.run("Go")


async def test_the_model_of_the_agent_is_chosen_by_its_name(bench: Bench) -> None:
    async with bench.agent([["say", "Hi."]], model="large") as agent:
        assert (await agent.run("Go")).status == "completed"
    assert {"modelId": "large", "sessionId": "s1"} in [entry.get("params") for entry in bench.record()]
    async with bench.agent([["say", "Hi."]], model="huge") as agent:
        with pytest.raises(heald.HealdError, match="has no model 'huge'; it has small, large"):
            await agent.run("Go")


async def test_only_named_keys_reach_the_agent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HEALD_TOKEN", "GH_TOKEN", "PGPASSWORD", "STRIPE_SK"):
        monkeypatch.setenv(name, "canary")
    async with bench.agent([["environment"]], keys=("ANTHROPIC_API_KEY",), env={"MINE": "yes"}) as agent:
        variables = json.loads((await agent.run("Go")).text)
    assert [name for name, value in variables.items() if "canary" in value] == ["ANTHROPIC_API_KEY"]
    assert variables["MINE"] == "yes"
    assert {"PATH", "HOME"} <= variables.keys()


async def test_a_list_price_counts_if_the_agent_reports_tokens_only(bench: Bench) -> None:
    answer = {
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1_000_000, "outputTokens": 0, "totalTokens": 1_000_000},
    }
    async with bench.agent([["say", "Hi."], ["answer", answer]], prices="anthropic/claude-sonnet-4-6") as agent:
        result = await agent.run("Go")
    assert result.cost_usd == pytest.approx(3.0)
    async with bench.agent([["say", "Hi."], ["answer", answer]]) as agent:
        assert (await agent.run("Go")).cost_usd is None
