"""Document 004's code word for word, on the TypeScript client: handlers in node, the chat component in Chromium."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from agentx_parts import (
    ASKED,
    LISTING,
    PACKAGE,
    QUICK,
    TOKEN,
    S,
    bundle,
    code_block,
    run_node,
    run_tool,
    served,
    workplace,
)
from playwright.async_api import Browser, Page, expect

from heald.core.envelope import PAYLOADS
from heald_server.dialects.registry import open_dialect

LONG = 20_000

CHAT = """
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { connect } from "@heald/agentx";
import type { Agent, ExchangeResponseEvent, Message, ToolResultEvent, ToolUseMessageEvent } from "@heald/agentx";

function Chat({ agent }: { agent: Agent }) {
  const [messages, setMessages] = useState<Message[]>([]);
  const [isLoading, setIsLoading] = useState(false);
  const [streaming, setStreaming] = useState("");

  useEffect(() => {
    %s
    const others = agent.react({
      onUserMessage: (event) => setMessages((prev) => [...prev, event.data]),
      onAssistantMessage: (event) => setMessages((prev) => [...prev, event.data]),
      onTextDelta: (event) => setStreaming((text) => text + event.data.text),
    });
    return () => { unsubscribe(); others(); };
  }, [agent]);

  const handleSend = (text: string) => { setIsLoading(true); void agent.send(text); };
  return (
    <main>
      <button onClick={() => handleSend("Which files are there?")}>Ask</button>
      {messages.map((message) => message.role === "tool-use"
        ? <details key={message.id} open><summary>{message.toolCall.name}</summary>
            <pre data-type={message.toolResult.output.type}>{message.toolResult.output.value}</pre></details>
        : <p key={message.id} className={message.role}>
            {"content" in message ? String(message.content) : message.message}
          </p>)}
      {streaming && <p className="typing">{streaming}</p>}
      {isLoading && <p className="loading">Thinking...</p>}
    </main>
  );
}

const [url, token] = decodeURIComponent(location.hash.slice(1)).split(" ") as [string, string];
const agent = await connect({ url, token });
createRoot(document.getElementById("root")!).render(<Chat agent={agent} />);
"""

HTML = """<!doctype html><div id="root"></div><script>process = { env: {} }</script>
<script type="module" src="/chat.mjs"></script>"""

NODE = """
import { connect, type AgentEvent } from "@heald/agentx";

const [url, token] = process.argv.slice(2) as [string, string];
const print = (value: unknown) => console.log(JSON.stringify(value));
const clientTools = [{ name: "clock", description: "The time.", input_schema: { type: "object" } }];
const agent = await connect({ url, token, clientTools });
const done = new Promise<void>((resolve) => agent.react({ onExchangeResponse: () => resolve() }));
%s
await agent.send("What time is it?");
await done;
agent.close();
"""


LATE_REPLIES = """
import { connect } from "@heald/agentx";

