"""`heald run --resume` and the folder that a run sees."""

import json
from pathlib import Path
from typing import Any

from cli_bench import run_process
from cli_pages import here
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply


def words_of(request: Any) -> list[str]:
    messages = request.body["messages"]
    return [json.dumps(message["content"]) for message in messages if message["role"] == "user"]


def count(request: Any) -> Reply:
    return wire_reply("chat", text=f"Answer {len(words_of(request))}.")


def place(server: ScriptedServer) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1"]


async def test_a_conversation_is_continued_by_run_and_chat(tmp_path: Path) -> None:
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--resume", "The first")
        assert (ran.code, ran.out.strip()) == (0, "Answer 1."), ran
        assert "There is no earlier conversation in this folder; this begins one." in ran.err
        ran = await run_process("run", *place(server), "The second", "--resume")
        assert (ran.code, ran.out.strip(), "no earlier" in ran.err) == (0, "Answer 2.", False), ran
        ran = await run_process("chat", *place(server), ".", "The third", "--resume")
        assert "Answer 3." in ran.out, ran
        ran = await run_process("run", *place(server), "--resume", "--json", "The fourth")
        events = [json.loads(line) for line in ran.out.splitlines()]
        session = events[-1]["session"]
        assert (ran.code, events[-1]["type"]) == (0, "exchange_response")
        ran = await run_process("run", *place(server), f"--resume={session}", "The fifth")
        assert ran.out.strip() == "Answer 5.", ran
    assert ["first" in words for words in words_of(server.requests[-1])] == [True] + [False] * 4


async def test_limits_and_wrong_uses_of_resume() -> None:
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--resume", "ses_nothing", "More")
        assert ran.code == 2
        assert "`heald sessions list` shows them." in ran.err
        ran = await run_process("run", *place(server), "--resume", "--attempts", "2", "More")
        assert (ran.code, "--resume continues one conversation" in ran.err) == (2, True)
        ran = await run_process("run", *place(server), "--resume", "--agent", "reviewer", "More")
        assert (ran.code, "--agent begins a conversation" in ran.err) == (2, True)
    assert not server.requests


async def test_a_run_in_a_folder_sees_the_folder() -> None:
    here("shop.py").write_text("def total_price(items):\n    return sum(items)\n")
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--workspace", ".", "What is here?")
        assert ran.code == 0, ran
    assert "total_price" in json.dumps(server.requests[0].body["messages"][0])
