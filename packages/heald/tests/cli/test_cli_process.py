"""The command as a process: interrupted, cut off from its reader, and in a terminal with few letters."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys

import pytest

from cli_bench import Ran, finish, is_one_line_error, run_process, run_with, started
from heald.testing.server import Hang, Pause, Reply, ScriptedServer, Step
from heald.testing.streams import wire_reply, wire_stream


def begun(text: str = "Half an answer\n") -> list[bytes]:
    """A stream that has said something and goes on."""
    return wire_stream("chat", text=[text, "rest"])[:2]


@pytest.mark.parametrize("words", [["--stream"], ["--json"]], ids=["text", "json"])
async def test_ctrl_c_closes_the_connection(words: list[str]) -> None:
    script = [Reply([*begun(), Hang()])]
    async with ScriptedServer(script) as server, started(*run_with(server, "Hi", *words)) as process:
        assert process.stdout is not None
        while b"Half an answer" not in await asyncio.wait_for(process.stdout.readline(), 60):
            pass
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        ran = await finish(process)
    assert ran.code == 130
    assert ran.err == ("" if words == ["--json"] else "heald: unknown in, 4 out, cost unknown, cancelled\n")


async def test_ctrl_c_while_waiting_to_retry() -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, 429, {"retry-after": "50"})
    async with ScriptedServer([refusal]) as server, started(*run_with(server, "Hi")) as process:
        assert process.stderr is not None
        told = await asyncio.wait_for(process.stderr.readline(), 60)
        process.send_signal(signal.SIGINT)
        ran = await finish(process)
    assert b"Attempt 2 in 50.0 s." in told
    assert (ran.code, ran.out, ran.err) == (130, "", "")


async def test_ctrl_c_in_conform() -> None:
    async with (
        ScriptedServer(lambda _: Reply([*begun(), Hang()])) as server,
        started("conform", "--base-url", f"{server.url}/v1", "--model", "m") as process,
    ):
        async with asyncio.timeout(60):
            while not server.requests:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        ran = await finish(process)
    assert (ran.code, ran.err) == (130, "")


async def cut_off(*words: str) -> tuple[int, str]:
    """Run a command whose reader takes one line and leaves, as `| head -1` does."""
    reading, writing = os.pipe()
    async with started(*words, stdout=writing) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            await asyncio.wait_for(asyncio.to_thread(pipe.readline), 60)
        ran = await finish(process)
    return ran.code, ran.err


def run_in_shell(words: str) -> Ran:
    """`heald …` with what a shell makes of its streams."""
    command = f"exec {shlex.quote(sys.executable)} -m heald_cli.main {words}"
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


LONG: list[Step] = [step for line in range(40) for step in (begun(f"Line {line}\n")[1], Pause(0.02))]


@pytest.mark.parametrize("words", [["--stream"], ["--json"]], ids=["text", "json"])
async def test_a_reader_that_has_seen_enough(words: list[str]) -> None:
    async with ScriptedServer(lambda _: Reply([*LONG, *wire_stream("chat", text="End.")])) as server:
        code, err = await cut_off(*run_with(server, "Hi", *words))
        assert words == ["--json"] or len(server.requests) == 1  # the first event comes before the request does
        for request in server.requests:
            await asyncio.wait_for(request.closed_early.wait(), 60)
    assert err == ""
    assert code == 1


async def test_a_demo_whose_reader_has_seen_enough() -> None:
    code, err = await cut_off("demo", "--pause", "0.01")
    assert err == ""
    assert code in (0, 1)


async def test_checks_whose_reader_has_seen_enough() -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello there.")) as server:
        _, err = await cut_off("conform", "--base-url", f"{server.url}/v1", "--model", "m")
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


# --- pipes and letters ------------------------------------------------------------------------------------------


async def test_a_prompt_through_a_pipe() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        ran = await run_process(*run_with(server, "-"), said="Grüße\n".encode())
        assert server.requests[0].body["messages"][0]["content"] == "Grüße\n"
    assert (ran.code, ran.out) == (0, "Hello\n")


async def test_a_pipe_that_brings_no_text() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        ran = await run_process(*run_with(server, "-"), said=b"\x89PNG\xff\xfe\x00", PYTHONIOENCODING="utf-8")
    assert "Traceback" not in ran.err
    assert ran.code == 2


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["text", "json"])
async def test_a_terminal_with_few_letters(words: list[str]) -> None:
    async with ScriptedServer([wire_reply("chat", text="Grüße 🙂!")]) as server:
        ran = await run_process(*run_with(server, "Hi", *words), PYTHONIOENCODING="ascii")
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert "Gr" in ran.out


async def test_help_with_few_letters() -> None:
    ran = await run_process("build", "--help", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert "out/2, \\u2026" in ran.out


@pytest.mark.parametrize("words", ["--help", "config"])
def test_a_full_disk_is_one_sentence(words: str) -> None:
    ran = run_in_shell(f"{words} > /dev/full")
    assert (ran.code, ran.err) == (1, "heald: No space left on device.\n")


@pytest.mark.parametrize("words", [["--stream"], ["--json"], []], ids=["stream", "json", "text"])
async def test_an_answer_on_a_full_disk(words: list[str]) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello")) as server:
        with open("/dev/full", "wb") as full:  # noqa: ASYNC230
            async with started(*run_with(server, "Hi", *words), stdout=full.fileno()) as process:
                ran = await finish(process)
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "heald: No space left on device."
    assert "Traceback" not in ran.err


def test_streams_that_are_closed() -> None:
    printed = run_in_shell("config").out
    for closed, out in (("<&-", printed), (">&-", ""), ("2>&-", printed), ("<&- >&- 2>&-", "")):
        assert run_in_shell(f"config {closed}") == Ran(0, out, ""), closed


@pytest.mark.parametrize("words", ["run --model m --base-url http://127.0.0.1:9/v1 -", "build --text -"])
def test_a_text_from_a_closed_stdin(words: str) -> None:
    ran = run_in_shell(f"{words} <&-")
    assert ran.code == 2
    assert is_one_line_error(ran)


async def test_a_demo_with_few_letters() -> None:
    ran = await run_process("demo", "--pause", "0", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")


async def test_text_is_shown_as_it_comes() -> None:
    script = [Reply([*begun("First line\n"), Hang()])]
    async with ScriptedServer(script) as server, started(*run_with(server, "Hi", "--stream")) as process:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"First line\n"


LOADED_BY_SERVER = """
import os, sys
from heald_cli.commands import serve
from heald_cli.main import main

