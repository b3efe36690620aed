"""A process that writes a session until its disk gives in, and says what it was told.

Arguments: the database, the folder to note in, and a limit for the size of files (0: none). One JSON line on standard
output: the error, whether a traceback would be seen, the longest time that the event loop stood still.
"""

import asyncio
import json
import resource
import signal
import sys
from pathlib import Path
from time import perf_counter

import heald
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore

SESSION = "ses_disk"


async def main(database: str, folder: str) -> dict[str, object]:
    store = SqliteStore(database)
    await Sessions(store).create(session=SESSION)
    model = heald.testing.ScriptedModel(["word " * 4000, *["more " * 4000] * 400], piece=40)
    session = await Session.open(store, SESSION, model=model)
    shown_seqs: list[int] = []

    def show(event: Event) -> None:
        shown_seqs.append(event.seq)

    session.subscribe(show)
    watching = asyncio.ensure_future(longest_wait())
    said, done = "", 0
    try:
        for _ in range(400):
            await session.run("Go on.")
            done += 1
    except HealdError as error:
        said = str(error)
    later = ""
    try:
        session.send("Once more.")
    except HealdError as error:
        later = str(error)
    await session.close()
    await store.close()
    watching.cancel()
    (Path(folder) / "shown").write_text(json.dumps(shown_seqs))
    return {"said": said, "later": later, "done": done, "longest": LONGEST[0]}


LONGEST = [0.0]


async def longest_wait() -> None:
    last = perf_counter()
    while True:
        await asyncio.sleep(0.005)
        now = perf_counter()
        LONGEST[0] = max(LONGEST[0], now - last - 0.005)
        last = now


if __name__ == "__main__":
    limit = int(sys.argv[3])
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2]))))
