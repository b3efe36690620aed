"""A server with every feature that a client may have, for the tests: over stdio, or over HTTP if a port is given.

`legacy` as an argument answers like a server of 2025, whose requests come in the middle of a call.
"""

import json
import os
import signal
import sys
import threading
from typing import Annotated, Any, Literal

import mcp_types as types
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, ListRoots, MCPServer, Resolve, Sample
from mcp.shared.exceptions import UrlElicitationRequiredError
from pydantic import BaseModel

server = MCPServer("features")


class Booking(BaseModel):
    day: Literal["monday", "friday"]
    people: int = 2
    window: bool = True


def ask_booking() -> Elicit[Booking]:
    return Elicit("Which table?", Booking)


def ask_model(topic: str) -> Sample:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=f"A line about {topic}."))
    return Sample([message], max_tokens=100, system_prompt="You are a poet.")


LOOK_UP = types.Tool(
    name="look_up",
    description="Looks up a word.",
    input_schema={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)


def ask_for_call() -> Sample:
    message = types.SamplingMessage(role="user", content=types.TextContent(text="Look up a word."))
    return Sample([message], max_tokens=100, tools=[LOOK_UP])


def ask_after_call() -> Sample:
    question = types.SamplingMessage(role="user", content=types.TextContent(text="Look up a word."))
    call = types.ToolUseContent(id="one", name="look_up", input={"word": "loom"})
    result = types.ToolResultContent(tool_use_id="one", content=[types.TextContent(text="A frame for weaving.")])
    messages = [
        question,
        types.SamplingMessage(role="assistant", content=[call]),
        types.SamplingMessage(role="user", content=[result]),
    ]
    return Sample(messages, max_tokens=100, tools=[LOOK_UP])


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
def book(booking: Annotated[ElicitationResult[Booking], Resolve(ask_booking)]) -> str:
    """Books a table."""
    return str(booking.data if booking.action == "accept" else booking.action)


@server.tool()
def poem(topic: str, line: Annotated[types.CreateMessageResult, Resolve(ask_model)]) -> str:
    """Writes a line."""
    return f"{line.model}: {line.content}"


@server.tool()
def research(answer: Annotated[types.CreateMessageResultWithTools, Resolve(ask_for_call)]) -> str:
    """Has the model call a tool of this server."""
    return f"{answer.stop_reason}: {answer.content}"


@server.tool()
def conclude(answer: Annotated[types.CreateMessageResultWithTools, Resolve(ask_after_call)]) -> str:
    """Has the model answer after a call of a tool of this server."""
    return f"{answer.stop_reason}: {answer.content}"


signed_in: list[str] = []


@server.tool()
def files_of_user() -> str:
    """Needs a sign-in on a page first."""
    if not signed_in:
        signed_in.append("once")
        page = types.ElicitRequestURLParams(message="Sign in", url="https://example.com/sign-in", elicitation_id="one")
        raise UrlElicitationRequiredError([page])
    return "your files"


@server.tool()
def folders(roots: Annotated[types.ListRootsResult, Resolve(ask_roots)]) -> str:
    """The folders of the client."""
    return " ".join(str(root.uri) for root in roots.roots)


@server.tool()
async def work(ctx: Context[Any, Any]) -> str:
    """Works in steps."""
    for step in range(3):
        await ctx.report_progress(step + 1, 3, f"step {step + 1}")
    await ctx.log("warning", "the disk is nearly full")  # pyright: ignore[reportDeprecated]
    return "worked"


@server.tool()
async def grow(ctx: Context[Any, Any]) -> str:
    """Adds a tool, a prompt and a resource."""

    def grown() -> str:
        """A tool that was not there before."""
        return "grown"

    server.add_tool(grown)
    await ctx.notify_tools_changed()
    return "done"


@server.resource("notes://today", title="Notes of today", mime_type="text/plain")
def notes() -> str:
    return "Buy bread."


@server.resource("notes://{day}/all")
def notes_of(day: str) -> str:
    return f"Nothing on {day}."


@server.prompt()
def review(file: str, tone: str = "kind") -> str:
    """Reviews a file."""
    return f"Review {file} in a {tone} tone."


def run_legacy() -> None:
    """Run the server in a child and answer the discovery of newer clients as an older server does."""
    questions, ask = os.pipe()
    answers, answer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(questions, 0)
        os.dup2(answer, 1)
        for descriptor in (questions, ask, answers, answer):
            os.close(descriptor)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
        server.run()
        return
    os.close(questions)
    os.close(answer)

    def copy() -> None:
        with open(answers, "rb") as lines:
            for line in lines:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()

    threading.Thread(target=copy, daemon=True).start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        else:
            os.write(ask, line)
    os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    if "legacy" in sys.argv:
        run_legacy()
    elif len(sys.argv) > 2:
        server.run(sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]))  # pyright: ignore
    else:
        server.run()
