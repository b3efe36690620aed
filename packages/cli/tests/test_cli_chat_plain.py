"""`heald chat` in a pipe: lines in, plain text out, nothing that a terminal would need."""

import asyncio
import json
import signal
from asyncio.subprocess import PIPE
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli_repository import make_repository

from cli_bench import run_process, started
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

WRITE = ToolCall(id="c1", name="create_file", input={"path": "a.txt", "content": "x\n"})


def words(server: ScriptedServer, tmp_path: Path, *more: str) -> list[str]:
    return ["chat", "--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data"), *more]


def counting(request: Any) -> Reply:
    asked = sum(message["role"] == "user" for message in request.body["messages"])
    return wire_reply("chat", text=f"**Answer** {asked}.")


async def test_each_line_is_a_request_of_one_conversation(tmp_path: Path) -> None:
    async with ScriptedServer(counting) as server:
        done = await run_process(*words(server, tmp_path), said=b"First\n\nSecond\n/exit\nNever\n")
        assert (done.code, done.out) == (0, "**Answer** 1.\n**Answer** 2.\n")
        assert "\x1b" not in done.out + done.err
        assert len(server.requests) == 2
        more = await run_process(*words(server, tmp_path, "--resume"), said=b"Third")
        assert more.out == "**Answer** 3.\n"


async def test_ctrl_c_ends_the_wait_for_a_line(tmp_path: Path) -> None:
    async with ScriptedServer(counting) as server, started(*words(server, tmp_path), stdin=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"First\nSecond\n")
        async with asyncio.timeout(60):
            assert [await process.stdout.readline() for _ in range(2)] == [b"**Answer** 1.\n", b"**Answer** 2.\n"]
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 130  # its standard input is still open
            assert b"Traceback" not in await process.stderr.read()


async def test_a_call_that_needs_a_person_is_refused(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            denied = "There is no terminal for a question" in json.dumps(request.body["messages"][-1])
            return wire_reply("chat", text="Refused." if denied else "Written.")
        return wire_reply("chat", calls=[WRITE])

    async with ScriptedServer(answer) as server:
        assert "Refused." in (await run_process(*words(server, tmp_path), said=b"Write it\n")).out
        assert not here("a.txt").exists()
        allowed = await run_process(*words(server, tmp_path, "--permissions", "auto"), said=b"Write it\n")
        assert "Written." in allowed.out
        assert here("a.txt").exists()


async def test_a_failure_is_an_exit_code_and_a_sentence(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply([b'{"error": {"message": "no such model"}}'], status=404)) as server:
        done = await run_process(*words(server, tmp_path), said=b"Hello\n")
        assert done.code == 1
        assert "no such model" in done.err
        unknown = await run_process(*words(server, tmp_path), said=b"/undo\n")
        assert "works in a terminal only" in unknown.err
        assert unknown.code == 2


async def test_a_mentioned_file_is_attached(tmp_path: Path) -> None:
    here("note.txt").write_text("the note")
    async with ScriptedServer(counting) as server:
        await run_process(*words(server, tmp_path), said=b"Read @note.txt\n")
        assert "the note" in json.dumps(server.requests[0].body["messages"][-1])


@pytest.mark.parametrize(("sent", "end"), [(b"Hello", "**Answer** 1.\n"), (b"", "")])
async def test_the_end_of_the_input_ends_it(tmp_path: Path, sent: bytes, end: str) -> None:
    async with ScriptedServer(counting) as server:
        assert (await run_process(*words(server, tmp_path), said=sent)).out == end


async def test_files_that_others_changed_are_sent_with_the_next_line(tmp_path: Path) -> None:
    make_repository()
    async with ScriptedServer(counting) as server, started(*words(server, tmp_path), stdin=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent = ""
        async with asyncio.timeout(120):
            for number in count():
                process.stdin.write(f"Line {number}\n".encode())
                await process.stdout.readline()
                sent = str(server.requests[-1].body["messages"][-1]["content"])
                if "Files that changed" in sent:
                    break
                await asyncio.sleep(0.3 * number)  # the state after the answer is saved when it has been printed
                here("a.txt").write_text(f"state {number}\n")
    first = str(server.requests[0].body["messages"][-1]["content"])
    assert first == "Line 0"
    assert "+state" in sent
