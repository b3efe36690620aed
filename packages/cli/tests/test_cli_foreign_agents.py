"""External agents on the command line: alone, and in a race of attempts with one check and one table of costs."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_repository import git
from cli_tmux import NEEDS_TMUX, Tmux

import scripted_agent
from cli_bench import is_one_line_error, run_process
from cli_pages import here
from foreign_agents import AGENTS, ANSWER, RIGHT, TASK, WRONG, ScriptedProvider
from heald.config.paths import user_file
from heald.config.trust import remember
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.sandbox import Sandbox

NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="bubblewrap makes no sandbox here")
CHECK = "grep -q 'a + b' calc.py"


@pytest.fixture(autouse=True)
def repository() -> None:
    git("init", "-q")
    here("calc.py").write_text(WRONG)
    git("add", "-A")
    git("commit", "-qm", "The first commit")


def configure(*tables: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text("\n".join(tables))


def scripted_table(name: str, folder: Path, *steps: Any) -> str:
    """The settings of an agent that plays these steps."""
    script = folder / f"{name}.json"
    script.write_text(json.dumps([steps]))
    command = [sys.executable, scripted_agent.__file__, str(script), str(folder / f"{name}.jsonl")]
    return f"[acp_agents.{name}]\ncommand = {json.dumps(command)}"


def edit_step(text: str) -> list[Any]:
    report = {"kind": "edit", "title": "Edit calc.py", "rawInput": {"path": "calc.py", "text": text}}
    return ["ask", "c1", {**report, "writes": ["calc.py", text]}]


def cost_steps(amount: float, read: int) -> list[Any]:
    return [
        ["usage_update", {"cost": {"amount": amount, "currency": "USD"}}],
        [
            "answer",
            {"stopReason": "end_turn", "usage": {"inputTokens": read, "outputTokens": 10, "totalTokens": read + 10}},
        ],
    ]


def refuse(request: ReceivedRequest) -> Reply:
    return wire_reply("chat", text="I would rather not.")


async def test_an_agent_by_its_name_is_a_model(tmp_path: Path) -> None:
    configure(scripted_table("mine", tmp_path, edit_step(RIGHT), ["say", ANSWER]))
    for words in (["--model", "acp/mine"], ["--agent", "mine"]):
        here("calc.py").write_text(WRONG)
        ran = await run_process("run", *words, "--workspace", ".", "--permissions", "auto", TASK)
        assert (ran.code, ran.out) == (0, f"{ANSWER}\n"), ran.err
        assert here("calc.py").read_text() == RIGHT


async def test_an_agent_is_not_started_without_a_folder(tmp_path: Path) -> None:
    configure(scripted_table("mine", tmp_path, ["say", ANSWER]))
    ran = await run_process("run", "--model", "acp/mine", TASK)
    assert is_one_line_error(ran), ran.err
    assert "acp/mine works in a folder; give one, such as --workspace ." in ran.err


async def test_without_a_person_an_agent_may_not_change_files(tmp_path: Path) -> None:
    configure(scripted_table("mine", tmp_path, edit_step(RIGHT), ["say", ANSWER]))
    await run_process("run", "--model", "acp/mine", "--workspace", ".", TASK)
    assert here("calc.py").read_text() == WRONG


@NEEDS_SANDBOX
async def test_agents_of_others_race_with_ours(tmp_path: Path) -> None:
    configure(
        scripted_table("wrong", tmp_path, edit_step("nothing\n"), ["say", "Done."], *cost_steps(0.5, 1000)),
        scripted_table("right", tmp_path, edit_step(RIGHT), ["say", ANSWER], *cost_steps(0.25, 2000)),
    )
    async with ScriptedServer(refuse) as server:
        words = ["--attempts", "3", "--agent", "wrong,right,ours", "--check", CHECK, "--permissions", "auto"]
        place = ["--base-url", f"{server.url}/v1", "--model", "m"]
        ran = await run_process("run", *words, *place, TASK)
    assert (ran.code, ran.out) == (0, f"{ANSWER}\n"), ran.err
    assert here("calc.py").read_text() == RIGHT
    lines = [line.split() for line in ran.err.splitlines()]
    assert ["1", "wrong", "check", "failed", "1,010", "$0.5000"] in lines
    assert ["2", "right", "passed", "2,010", "$0.2500"] in lines
    assert ["3", "ours", "(m)", "completed", "18", "unknown"] in lines
    assert ["all", "3,038", "$0.7500,", "without", "1"] in lines
    assert "Attempt 2 is applied" in ran.err


@NEEDS_SANDBOX
async def test_the_race_as_json(tmp_path: Path) -> None:
    configure(scripted_table("right", tmp_path, edit_step(RIGHT), ["say", ANSWER], *cost_steps(0.25, 2000)))
    words = ["--attempts", "2", "--agent", "right", "--check", CHECK, "--permissions", "auto", "--json"]
    ran = await run_process("run", *words, TASK)
    report = json.loads(ran.out)
    assert [attempt["cost_usd"] for attempt in report["attempts"]] == [0.25, 0.25]
    assert (report["applied"], report["cost_usd"], report["tokens"]) == (1, 0.5, 4020)


@NEEDS_TMUX
@NEEDS_SANDBOX
async def test_agents_in_the_attempts_of_a_chat(tmp_path: Path) -> None:
    configure(scripted_table("mine", tmp_path, edit_step(RIGHT), ["say", ANSWER], *cost_steps(0.25, 2000)))
    async with ScriptedServer(refuse) as server:
        place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        variables = {"XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]}
        async with Tmux(tmp_path, "chat", *place, "--permissions", "auto", **variables) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter(f"/attempts 2 --agent mine,ours --check '{CHECK.replace(chr(39), chr(34))}' {TASK}")
            await terminal.shows(
                "1  mine      +1 −1 in 1 file, check passed", "ours (m)  changed nothing", "apply which?"
            )
            await terminal.enter("1")
            await terminal.shows(ANSWER, "› Attempt 1 is applied to the folder.")
    assert here("calc.py").read_text() == RIGHT


async def test_an_agent_and_a_model_build_pages_side_by_side(tmp_path: Path) -> None:
    page = "<!doctype html><title>By {}</title><h1>By {}</h1>"
    command = ["ask", "c0", {"kind": "execute", "title": "ls", "rawInput": {"command": "ls"}}]
    edit = {"kind": "edit", "title": "Write", "rawInput": {"path": "index.html"}}
    written = ["ask", "c1", {**edit, "writes": ["index.html", page.format("an agent", "an agent")]}]
    configure(scripted_table("mine", tmp_path, command, written, ["say", "Built."], *cost_steps(0.25, 2000)))

    def write_page(request: ReceivedRequest) -> Reply:
        if "create_file" in str(request.body["messages"][-1]) or request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="Built.")
        arguments = {"path": "index.html", "content": page.format("a model", "a model")}
        return wire_reply("chat", calls=[ToolCall(id="c1", name="create_file", input=arguments)])

    async with ScriptedServer(write_page) as server:
        models = ["--models", "m,acp/mine", "--base-url", f"{server.url}/v1"]
        ran = await run_process("build", "--text", "A bakery", *models, "--no-score", "-o", "site", "--json")
    report = json.loads(ran.out)
    assert ran.code == 0, ran.err
    variants = {variant["model"]: variant for variant in report["variants"]}
    assert {name: variant["status"] for name, variant in variants.items()} == {
        "m": "completed",
        "acp/mine": "completed",
    }
    assert variants["acp/mine"]["cost_usd"] == 0.25
    pages = {path.read_text() for path in here("site").glob("*/index.html")}
    assert pages == {page.format(who, who) for who in ("a model", "an agent")}
    answers = [json.loads(line).get("result", {}) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    chosen = [answer["outcome"]["optionId"] for answer in answers if "outcome" in answer]
    assert chosen == ["no", "yes"]  # nobody can be asked about the command


async def test_a_server_offers_the_agents_that_its_operator_names() -> None:
    ran = await run_process("serve", "--external-agents", "nobody", "--port", "0")
    assert is_one_line_error(ran), ran.err
    assert "There is no agent 'nobody' for acp/nobody" in ran.err


async def test_an_agent_that_is_not_known_is_named() -> None:
    for words in (["--agent", "nobody"], ["--attempts", "2", "--agent", "ours,nobody", "--model", "m"]):
        ran = await run_process("run", *words, "--check", "true", "--permissions", "auto", TASK)
        assert is_one_line_error(ran), ran.err
        assert "nobody" in ran.err


async def test_settings_of_agents_are_checked() -> None:
    configure('[acp_agents.mine]\ncomand = ["x"]')
    ran = await run_process("run", "--model", "acp/mine", "--workspace", ".", TASK)
    assert "[acp_agents.mine] has an unknown key 'comand'; did you mean 'command'?" in ran.err
    configure('[acp_agents.mine]\nkeys = ["X"]')
    ran = await run_process("run", "--model", "acp/mine", "--workspace", ".", TASK)
    assert "[acp_agents.mine] lacks 'command'" in ran.err


async def test_a_project_names_no_agent_of_others() -> None:
    here("heald.toml").write_text('[acp_agents.claude]\ncommand = ["./mine"]')
    remember(here("heald.toml"), here("heald.toml").read_bytes(), trusted=True)
    ran = await run_process("run", "--model", "acp/claude", "--workspace", ".", TASK)
    assert ran.code == 2
    assert "[acp_agents.claude] command cannot be set by a project" in ran.err


@pytest.mark.clients
@NEEDS_SANDBOX
async def test_three_unchanged_agents_race_with_one_check_and_one_table(tmp_path: Path) -> None:
    names = ["claude", "opencode", "gemini"]
    commands = {name: await asyncio.to_thread(AGENTS[name].command) for name in names}
    configure(
        *(f"[acp_agents.{name}]\ncommand = {json.dumps(command)}\n" for name, command in commands.items()),
        '[acp_agents.claude.env]\nCLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"',
    )
    async with ScriptedServer(ScriptedProvider(lazy=["claude"])) as server:
        env = {key: value for name in names for key, value in AGENTS[name].environment(server.url).items()}
        words = ["--attempts", "3", "--agent", ",".join(names), "--check", CHECK, "--permissions", "auto", "--json"]
        words += ["--attempts-log", str(tmp_path / "race.jsonl")]
        ran = await run_process("run", *words, TASK, env={**env, "HOME": str(tmp_path)})
    report: dict[str, Any] = json.loads(ran.out)
    attempts: dict[str, Any] = {attempt["model"]: attempt for attempt in report["attempts"]}
    assert [attempt["status"] for attempt in attempts.values()] == ["completed"] * 3, ran.err
    assert attempts["claude"]["check"] is None  # it changed nothing
    assert (attempts["opencode"]["check"]["exit_code"], attempts["gemini"]["check"]["exit_code"]) == (0, 0)
    assert report["applied"] == 2
    assert here("calc.py").read_text() == RIGHT
    assert attempts["claude"]["cost_usd"] > 0 < attempts["opencode"]["cost_usd"]
    assert attempts["gemini"]["usage"]["input"] == 5000
    log = [json.loads(line) for line in (tmp_path / "race.jsonl").read_text().splitlines()]
    assert {event["data"]["model"] for event in log if event["type"] == "exchange_request"} == {
        *(f"acp/{name}" for name in names)
    }
    checked = await run_process("check", str(tmp_path / "race.jsonl"))
    assert (checked.code, checked.err) == (0, "heald: 3 logs were checked; 0 have problems.\n")