class Late extends WebSocket {
  set onmessage(handler: any) {
    super.onmessage = (message: MessageEvent) => {
      if (JSON.parse(message.data).type === "reply") setTimeout(() => handler(message), 300);
      else handler(message);
    };
  }
}
const [url, token] = process.argv.slice(2) as [string, string];
const agent = await connect({ url, token, WebSocket: Late as any });
const done = new Promise<void>((resolve) => agent.react({ onExchangeResponse: () => resolve() }));
const sent = agent.send("Hello.");
await done;
agent.close();
console.log(JSON.stringify((await sent).startsWith("ex_")));
"""


def _made_async(handlers: str) -> str:
    """Methods of the document as a class. They wait, which only asynchronous methods may."""
    return (
        "class Handlers {"
        + re.sub(r"^(on\w+\()", r"async \1", handlers, flags=re.M)
        + "}\nagent.react(new Handlers());"
    )


async def _play(folder: Path, url: str, script: str) -> list[Any]:
    place = await asyncio.to_thread(workplace, folder / "node")
    (place / "script.ts").write_text(NODE % script)
    return await run_node(await asyncio.to_thread(bundle, place, "script.ts", "node"), url, TOKEN)


async def test_what_was_sent_before_a_client_is_closed_is_answered(tmp_path: Path) -> None:
    """Everything a message leads to may arrive before the reply to it."""
    place = await asyncio.to_thread(workplace, tmp_path / "node")
    (place / "script.ts").write_text(LATE_REPLIES)
    script = await asyncio.to_thread(bundle, place, "script.ts", "node")
    async with served(tmp_path, "Hello.") as server:
        assert await run_node(script, server.url, TOKEN) == [True]


def test_every_event_has_a_type() -> None:
    named = set(
        re.findall(r'"([a-z]+_[a-z_]+)"', (PACKAGE / "src" / "events.ts").read_text().split("EVENT_TYPES", 1)[1])
    )
    outside = {"conversation_queued", "conversation_dequeued", "file_accepted", "session_forked", "session_rewound"}
    assert named == PAYLOADS.keys() - outside | {"tool_use_message_update"}


def test_stop_reason_is_a_type(tmp_path: Path) -> None:
    """The compiler accepts the document's values and refuses a misspelled one."""
    place = workplace(tmp_path / "types")
    values = re.findall(r'\| ("\w+")', code_block("### 3. Why Type-Define `StopReason`?"))
    assert len(values) == 4
    source = 'import type { StopReason } from "@heald/agentx";\nexport const all: StopReason[] = [%s];\n'
    options = (
        *QUICK,
        "--noEmit",
        "--strict",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
        "--target",
        "es2022",
    )
    (place / "right.ts").write_text(source % ", ".join(values))
    (place / "wrong.ts").write_text(source % '"end_trun"')
    with pytest.raises(AssertionError, match=r"^wrong\.ts\(.*end_trun") as refused:
        run_tool("tsc", *options, "--pretty", "false", "right.ts", "wrong.ts", cwd=place)
    assert str(refused.value).count("error TS") == 1


async def test_event_sequence_verification(tmp_path: Path) -> None:
    """The document's debug handlers print what it expects."""
    handlers = code_block("### Event Sequence Verification").split("\n", 1)[1]
    expected = code_block("**Expected order**:").strip().splitlines()
    script = "const lines: string[] = []; console.log = (...words) => { lines.push(words.join(' ')); };\n"
    script += _made_async(re.sub(r"\(event\)", "(event: any)", handlers))
    script += "\nvoid done.then(() => setTimeout(() => process.stdout.write(JSON.stringify(lines) + '\\n'), 50));\n"
    async with served(tmp_path, *ASKED) as server:
        (lines,) = await _play(tmp_path, server.url, script)
    assert [str(line)[:12] for line in lines] == [line[:12] for line in expected]
    assert "list_folder" in str(lines[0])
    assert LISTING in str(lines[2])


async def test_tool_execution_middleware(tmp_path: Path) -> None:
    handler = code_block("### 1. Tool Execution Middleware").replace("(event)", "(event: any)")
    script = "const executeToolLocally = async (name: string, _input: unknown) => `${name} says 12:00`;\n"
    script += _made_async(handler) + "\nagent.react({ onToolResult: (event) => print(event.data.content) });"
    async with served(tmp_path, [S.call("clock")], "Noon.") as server:
        assert await _play(tmp_path, server.url, script) == ["clock says 12:00"]


async def test_tool_permission_system(tmp_path: Path) -> None:
    handler = code_block("### 2. Tool Permission System").replace("(event)", "(event: any)")
    script = "const needsUserPermission = (_: string) => true; const askUserPermission = async (_: unknown) => false;\n"
    script += _made_async(handler) + "\nagent.react({ onToolResult: (event) => print(event.data) });"
    async with served(tmp_path, [S.call("clock")], "Then not.") as server:
        (result,) = await _play(tmp_path, server.url, script)
    assert (result["status"], result["isError"]) == ("denied", True)
    assert "User denied permission" in result["content"]


async def test_tool_result_caching(tmp_path: Path) -> None:
    cache, handler = code_block("### 3. Tool Result Caching").split("\n", 1)
    script = "import type { ToolResultOutput } from '@heald/agentx';\n" + cache + "\nlet runs = 0;\n"
    script += _made_async(handler.replace("(event)", "(event: any)"))
    script += """
agent.react({ onToolCall(event) {
  const key = `${event.data.name}:${JSON.stringify(event.data.input)}`;
  if (toolResultCache.has(key)) return;
  runs += 1;
  toolResultCache.set(key, { type: "text", value: "12:00" });
  void agent.sendToolResult(event.data.id, { type: "text", value: "12:00" });
} });
agent.react({ onToolResult: (event) => print(event.data.isError) });
void done.then(() => print(runs));
"""
    async with served(tmp_path, [S.call("clock")], [S.call("clock")], "Noon.") as server:
        assert await _play(tmp_path, server.url, script) == [False, False, 1]


