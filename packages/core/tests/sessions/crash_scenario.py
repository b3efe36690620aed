"""A writer of a session for `crash_host`, `{"folder": …, "what": …}`.

It opens the session in the folder, runs one exchange of ten turns with tools and one that waits meanwhile, and notes
each event that it was shown in a file of its own. With `"what": "fork"` or `"import"` it copies the session instead.
"""

import asyncio
import io
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import heald
from heald.core.envelope import Event
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import NoSuchSession

SESSION = "ses_crash"

call = heald.testing.ScriptedModel.call
think = heald.testing.ScriptedModel.think


def note(path: Path, line: str) -> None:
    """Append a line: in the file for good once this returns, as far as the process goes."""
    handle = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def script(run: int) -> list[Script]:
    turns: list[Script] = [
        [think("Let me see."), f"Step {turn}. ", call("mark", word=f"{run}-{turn}-a"), call("mark", word=f"{turn}-b")]
        for turn in range(1, 9)
    ]
    for turn in range(4, 8):
        turns[turn] = ["So. ", call("mark", word=f"{run}-{turn}-c"), call("stamp", word=f"{run}-{turn}")]
    turns[3] = ["I write. ", call("write_file", path="out.txt", content=f"run {run}\n" * 40), call("mark", word="w")]
    turns[2] = ["Help me. ", call("helper", prompt=f"Help {run}.")]
    return [*turns, [call("nothing_like_it"), call("mark", word="last")], "All of it is done."]


def reply(request: ScriptedRequest) -> Script:
    """What the model says, by the request that it answers and the turns since."""
    asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
    what, _, run = request.messages[asked].text.rstrip(".").partition(" ")
    turn = sum(message.role == "assistant" for message in request.messages[asked:])
    if what == "Help":
        return (
            [call("mark", word=f"{run}-help"), call("write_file", path="help.txt", content=run)] if not turn else "So."
        )
    return script(int(run))[turn] if what == "Run" else f"And {run} as well."


def the_tools(folder: Path) -> list[heald.Tool]:
    @heald.tool(effect="write")
    async def mark(word: str, ctx: heald.ToolContext) -> str:
        """Leave a mark."""
        ctx.output("marking\n")
        await asyncio.sleep(0)
        note(folder / "effects", ctx.call.id)
        return word

    @heald.tool(effect="write", idempotent=True)
    async def stamp(word: str, ctx: heald.ToolContext) -> str:
        """Stamp it, once for each key."""
        note(folder / "stamps", ctx.call.id)
        await asyncio.sleep(0)
        return word

    helps = heald.Agent(heald.testing.ScriptedModel([reply] * 100, piece=6, pause=0.0005), tools=["files", mark])
    return [mark, stamp, helps.as_tool("helper", "Helps.")]


async def opened(folder: Path, run: int) -> tuple[SqliteStore, Session]:
    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION, workspace=str(folder / "work"), tools=["files"])
    model = heald.testing.ScriptedModel([reply] * 100, piece=6, pause=0.0005)
    return store, await Session.open(
        store, SESSION, after_crash="close", model=model, tools=["files", *the_tools(folder)]
    )


async def write(folder: Path, run: int) -> None:
    store, session = await opened(folder, run)

    def show(event: Event) -> None:
        note(folder / f"client-{run}", f"{event.session} {event.seq} {event.id}")

    session.subscribe(show)
    sent = [session.send(f"{what} {run}.", client_request_id=f"{what}-{run}") for what in ("Run", "Also")]
    await session.accepted(sent[-1])
    for exchange in sent:
        note(folder / "accepted", exchange.id)
    for exchange in (*session.resumed, *sent):
        assert (await exchange.result()).completed
    await session.close()
    await store.close()


async def copy(folder: Path, what: str) -> None:
    store = SqliteStore(folder / "sessions.db")
    sessions = Sessions(store)
    if what == "fork":
        await sessions.fork(SESSION)
    else:
        await sessions.import_from(io.BytesIO((folder / "archive").read_bytes()))
    await store.close()


def warm_up() -> None:
    """Run one exchange without a fault: the writers find loaded what it needed."""
    with TemporaryDirectory() as name:
        (Path(name) / "work").mkdir()
        asyncio.run(write(Path(name), 1))


def run(order: dict[str, str]) -> None:
    folder, what = Path(order["folder"]), order["what"]
    if what != "run":
        asyncio.run(copy(folder, what))
        return
    number = len(list(folder.glob("begun-*"))) + 1
    note(folder / f"begun-{number}", "")
    asyncio.run(write(folder, number))
