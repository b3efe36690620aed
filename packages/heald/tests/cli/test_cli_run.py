"""`heald run`: the answer on standard output and nothing else there."""

import asyncio
import base64
import io
import sys
from json import loads
from pathlib import Path

import pytest

from cli_bench import KEY, run, run_with
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Cut, Reply, ScriptedServer
from heald.testing.streams import sse_event, wire_reply, wire_stream

SHOWN = {"message_start", "message_discarded", "retry_scheduled"}
WIRES = ["chat", "responses", "messages", "gemini", "ollama"]
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")


def draw(name: str, data: bytes = PNG) -> None:
    Path(name).write_bytes(data)


@pytest.mark.parametrize("wire", WIRES)
async def test_text_on_stdout_and_the_rest_on_stderr(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    reply = wire_reply(wire, thinking="Hm, a greeting.", text=["Hello, ", "wörld 🙂"])
    async with ScriptedServer([reply]) as server:
        ran = await run(capsys, *run_with(server, "Say hello", "--system", "Be brief.", wire=wire))
        body = server.requests[0].content.decode()
    assert (ran.code, ran.out) == (0, "Hello, wörld 🙂\n")
    assert ran.err == "heald: 11 in, 7 out, cost unknown\n"
    assert "Say hello" in body
    assert "Be brief." in body


async def test_settings_are_sent(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--effort", "low", "--max-output", "77"))
        body = server.requests[0].body
    assert ran.code == 0
    assert (body["reasoning_effort"], body["max_tokens"], body["model"]) == ("low", 77, "m")


async def test_a_key_from_a_variable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--api-key-env", "MY_KEY"))
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert ran.code == 0
    assert KEY not in ran.out + ran.err


async def test_a_provider_by_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([wire_reply("responses", text="Hello")]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        ran = await run(capsys, "run", "--model", "openai/gpt-4o", "Hi")
        assert server.requests[0].body["model"] == "gpt-4o"
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert ran.err.startswith("heald: 11 in, 7 out, $0.0")


async def test_the_bill_and_the_stop_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"prompt_tokens": 1234, "completion_tokens": 7, "cost": 0.0125}
    stream = [*wire_stream("chat", text="Half", stop="max_tokens", usage=None)[:-1]]
    async with ScriptedServer(
        [Reply([*stream, sse_event({"choices": [], "usage": usage}), sse_event("[DONE]")])]
    ) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
    assert ran.err == "heald: 1,234 in, 7 out, $0.0125, max_tokens. The answer was cut off at the output limit.\n"


async def test_unknown_usage_is_reported_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello", usage=None)]) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
    assert ran.err == "heald: unknown in, unknown out, cost unknown\n"


# --- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_json_lines(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([wire_reply(wire, thinking="Hm.", text=["Hel\n", "lo 🙂"])]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--json", wire=wire))
    events = [loads(line) for line in ran.out.split("\n")[:-1]]
    assert (ran.code, ran.err) == (0, "")
    head = {"seq", "id", "session", "exchange", "type", "layer", "time", "epoch", "data"}
    assert all(set(event) == head for event in events)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [events[0]["type"], events[-1]["type"]] == ["exchange_request", "exchange_response"]
    assert "".join(event["data"]["text"] for event in events if event["type"] == "text_delta") == "Hel\nlo 🙂"


async def test_json_of_a_retried_turn(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = Reply.json({"error": {"message": "busy"}}, 503)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--json"))
    kinds = [event["type"] for event in map(loads, ran.out.splitlines()) if event["type"] in SHOWN]
    assert kinds[:4] == ["message_start", "message_discarded", "retry_scheduled", "message_start"]
    assert ran.code == 0


async def test_json_of_a_failed_turn(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([Reply.json({"error": {"message": "no"}}, 400)]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--json"))
    assert ran.code == 1
    events = [loads(line) for line in ran.out.splitlines()]
    assert [event["type"] for event in events if event["type"] in SHOWN] == [
        "message_start",
        "message_discarded",
    ]
    assert events[-1]["data"]["status"] == "failed"
    assert ran.err == "heald: " + events[-1]["data"]["error"]["message"] + "\n"


# --- what is asked ----------------------------------------------------------------------------------------------------


async def test_a_prompt_from_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Line one\nLine zwö\n"))
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "-"))
        assert server.requests[0].body["messages"][0]["content"] == "Line one\nLine zwö\n"
    assert ran.code == 0


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("shot.png", PNG, "image/png"),
        ("SHOT.JPG", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a b.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("x.gif", b"GIF89a\x05\0\x06\0", "image/gif"),
        ("saved as.jpg", PNG, "image/png"),
        ("no ending", PNG, "image/png"),
    ],
)
async def test_pictures(name: str, data: bytes, media: str, capsys: pytest.CaptureFixture[str]) -> None:
    draw(name, data)
    async with ScriptedServer([wire_reply("chat", text="A dot.")]) as server:
        ran = await run(capsys, *run_with(server, "What is this?", "--image", name, "--image", name))
        text, *pictures = server.requests[0].body["messages"][0]["content"]
    assert ran.code == 0
    assert text == {"type": "text", "text": "What is this?"}
    assert len(pictures) == 2
    assert pictures[0]["image_url"]["url"] == f"data:{media};base64,{base64.b64encode(data).decode()}"


async def test_a_picture_alone(capsys: pytest.CaptureFixture[str]) -> None:
    draw("shot.png")
    async with ScriptedServer([wire_reply("chat", text="A dot.")]) as server:
        ran = await run(capsys, *run_with(server, "", "--image", "shot.png"))
        content = server.requests[0].body["messages"][0]["content"]
    assert ran.code == 0
    assert [part["type"] for part in content] == ["image_url"]


async def test_retries_are_reported_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = Reply.json({"error": {"message": "busy"}}, 503)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
    assert (ran.code, ran.out) == (0, "Hello\n")
    first, second = ran.err.splitlines()
    assert "busy" in first
    assert "Attempt 2 in " in first
    assert second == "heald: 11 in, 7 out, cost unknown"


# --- discarded text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_a_pipe_gets_no_text_of_a_failed_attempt(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = wire_stream(wire, text=["Hel", "!!"])
    end = next(at for at, piece in enumerate(pieces) if b"!!" in piece)
    cut = Reply([*pieces[:end], Cut()], content_type=wire_reply(wire).content_type)
    replies = [cut, wire_reply(wire, text="Hello")]
    async with ScriptedServer(replies) as server:
        ran = await run(capsys, *run_with(server, "Hi", wire=wire))
        assert len(server.requests) == 2
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert "Attempt 2 in " in ran.err


async def test_a_pipe_gets_text_live_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    cut = Reply([*wire_stream("chat", text=["Hel", "lo"])[:3], Cut()])
    async with ScriptedServer([cut, wire_reply("chat", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--stream"))
    assert (ran.code, ran.out) == (0, "Hello\nHello\n")
    assert "heald: The text above broke off and does not count." in ran.err


async def test_text_before_a_call_is_final(capsys: pytest.CaptureFixture[str]) -> None:
    call = ToolCall(id="c1", name="list_files", input={})
    replies = [wire_reply("chat", text="Let me look.", calls=[call]), wire_reply("chat", text="Nothing.")]
    async with ScriptedServer(replies) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--tools", "read"))
    assert ran.out == "Let me look.\nNothing.\n"


@pytest.mark.parametrize(("words", "has_map"), [([], True), (["--no-repo-map"], False)])
async def test_a_run_in_a_folder_has_a_map_of_it(
    capsys: pytest.CaptureFixture[str], words: list[str], has_map: bool
) -> None:
    here("shop.py").write_text("class OrderBook:\n    def add_order(self, order): ...\n")
    async with ScriptedServer([wire_reply("chat", text="Seen.")]) as server:
        done = await run(capsys, *run_with(server, "--workspace", ".", *words, "Look"))
        assert done.code == 0
        assert ("class OrderBook" in str(server.requests[0].body["messages"][0])) is has_map


LOADED = """
import sys
from heald_cli.main import main
code = main(sys.argv[1:])
extras = ("mcp", "mcp_types", "pydantic", "numpy", "PIL", "starlette", "uvicorn", "opentelemetry", "tree_sitter")
print(code, *[name for name in extras if name in sys.modules])
"""


async def test_a_run_loads_no_package_that_it_does_not_need(tmp_path: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        words = [sys.executable, "-c", LOADED, *run_with(server, "Hi")]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, cwd=tmp_path)
        out, _ = await process.communicate()
    assert out.decode().splitlines() == ["Hello", "0"]


LOADED_AT_FIRST_REQUEST = """
import os, sys
from heald_cli.main import main

def print_modules(event, _):
    if event == "socket.connect":
        os.write(1, " ".join(sys.modules).encode())
        os._exit(0)

sys.addaudithook(print_modules)
main(sys.argv[1:])
"""
UNUSED = (
    # Each takes milliseconds: dataclasses compile source, shutil loads the compressions, ids need no random.
    *("copy", "dataclasses", "difflib", "email", "encodings.idna", "hashlib", "http.client", "importlib.metadata"),
    *("json", "random", "shutil", "sqlite3", "tempfile", "termios", "tomllib", "urllib.request", "xml", "zlib"),
    *(
        "heald_cli.approval_view",
        "heald_cli.chat",
        "heald_cli.telemetry",
        "heald.config.mcp_servers",
        "heald.http1.socks",
    ),
    *("heald.providers.api_call", "heald.providers.batch_queue", "heald.providers.cloud_auth"),
    *("heald.providers.context_size", "heald.providers.error_advice", "heald.providers.prices.price_list"),
    *("heald.providers.recording", "heald_server", "heald.sessions", "heald_studio", "heald.tools.families"),
    *("heald.tools.files", "heald.tools.hooks", "heald.tools.shell.command_line", "heald.tools.shell.sandbox"),
    *("heald.tools.web", "heald_local", "heald.wires.logprobs", "heald.wires.messages"),
    *("heald.wires.text_call_forms", "heald.wires.text_calls", "heald.wires.text_edits"),
)


async def test_a_run_loads_little_before_its_first_request(tmp_path: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        words = [sys.executable, "-c", LOADED_AT_FIRST_REQUEST, *run_with(server, "Hi")]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, cwd=tmp_path)
        out, _ = await process.communicate()
    loaded = set(out.decode().split())
    assert "heald.providers.session" in loaded
    assert loaded & set(UNUSED) == set()
    assert (
        len([name for name in loaded if name.startswith("heald.")]) < 250
    )  # a module holds one noun; what they cost is measured by benchmarks.startup