async def test_websocket_driver_reconnects_and_resumes(tmp_path: Path) -> None:
    """The socket is closed under the driver many times; no event is lost or doubled."""
    script = """
const seen: string[] = [];
agent.react({ onEvent: (event: AgentEvent) => {
  seen.push(event.uuid);
  if (seen.length % 7 === 0) (agent as any).driver.socket?.close();
} });
void done.then(() => print(seen));
"""
    turns = [[f"Step {turn}. ", S.call("list_folder", path=str(turn))] for turn in range(5)]
    async with served(tmp_path, *turns, "Done.", piece=3, pause=0.002) as server:
        (seen,) = await _play(tmp_path, server.url, script)
        page = await server.context.sessions.list()
        log = await server.log(page.sessions[0].id)
    dialect = open_dialect("agentx")
    frames = [frame.data for event in log for frame in dialect.feed(event)]
    assert seen == [frame["uuid"] for frame in frames if isinstance(frame, dict)]


async def test_handlers_and_sessions_that_do_not_exist(tmp_path: Path) -> None:
    script = """
try { agent.react({ onToolReslut: print } as any); } catch (error) { print(String(error)); }
await new Promise<void>((resolve) => {
  void connect({ url, token, session: "ses_unknown", onEnd: (error) => { print(error.code); resolve(); } });
});
await agent.sendToolResult("call_unknown", "x").catch((error) => print(error.name));
"""
    async with served(tmp_path, "Hello.") as server:
        told = await _play(tmp_path, server.url, script)
    assert told[0] == 'TypeError: There is no handler "onToolReslut"; the nearest name is "onToolResult".'
    assert told[1:] == ["not_found", "AgentXError"]


async def test_chat_component(tmp_path: Path, chrome: Browser) -> None:
    """The document's component shows tool output, and "Thinking..." stays until the exchange is over."""
    place = await asyncio.to_thread(workplace, tmp_path / "page")
    (place / "chat.tsx").write_text(CHAT % code_block("### 4. Chat Component"))
    options = (
        *QUICK,
        "--noEmit",
        "--strict",
        "--jsx",
        "react-jsx",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
    )
    await asyncio.to_thread(
        run_tool, "tsc", *options, "--target", "es2022", "--lib", "es2022,dom", "chat.tsx", cwd=place
    )
    script = await asyncio.to_thread(bundle, place, "chat.tsx", "browser")
    (script.parent / "index.html").write_text(HTML)
    async with (
        _files(script.parent) as origin,
        served(tmp_path, *ASKED, held=True, origins=(origin,)) as server,
        await chrome.new_page() as page,
    ):
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        await page.goto(f"{origin}/#{server.url} {TOKEN}")
        await _converse(page, server.gate.started, server.gate.opened)
    assert problems == []


@asynccontextmanager
async def _files(folder: Path) -> AsyncGenerator[str]:
    """Serve a folder, as another server than Heald."""
    handler = partial(_QuietFiles, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = asyncio.create_task(asyncio.to_thread(server.serve_forever, 0.05))
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        await serving


class _QuietFiles(SimpleHTTPRequestHandler):
    extensions_map = {".mjs": "text/javascript", ".html": "text/html"}

    def log_message(self, *_: object, **__: object) -> None: ...


async def _converse(page: Page, started: asyncio.Event, opened: asyncio.Event) -> None:
    await page.get_by_role("button", name="Ask").click(timeout=LONG)
    loading = page.locator(".loading")
    await expect(loading).to_have_text("Thinking...", timeout=LONG)
    await asyncio.wait_for(started.wait(), 60)
    await expect(page.locator("summary")).to_have_text("list_folder", timeout=LONG)
    await expect(page.locator("pre")).to_have_text("")
    await expect(page.locator("p.assistant")).to_have_count(1)  # the first message_stop has passed
    await expect(loading).to_be_visible()
    opened.set()
    await expect(page.locator("pre")).to_have_text(LISTING, timeout=LONG)
    await expect(page.locator("p.assistant").last).to_have_text("There are two files.", timeout=LONG)
    await expect(loading).to_have_count(0, timeout=LONG)
    await expect(page.locator("details")).to_have_count(1)
    await expect(page.locator(".typing")).to_have_count(0)
