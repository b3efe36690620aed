"""Heald: a provider session with a callback for every event, over all four wires."""

import heald
from benchmarks.row import Ask, Row, Seen
from benchmarks.rows.heald_history import model_of, remember
from benchmarks.scenarios import PROMPT, WIRES
from benchmarks.tools import FUNCTIONS, TOOLS
from heald.core.events import InputJsonDelta, TextDelta
from heald.core.messages import ToolDefinition, ToolResult, user_message
from heald.core.turn import Settings

_TOOLS = [
    ToolDefinition(name=tool.name, description=tool.description, input_schema=dict(tool.schema)) for tool in TOOLS
]


async def converse(ask: Ask) -> Seen:
    deltas = 0
    text = ask.pieces()

    def watch(payload: object) -> None:
        nonlocal deltas
        if isinstance(payload, TextDelta):
            deltas += 1
            text.append(payload.text)
        elif isinstance(payload, InputJsonDelta):
            deltas += 1

    session = heald.providers.open_provider_session(
        model_of(ask), messages=[*ask.past, user_message(PROMPT)], tools=_TOOLS, settings=Settings()
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


ROW = Row("heald", "import heald", WIRES, converse, remember, joins=True)
