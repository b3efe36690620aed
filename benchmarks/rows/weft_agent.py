"""Weft: the whole engine, every event of all layers through the bus, over all four wires."""

import weft
from benchmarks.row import Ask, Row, Seen
from benchmarks.rows.weft_history import model_of, remember
from benchmarks.scenarios import PROMPT, WIRES
from benchmarks.tools import add, create_file
from weft.core.events import InputJsonDelta, TextDelta

_TOOLS = [weft.tool(add), weft.tool(create_file)]
_BUDGET = weft.Budget(turns=1000)


def agent(ask: Ask) -> weft.Agent:
    return weft.Agent(model_of(ask), tools=_TOOLS, budget=_BUDGET, history=ask.past)


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


ROW = Row("weft", "import weft; weft.Agent", WIRES, converse, remember, joins=True)
