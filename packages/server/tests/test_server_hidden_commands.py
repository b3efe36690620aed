"""What a client of the server gets of a call that waits: all of it, and nothing in it that acts on a screen."""

import asyncio
import json
from pathlib import Path
from typing import Any

import heald
from heald.sessions.settings import SessionSettings
from hidden_texts import ATTACKS, MARKER, assert_all_visible, assert_harmless
from serving_parts import S, Served, served

ASK = SessionSettings(permissions="ask", tools=["run"])
COMMANDS = list(ATTACKS.values())


@heald.tool(effect="run", name="run_command")
async def run(command: str, cwd: str = "") -> str:
    """Run nothing: all calls are denied."""
    raise AssertionError(command)


def model_of(*calls: Any) -> Any:
    return lambda: S([list(calls), "Denied."])


async def pending(server: Served, session: str, count: int) -> str:
    """The body with all that waits, as a person would see it."""
    async with asyncio.timeout(60):
        while True:
            async with server.client.get(f"/sessions/{session}/pending") as answer:
                body = await answer.text()
            waiting = json.loads(body)
            if len(waiting["approvals"]) + len(waiting["questions"]) == count:
                return body
            await asyncio.sleep(0.02)


async def deny_all(server: Served, session: str, exchange: str, approvals: list[dict[str, Any]]) -> None:
    for approval in approvals:
        path = f"/sessions/{session}/approvals/{approval['approval']}"
        async with server.client.post(path, json={"decision": "deny", "digest": approval["digest"]}) as answer:
            assert answer.status == 200, await answer.text()
    await server.ended(session, exchange)


async def test_every_command_is_whole_in_the_summary_and_in_the_input(tmp_path: Path) -> None:
    calls = [S.call("run_command", command=command) for command in COMMANDS]
    async with served(tmp_path, model_of(*calls), defaults=ASK, tools={"run": run}) as server:
        session = await server.session()
        exchange = (await server.send(session))["exchange"]
        body = await pending(server, session, len(COMMANDS))
        assert_harmless(body)
        approvals = json.loads(body)["approvals"]
        assert_all_visible([approval["summary"] for approval in approvals], COMMANDS)
        assert sorted(approval["input"]["command"] for approval in approvals) == sorted(COMMANDS)
        await deny_all(server, session, exchange, approvals)


async def test_a_long_argument_is_cut_with_a_count_and_the_input_has_all_of_it(tmp_path: Path) -> None:
    command = "echo more\n" * 5_000 + f"{MARKER}\n" + "echo more\n" * 5_000
    call = S.call("run_command", command=command, cwd="sub\u202e")
    async with served(tmp_path, model_of(call), defaults=ASK, tools={"run": run}) as server:
        session = await server.session()
        exchange = (await server.send(session))["exchange"]
        [approval] = json.loads(await pending(server, session, 1))["approvals"]
        lines = approval["summary"].split("\n")
        assert any(line.startswith("  │ ⟦… ") and line.endswith(" line breaks left out⟧") for line in lines)
        assert "cwd: sub⟦\\u202e⟧" in lines
        assert lines[-1] == "! cwd contains 1 hidden character, written as ⟦…⟧"
        assert approval["input"] == {"command": command, "cwd": "sub\u202e"}
        await deny_all(server, session, exchange, [approval])


async def test_a_question_is_escaped_in_the_body(tmp_path: Path) -> None:
    question = f"May I \x1b]0;{MARKER}\x07\u202e?"
    call = S.call("ask_user", question=question, suggestions=["Y\u009bes", "No"])
    settings = SessionSettings(permissions="ask", tools=["ask"])
    async with served(tmp_path, model_of(call), defaults=settings) as server:
        session = await server.session()
        exchange = (await server.send(session))["exchange"]
        body = await pending(server, session, 1)
        assert_harmless(body)
        [asked] = json.loads(body)["questions"]
        assert asked["text"] == question
        path = f"/sessions/{session}/questions/{asked['question']}"
        async with server.client.post(path, json={"answer": "No"}) as answer:
            assert answer.status == 200, await answer.text()
        await server.ended(session, exchange)
