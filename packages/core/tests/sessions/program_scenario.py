"""A writer of a session for `crash_host` whose model runs a program, `{"folder": …, "scenario": …}`."""

import asyncio
import os
import signal
from pathlib import Path
from tempfile import TemporaryDirectory

from continue_scenario import note

import heald
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, QuestionAsked
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import NoSuchSession

SESSION = "ses_program"
PROGRAM = "print(look('first'))\nfor word in 'ab':\n    print(mark(word))\nprint(inquire())"

call = heald.testing.ScriptedModel.call


def the_model(folder: Path) -> heald.testing.ScriptedModel:
    def reply(request: ScriptedRequest) -> Script:
        answers = sum(message.role == "assistant" for message in request.messages)
        note(folder / "requests", str(answers))
        return [call("run_program", program=PROGRAM)] if not answers else "Done."

    return heald.testing.ScriptedModel([reply] * 20)


async def write(folder: Path, scenario: str) -> None:
    @heald.tool(effect="run")
    async def mark(word: str, ctx: heald.ToolContext) -> str:
        """Leave a mark."""
        await asyncio.sleep(0)
        note(folder / "effects", word)
        return word

    @heald.tool(effect="read", idempotent=True)
    async def look(word: str) -> str:
        """Look."""
        note(folder / "looks", word)
        return word

    @heald.tool(effect="none", idempotent=True)
    async def inquire(ctx: heald.ToolContext) -> str:
        """Ask the user."""
        return await ctx.ask("Well?")

    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION, workspace=str(folder / "work"))
    session = await Session.open(
        store,
        SESSION,
        model=the_model(folder),
        tools=["code", mark, look, inquire],
        permissions="ask",
        after_crash="close" if scenario == "closed" else "continue",
    )

    def on_event(event: Event) -> None:
        kind = type(event.data).__name__
        if scenario == kind and not (folder / "killed").exists():
            note(folder / "killed", kind)
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(event.data, ApprovalRequested):
            session.approve(event.data.approval)
        elif isinstance(event.data, QuestionAsked):
            session.answer(event.data.question, "Yes.")

    session.subscribe(on_event)
    for event in session.waiting_events:
        on_event(event)
    exchange = session.send("Go.", client_request_id="one")
    await session.accepted(exchange)
    await exchange.result()
    await session.close()
    await store.close()


def warm_up() -> None:
    """Run one exchange without a fault: the writers find loaded what it needed."""
    with TemporaryDirectory() as name:
        (Path(name) / "work").mkdir()
        asyncio.run(write(Path(name), "plain"))


def run(order: dict[str, str]) -> None:
    asyncio.run(write(Path(order["folder"]), order["scenario"]))
