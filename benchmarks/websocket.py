"""20 tool turns of OpenAI Responses over HTTP and over one WebSocket.

    python -m benchmarks.websocket [--turns N] [--result BYTES] [--rounds N]

A server in the same process answers each request at once with a call, so that what is measured is the transport: the
bytes that a client sends, and the time of all turns. Rounds of both alternate; the figures are medians.
"""

import argparse
import asyncio
import time
from statistics import median
from typing import NamedTuple

from websockets.asyncio.server import ServerConnection, serve

import heald
from heald.core.messages import ToolCall, ToolDefinition, ToolResult, user_message
from heald.core.turn import Settings
from heald.testing import ReceivedRequest, Reply, ScriptedServer, wire_reply, wire_stream

TOOLS = [
    ToolDefinition(
        name=f"tool_{number}",
        description="Reads a file of the project and returns its text.",
        input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )
    for number in range(10)
]


class Figures(NamedTuple):
    sent: int
    """Bytes of request bodies."""
    milliseconds: float


def call(number: int) -> ToolCall:
    return ToolCall(id=f"call_{number}", name="tool_0", input={"path": f"src/module_{number}.py"})


class SocketServer:
    """Answers each request with a call, and counts the bytes of the requests."""

    def __init__(self) -> None:
        self.sent = 0
        self.answered = 0

    async def serve(self, connection: ServerConnection) -> None:
        async for message in connection:
            self.sent += len(message)
            self.answered += 1
            for piece in wire_stream("responses", text="Looking.", calls=[call(self.answered)]):
                await connection.send(piece.partition(b"data: ")[2].strip(), text=True)


class HttpServer:
    """Answers each request with a call, and counts the bytes of the requests."""

    def __init__(self) -> None:
        self.sent = 0
        self.answered = 0

    def answer(self, request: ReceivedRequest) -> Reply:
        self.sent += len(request.content)
        self.answered += 1
        return wire_reply("responses", text="Looking.", calls=[call(self.answered)])


async def run_turns(url: str, turns: int, result: str, *, websocket: bool) -> float:
    """Run the turns of one conversation. Returns their milliseconds."""
    model = heald.Model("gpt-5.5", wire="responses", base_url=f"{url}/v1", api_key="key", provider="bench")
    settings = Settings(system="You are a careful programmer. " * 20, websocket=websocket)
    session = heald.providers.open_provider_session(
        model, messages=[user_message("Read all modules.")], tools=TOOLS, settings=settings
    )
    begin = time.perf_counter()
    for _ in range(turns):
        turn = await session.stream_turn(lambda _: None)
        results = [ToolResult(id=c.id, name=c.name, status="ok", content=result) for c in turn.tool_calls]
        session.append_tool_results(turn, results)
    milliseconds = (time.perf_counter() - begin) * 1000
    await session.close()
    return milliseconds


async def measure(turns: int, result: str, *, websocket: bool) -> Figures:
    if not websocket:
        http = HttpServer()
        async with ScriptedServer(http.answer) as server:
            milliseconds = await run_turns(server.url, turns, result, websocket=False)
        return Figures(http.sent, milliseconds)
    socket = SocketServer()
    async with serve(socket.serve, "127.0.0.1", 0) as listener:
        port = next(iter(listener.sockets)).getsockname()[1]
        milliseconds = await run_turns(f"http://127.0.0.1:{port}", turns, result, websocket=True)
    return Figures(socket.sent, milliseconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--result", type=int, default=4000, help="bytes of each tool result")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    result = "x" * options.result
    rounds: dict[bool, list[Figures]] = {False: [], True: []}
    for _ in range(options.rounds):
        for websocket, figures in rounds.items():
            figures.append(asyncio.run(measure(options.turns, result, websocket=websocket)))
    print(f"{options.turns} tool turns over {'':<11}{'sent':>12}{'time':>12}")
    for websocket, figures in rounds.items():
        name = "one WebSocket" if websocket else "HTTP"
        milliseconds = median(figure.milliseconds for figure in figures)
        print(f"  {name:<26}{figures[0].sent:>10,} B{milliseconds:>9.1f} ms")


if __name__ == "__main__":
    main()
