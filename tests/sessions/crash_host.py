"""A process that forks one writer after the other, each of which may be killed at a fault point.

One JSON line in, `{"folder": …, "fault": …}`; one out, `{"killed": …}`. A writer opens the session in the folder, runs
one exchange of ten turns with tools, and notes each event that it was shown in a file of its own.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import weft
from weft.core.envelope import Event
from weft.providers.scripted import Script
from weft.sessions import faults
from weft.sessions.errors import NoSuchSession
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore

SESSION = "ses_crash"

call = weft.ScriptedModel.call
think = weft.ScriptedModel.think


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
    turns[3] = ["I write. ", call("write_file", path="out.txt", content=f"run {run}\n" * 40), call("mark", word="w")]
    return [*turns, [call("nothing_like_it"), call("mark", word="last")], "All of it is done."]


def the_tool(folder: Path) -> weft.Tool:
    @weft.tool(effect="write")
    async def mark(word: str, ctx: weft.ToolContext) -> str:
        """Leave a mark."""
        ctx.output("marking\n")
        await asyncio.sleep(0)
        note(folder / "effects", ctx.call.id)
        return word

    return mark


async def opened(folder: Path, run: int) -> tuple[SqliteStore, Session]:
    store = SqliteStore(folder / "sessions.db")
    try:
        await store.info(SESSION)
    except NoSuchSession:
        await Sessions(store).create(session=SESSION, workspace=str(folder / "work"), tools=["files"])
    model = weft.ScriptedModel(script(run), piece=6, pause=0.0005)
    return store, await Session.open(store, SESSION, model=model, tools=["files", the_tool(folder)])


async def write(folder: Path, run: int) -> None:
    store, session = await opened(folder, run)

    def show(event: Event) -> None:
        note(folder / f"client-{run}", f"{event.seq} {event.id}")

    session.subscribe(show)
    await session.run(f"Run {run}.")
    await session.close()
    await store.close()


def child(folder: Path, fault: str) -> None:
    run = len(list(folder.glob("begun-*"))) + 1
    note(folder / f"begun-{run}", "")
    faults.arm(fault)
    asyncio.run(write(folder, run))
    (folder / "passages").write_text(json.dumps(faults.passages))


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child(Path(order["folder"]), order["fault"])
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        status = os.waitpid(pid, 0)[1]
        print(json.dumps({"killed": os.WIFSIGNALED(status), "code": status}), flush=True)


if __name__ == "__main__":
    main()
