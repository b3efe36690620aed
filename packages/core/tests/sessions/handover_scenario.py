"""A process whose session hands its conversation over to another agent.

`python handover_scenario.py FOLDER EVENT NUMBER`: it kills itself, as `kill -9` would, when the log holds the event of
this type for that time. Without an event it runs, or continues, the exchange to its end.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

import heald
from heald.core.envelope import Event
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import ProviderSession
from heald.providers.scripted import Script, ScriptedRequest, ScriptedSession
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import NoSuchSession
from priced_model import PricedModel, S, ScriptFunction, used

SESSION = "ses_handover"
TOKENS = 100
BILLING_FACTOR = 10
"""How much dearer the second agent is."""


class DearSession(ScriptedSession):
    def cost(self, usage: Usage) -> Cost:
        return Cost(usd=(usage.total or 0) * BILLING_FACTOR * 0.001, source="catalogue")


class DearModel(S):
    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return DearSession(self, messages, tools, settings)


@heald.tool(effect="write")
async def refund(order: str) -> str:
    """Refund an order."""
    return f"{order} was refunded"


@heald.tool(effect="read", idempotent=True)
async def look_up(order: str) -> str:
    """Look up an order."""
    return f"{order} was paid"


def route(request: ScriptedRequest) -> Script:
    if any(message.tool_calls for message in request.messages):
        return used(TOKENS, "The first agent speaks again.")
    calls = (S.call("hand_over", agent="billing"), S.call("look_up", order="7"))
    return used(TOKENS, *calls, reason="tool_use")


def bill(request: ScriptedRequest) -> Script:
    if any(call.name == "refund" for message in request.messages for call in message.tool_calls):
        return used(TOKENS, "Refunded.")
    return used(TOKENS, S.call("refund", order="7"), reason="tool_use")


async def run(folder: Path, kind: str, number: int) -> None:
    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION)
    turns: list[ScriptFunction] = [bill] * 10
    billing = heald.Agent(DearModel(turns, name="scripted/billing"), name="billing", tools=[refund])
    routing: list[ScriptFunction] = [route] * 10
    session = await Session.open(
        store,
        SESSION,
        model=PricedModel(routing, name="scripted/triage"),
        name="triage",
        tools=[look_up],
        handoffs=[billing],
        permissions="auto",
        budget=heald.Budget(usd=100.0),
    )
    count = 0

    def on_event(event: Event) -> None:
        nonlocal count
        count += event.type == kind
        if count == number and event.type == kind:
            os.kill(os.getpid(), signal.SIGKILL)

    session.subscribe(on_event)
    exchanges = session.resumed or [session.send("Refund 7.")]
    for exchange in exchanges:
        result = await exchange.result()
        print(msgspec.json.encode([result.text, result.turns, session.speaker, result.cost_usd]).decode())
    await session.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
