"""A process that runs a session whose agent has eight helpers at once and a budget.

`python account_scenario.py FOLDER usd|tokens|turns KILL`: with KILL it kills itself, as `kill -9` would, once the log
holds the ends of two helpers; the requests of the others hang. The next process continues the exchange to its end.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.providers.base import OnEvent
from heald.providers.scripted import Script, ScriptDecoder, ScriptedRequest
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import NoSuchSession
from priced_model import PricedModel, S, ScriptFunction, used

SESSION = "ses_account"
REQUEST = 515
TURNS, TOKENS, USD = 8, 3_000, 3.0
BUDGETS = {"usd": heald.Budget(usd=USD), "tokens": heald.Budget(tokens=TOKENS), "turns": heald.Budget(turns=TURNS)}


def call_helpers(_: ScriptedRequest) -> Script:
    return used(20, *(S.call("help", prompt=f"Part {number}.") for number in range(8)), reason="tool_use")


class TwoAnswers(PricedModel):
    """Answers two requests; the others hang."""

    async def play(self, decoder: ScriptDecoder, script: Script, on_event: OnEvent) -> None:
        if len(self.requests) > 2:
            await asyncio.Event().wait()
        await super().play(decoder, script, on_event)


async def run(folder: Path, limit: str, *, kill: bool) -> None:
    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION)
    kind = TwoAnswers if kill else PricedModel
    helper = heald.Agent(kind([used(REQUEST, "A report.")] * 100, pause=0.005), max_output_tokens=600)
    turns: list[ScriptFunction] = [call_helpers] * 40
    session = await Session.open(
        store,
        SESSION,
        model=PricedModel(turns),
        tools=[helper.as_tool("help", "Helps.")],
        permissions="auto",
        budget=BUDGETS[limit],
    )
    ends = 0

    def on_event(event: Event) -> None:
        nonlocal ends
        ends += event.session != SESSION and isinstance(event.data, ExchangeResponse)
        if kill and ends == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    session.subscribe(on_event)
    exchanges = session.resumed or [session.send("Go.")]
    for exchange in exchanges:
        await exchange.result()
    await session.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2], kill=sys.argv[3] == "kill"))
