"""A writer of a session for `crash_host`, `{"folder": …, "scenario": …}`, which continues what the last one left.

Every writer sends the same requests with the same ids, as a client does that got no answer, and decides on what waits.
"""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import heald
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import NoSuchSession

SESSION = "ses_continued"
SCENARIOS = ("text", "read", "command", "approval", "queue")
LONG = "A sentence of a long answer. " * 12

call = heald.testing.ScriptedModel.call


def note(path: Path, line: str) -> None:
    """Append a line: in the file for good once this returns, as far as the process goes."""
    handle = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def script(scenario: str, turn: int) -> Script:
    match scenario, turn:
        case "read", 0:
            return ["I look. ", call("read_file", path="here.txt"), call("list_files")]
        case "command" | "approval", 0:
            return ["I do it. ", call("mark", word="a"), call("mark", word="b")]
        case "command", 1:
            return ["I write. ", call("write_file", path="out.txt", content="written\n" * 20)]
        case _:
            return LONG


def the_model(folder: Path, scenario: str) -> heald.testing.ScriptedModel:
    def reply(request: ScriptedRequest) -> Script:
        note(folder / "requests", str(len(request.messages)))
        asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
        return script(scenario, sum(message.role == "assistant" for message in request.messages[asked:]))

    return heald.testing.ScriptedModel([reply] * 50, piece=12, pause=0.001)


async def write(folder: Path, scenario: str) -> None:
    @heald.tool(effect="run")
    async def mark(word: str, ctx: heald.ToolContext) -> str:
        """Leave a mark."""
        ctx.output("marking\n")
        await asyncio.sleep(0)
        note(folder / "effects", ctx.call.id)
        return word

    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION, workspace=str(folder / "work"))
    session = await Session.open(
        store,
        SESSION,
        model=the_model(folder, scenario),
        tools=["files", mark],
        permissions="ask" if scenario == "approval" else "auto",
        after_crash="continue",
    )

    def on_event(event: Event) -> None:
        if isinstance(event.data, ApprovalRequested):
            session.approve(event.data.approval)

    session.subscribe(on_event)
    for event in session.waiting_events:
        on_event(event)
    exchanges = [session.send("Go.", client_request_id="one")]
    if scenario == "queue":
        exchanges.append(session.send("And this.", client_request_id="two"))
    await session.accepted(exchanges[-1])
    if scenario == "queue" and not (folder / "steered").exists() and not exchanges[0].is_over:
        steered = session.send("In short.", when_busy="steer", client_request_id="steer")
        await session.accepted(steered)
        note(folder / "steered", steered.id)
    for exchange in exchanges:
        await exchange.result()
    await session.close()
    await store.close()


def warm_up() -> None:
    """Run one exchange without a fault: the writers find loaded what it needed."""
    with TemporaryDirectory() as name:
        (Path(name) / "work").mkdir()
        asyncio.run(write(Path(name), "command"))


def run(order: dict[str, str]) -> None:
    asyncio.run(write(Path(order["folder"]), order["scenario"]))
