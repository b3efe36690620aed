"""A node of a PostgreSQL for `crash_host`, `{"url": …, "folder": …, "role": …, "case": …}`.

It is a whole server without sockets. The `first` one sends the requests of its case and claims no work of others, the
`second` opens the session of a dead first one, and the `last` claims and finishes the work of all `cases`. Every
request to a model and every effect of a tool is a line in a file of its case.
"""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import heald
from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.shared_store import SharedStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald.tools.registry import ToolLike
from heald_nodes.postgres.store import PostgresStore
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import ModelView, ProviderView
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from heald_studio.request import BuildRequest
from heald_studio.server.host import open_studio
from heald_studio.studio import Studio

USES_POSTGRES = True
LONG = "A sentence of a long answer. " * 12
LARGE = "A sentence that fills a large answer. " * 8000
"""So large that the message is stored as a blob, in a transaction."""
PAGE = "<!doctype html>\n<html><head><title>Harbour</title></head><body><h1>Harbour</h1></body></html>\n"

call = heald.testing.ScriptedModel.call


def note(path: Path, line: str) -> None:
    """Append a line: in the file for good once this returns, as far as the process goes."""
    handle = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def session_of(case: str) -> str:
    return f"ses_{case}"


def is_large(case: str) -> bool:
    return case.endswith(("append.between", "append.commit"))


def script(case: str, turn: int) -> Script:
    match case.split("_")[0], turn:
        case "read", 0:
            return ["I look. ", call("read_file", path="here.txt"), call("list_files")]
        case "command" | "approval", 0:
            return ["I do it. ", call("mark", word="a"), call("mark", word="b")]
        case "command", 1:
            return ["I write. ", call("write_file", path="out.txt", content="written\n" * 20)]
        case _:
            return LARGE if is_large(case) else LONG


def has_page(request: ScriptedRequest) -> bool:
    """Whether a call has succeeded. One whose outcome is not known is repeated."""
    blocks = [block for message in request.messages for block in message.content]
    return any(isinstance(block, ToolResult) and block.status == "ok" for block in blocks)


class CaseModels:
    """A model for each case, of its name."""

    default = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, name: str) -> ModelLike:
        def reply(request: ScriptedRequest) -> Script:
            note(self._folder / name / "requests", str(len(request.messages)))
            asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
            if name.startswith("studio") and not has_page(request):
                return ["I see. ", call("create_file", path="index.html", content=PAGE)]
            return script(name, sum(message.role == "assistant" for message in request.messages[asked:]))

        return heald.testing.ScriptedModel([reply] * 50, piece=16_000 if is_large(name) else 12, pause=0.02)

    def list_models(self) -> Sequence[ModelView]:
        return [ModelView(case.name, "scripted") for case in self._folder.iterdir()]

    def list_providers(self) -> Sequence[ProviderView]:
        return []


def mark_tool(folder: Path) -> heald.Tool:
    @heald.tool(effect="run")
    async def mark(word: str, ctx: heald.ToolContext) -> str:
        """Leave a mark."""
        ctx.output("marking\n")
        await asyncio.sleep(0)
        note(folder / "effects", ctx.call.id)
        return word

    return mark


def approve_all(_: SessionInfo, session: Session) -> None:
    """Allow every call, also one that waits since an earlier process, as a person at a client does."""

    def on_event(event: Event) -> None:
        if isinstance(event.data, ApprovalRequested):
            session.approve(event.data.approval)

    session.subscribe(on_event)
    for event in session.waiting_events:
        asyncio.get_running_loop().call_soon(on_event, event)


class CrashNode:
    """A server without sockets: sessions, studio, heartbeats and claims."""

    def __init__(self, store: Store, folder: Path, *, room: int) -> None:
        def session_tools(info: SessionInfo) -> Mapping[str, ToolLike]:
            return {"mark": mark_tool(folder / info.id.removeprefix("ses_"))}

        self.folder = folder
        self.context = ServerContext(
            Sessions(store),
            CaseModels(folder),
            settings=ServerSettings(port=0, room=room, limits=ServerLimits(exchanges=1000)),
            tokens=AccessTokens({"a-token-of-the-nodes": "ann"}),
            session_tools=session_tools,
        )
        self.context.open_sessions.on_open(approve_all)
        self.studio: Studio = open_studio(self.context, scores=False)

    async def ask(self, case: str) -> None:
        """Send the requests of a case and wait for their ends."""
        if case.startswith("studio"):
            project = await self.studio.create(case, BuildRequest(text="A page", variants=1, models=(case,)))
            await self.studio.wait_version(case, project.id, project.versions[0].id)
            return
        store = self.context.sessions.store
        info = await self.context.sessions.create(
            session=session_of(case),
            model=case,
            tools=["files", "mark"],
            permissions="ask" if case.startswith("approval") else "auto",
        )
        files = {"here.txt": await store.put_blob(info.id, b"It is here.\n")}
        await store.configure(info.id, {**info.settings, "files": files})
        async with self.context.open_sessions.use(info) as session:
            exchanges = [session.send("Go.", client_request_id="one")]
            if case.startswith("queue"):
                exchanges.append(session.send("And this.", client_request_id="two"))
            for exchange in exchanges:
                await exchange.result()

    async def open_lost(self, case: str) -> None:
        """Open the session of a node that has died."""
        store = self.context.sessions.store
        name = await self._variant(case) if case.startswith("studio") else session_of(case)
        assert isinstance(store, SharedStore)
        while await store.find_holder(name):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        async with self.context.open_sessions.use(await store.info(name)) as session:
            await asyncio.gather(*(exchange.result() for exchange in session.resumed))

    async def _variant(self, case: str) -> str:
        (project,) = (await self.studio.list(case)).projects
        return project.versions[0].variants[0].session

    async def finish(self, cases: Sequence[str]) -> None:
        """Wait until the work of the cases is done, which this node claims like any other."""
        store = self.context.sessions.store
        for case in cases:
            if not case.startswith("studio"):
                while (await store.info(session_of(case))).work != "idle":  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                continue
            (project,) = (await self.studio.list(case)).projects
            while True:
                (variant,) = (await self.studio.get(case, project.id)).versions[0].variants
                if variant.is_done:
                    break
                await asyncio.sleep(0.1)
            error = variant.error.message if variant.error is not None else ""
            (self.folder / case / "outcome").write_text(json.dumps([variant.session, variant.status, error]))


async def run_node(order: dict[str, Any]) -> None:
    store = PostgresStore(order["url"])
    node = CrashNode(store, Path(order["folder"]), room=200 if order["role"] == "last" else 0)
    async with asyncio.timeout(90):
        await node.context.start()
        match order["role"]:
            case "first":
                await node.ask(order["case"])
            case "second":
                await node.open_lost(order["case"])
            case _:
                await node.finish(order["cases"])
        await node.context.stop()


async def run_two_cases() -> None:
    """Do the work of two cases: the nodes find loaded and compiled what it needed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        node = CrashNode(SqliteStore(folder / "sessions.db"), folder, room=0)
        await node.context.start()
        for case in ("command_warm", "studio_warm"):
            (folder / case).mkdir()
            await node.ask(case)
        await node.context.stop()


def warm_up() -> None:
    asyncio.run(run_two_cases())


def run(order: dict[str, Any]) -> None:
    asyncio.run(run_node(order))
