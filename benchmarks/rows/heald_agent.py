"""Heald: the whole engine, every event of all layers through the bus, over all four wires."""

import heald
from benchmarks.row import Ask, Row, Seen
from benchmarks.rows.heald_history import model_of, remember
from benchmarks.scenarios import PROMPT, WIRES
from benchmarks.tools import add, create_file
from heald.core.events import InputJsonDelta, TextDelta

_TOOLS = [heald.tool(add), heald.tool(create_file)]
_BUDGET = heald.Budget(turns=1000)


def agent(ask: Ask) -> heald.Agent:
    return heald.Agent(model_of(ask), tools=_TOOLS, budget=_BUDGET, history=ask.past)


async def converse(ask: Ask) -> Seen:
    deltas = 0
    text = ask.pieces()
    async for event in agent(ask).stream(PROMPT):
        payload = event.data
        if isinstance(payload, TextDelta):
            deltas += 1
            text.append(payload.text)
        elif isinstance(payload, InputJsonDelta):
            deltas += 1
    return Seen("".join(text), deltas)


ROW = Row("heald", "import heald; heald.Agent", WIRES, converse, remember, joins=True)
