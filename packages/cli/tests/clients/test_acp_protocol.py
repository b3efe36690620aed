"""What is not a proper message of ACP is answered with an error; the connection and its sessions are unharmed."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

SECONDS = 60


class RawEditor:
    """Writes lines and reads messages, without a library."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._id = 0

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    async def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            return json.loads(await self.process.stdout.readline())

    async def read_response(self, key: Any) -> dict[str, Any]:
        while True:
            message = await self.read()
            if "method" not in message and message.get("id") == key:
                return message

    async def request(self, method: str, params: Any = None) -> dict[str, Any]:
        self._id += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode())
        return await self.read_response(self._id)


@asynccontextmanager
async def connected(model: ScriptedServer, folder: Path) -> AsyncGenerator[tuple[RawEditor, str]]:
    pipe = asyncio.subprocess.PIPE
    words = ["acp", "--model", "m", "--wire", "chat", "--base-url", f"{model.url}/v1"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "heald_cli.main", *words, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 24
    )
    try:
        editor = RawEditor(process)
        await editor.request("initialize", {"protocolVersion": 1})
        opened = await editor.request("session/new", {"cwd": str(folder), "mcpServers": []})
        yield editor, opened["result"]["sessionId"]
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(SECONDS):
            await process.wait()
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


BAD_LINES = [
    (b"{not json", -32700),
    (b"\xff\xfe", -32700),
    (b"[" * 100_000, -32700),
    (b"[1, 2]", -32600),
    (b"5", -32600),
    (b"null", -32600),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "initialize"}', -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "initialize"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 77, "method": 5}', -32600),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "initialize", "params": [1]}', -32600),
    (b'{"jsonrpc": "2.0", "id": 77}', -32600),
    (b'{"jsonrpc": "2.0"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "session/nothing", "params": {}}', -32601),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "_own/thing", "params": {}}', -32601),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "session/prompt", "params": {"sessionId": 5}}', -32602),
    (b'{"jsonrpc": "2.0", "id": 77, "method": "session/new", "params": {"cwd": 7, "mcpServers": 1}}', -32602),
]


async def test_malformed_messages_are_answered_while_an_exchange_runs(tmp_path: Path) -> None:
    begun = Reply([*wire_stream("chat", text=["Hel", "lo."])[:2], Hang()], content_type="text/event-stream")
    script = [begun, wire_reply("chat", text="Hello.")]
    async with ScriptedServer(script) as model, connected(model, tmp_path) as (editor, session):
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Hi"}]}
        editor.write(json.dumps({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": prompt}).encode())
        while (await editor.read()).get("method") != "session/update":
            pass
        for line, code in BAD_LINES:
            editor.write(line)
            answer = await editor.read_response(77 if b"77" in line else None)
            assert (line[:80], answer["error"]["code"]) == (line[:80], code)
        editor.write(b'{"jsonrpc": "2.0", "id": 99, "result": "for no request"}')
        editor.write(b'{"jsonrpc": "2.0", "id": "x", "error": "no object"}')
        editor.write(b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "ses_none"}}')
        editor.write(b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": 5}}')
        cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
        editor.write(json.dumps(cancel).encode())
        assert (await editor.read_response("p"))["result"]["stopReason"] == "cancelled"
        assert (await editor.request("session/prompt", prompt))["result"]["stopReason"] == "end_turn"


async def test_message_above_the_limit_is_skipped(tmp_path: Path) -> None:
    script = [wire_reply("chat", text="Hello.")]
    async with ScriptedServer(script) as model, connected(model, tmp_path) as (editor, session):
        assert editor.process.stdin is not None
        for _ in range(66):
            editor.process.stdin.write(b"x" * (1 << 20))
            await editor.process.stdin.drain()
        editor.write(b"")
        refused = await editor.read_response(None)
        assert (refused["error"]["code"], "longer than" in refused["error"]["message"]) == (-32600, True)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Hi"}]}
        assert (await editor.request("session/prompt", prompt))["result"]["stopReason"] == "end_turn"


async def test_print_of_a_tool_does_not_reach_the_protocol(tmp_path: Path) -> None:
    code = (
        "import asyncio, os, sys\n"
        "from heald_cli.editors.stdio_transport import StdioTransport\n"
        "async def main():\n"
        "    transport = await StdioTransport.open()\n"
        "    print('stray', flush=True)\n"
        "    os.write(1, b'bytes\\n')\n"
        "    await transport.send({'ok': True})\n"
        "    await transport.close()\n"
        "asyncio.run(main())\n"
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(os.environ)
    )
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b'{"ok":true}\n')
    assert b"stray" in err
    assert b"bytes" in err


async def test_input_and_output_may_be_files(tmp_path: Path) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    (tmp_path / "in").write_text(json.dumps(hello) + "\n")
    with open(tmp_path / "in") as source, open(tmp_path / "out", "w") as out:  # noqa: ASYNC230
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "heald_cli.main", "acp", "--model", "openai/gpt-5", stdin=source, stdout=out
        )
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
    assert json.loads((tmp_path / "out").read_text())["result"]["agentInfo"]["name"] == "heald"