def print_modules(address):
    os.write(1, " ".join(sys.modules).encode())
    os._exit(0)

serve.open_browser = print_modules  # called when the server is ready
main(sys.argv[1:])
"""
UNUSED_BY_SERVER = {
    *("numpy", "PIL", "onnxruntime", "cv2", "mcp", "pydantic", "opentelemetry", "asyncpg", "rich", "prompt_toolkit"),
    *("heald_studio.score", "heald_studio.score.scoring", "heald_studio.imaging", "heald_studio.tools.extract"),
    *(
        "heald_local.see",
        "heald_server.protocols.mcp.endpoint",
        "heald_server.protocols.a2a.endpoint",
        "heald.providers.prices.price_list",
    ),
}


def test_a_server_starts_without_what_only_some_requests_need() -> None:
    words = ["serve", "--port", "0", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_SERVER, *words], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.partition("\n")[2].split())
    assert {"heald_server.app", "heald_studio.studio"} <= loaded
    assert loaded & UNUSED_BY_SERVER == set()


def test_a_prompt_needs_no_markdown() -> None:
    code = (
        "import sys\nfrom prompt_toolkit.input import DummyInput\nfrom prompt_toolkit.output import DummyOutput\n"
        "from heald_cli.chat.console import ChatConsole\nfrom heald_cli.chat.screen import ChatScreen\n"
        "screen = ChatScreen(sys.stdout, source=DummyInput(), output=DummyOutput())\n"
        "screen.print('heald with m in /home')\n"
        "print([name for name in ('rich', 'markdown_it', 'pygments') if name in sys.modules])\n"
        "screen.print('word ' * 100)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\nTrue\n"


def test_the_terminal_libraries_are_loaded_by_a_conversation_alone() -> None:
    code = (
        "import sys, heald\nfrom heald_cli.main import parser\n"
        "parser().format_help(), parser('run').format_help(), parser('chat').format_help()\n"
        "print([name for name in ('prompt_toolkit', 'rich', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
