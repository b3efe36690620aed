"""Weft: a provider session with a callback for every event, over all four wires."""

import weft
from benchmarks.row import API_KEY, Row, Seen
from benchmarks.scenarios import PROMPT, WIRES, Wire
from benchmarks.tools import FUNCTIONS, TOOLS
from weft.core.events import InputJsonDelta, TextDelta
from weft.core.messages import user
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition, ToolResult

_TOOLS = [
    ToolDefinition(name=tool.name, description=tool.description, input_schema=dict(tool.schema)) for tool in TOOLS
]


def _model(base_url: str, wire: Wire, model: str) -> weft.Model:
    version = "v1beta" if wire == "gemini" else "v1"
    return weft.Model(model, wire=wire, base_url=f"{base_url}/{version}", api_key=API_KEY)


async def converse(base_url: str, wire: Wire, model: str) -> Seen:
    deltas = 0
    text: list[str] = []

    def watch(payload: object) -> None:
        nonlocal deltas
        if isinstance(payload, TextDelta):
            deltas += 1
            text.append(payload.text)
        elif isinstance(payload, InputJsonDelta):
            deltas += 1

    session = weft.open_session(
        _model(base_url, wire, model), messages=[user(PROMPT)], tools=_TOOLS, settings=Settings()
    )
    try:
        while True:
            turn = await session.stream_turn(watch)
            if not turn.tool_calls:
                return Seen("".join(text), deltas)
            results = [
                ToolResult(id=call.id, name=call.name, status="ok", content=await FUNCTIONS[call.name](**call.input))
                for call in turn.tool_calls
            ]
            session.append_tool_results(turn, results)
    finally:
        await session.close()


ROW = Row("weft", "import weft", WIRES, converse)
