"""The client of ACP: an editor on the official package, and `heald acp --server` as the process that it starts."""

import asyncio
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import RequestError, connect_to_agent, schema
from acp.client.connection import ClientSideConnection
from crash_parts import TOKEN
from exchange_view import CallView, ExchangeView
from hop_client import HopClient

from warm_process import WarmProcess, start_warm, warm_host

_LOADED = ("heald_cli.commands.acp", "heald_cli.editors.serve", "heald_server.client.agent")
_BREAK = "\n\n*This answer broke off and begins anew:*\n\n"


class HopEditor:
    """What an editor shows of a session: messages, calls, and the permission that it asks for."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.users: list[str] = []
        self.calls: dict[str, dict[str, Any]] = {}
        self.updates = 0
        self.asked: asyncio.Future[bool] | None = None

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates += 1
        match update.session_update:
            case "agent_message_chunk":
                self._add_text(update.message_id or "", update.content.text)
            case "user_message_chunk":
                self.users.append(update.content.text)
            case "tool_call" | "tool_call_update":
                fields = update.model_dump(exclude_none=True, exclude={"session_update"})
                self.calls.setdefault(update.tool_call_id, {}).update(fields)
            case _:
                pass

    def _add_text(self, message: str, text: str) -> None:
        if text == _BREAK:  # the message before it was discarded
            del self.texts[list(self.texts)[-1]]
            return
        self.texts[message] = self.texts.get(message, "") + text

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        self.asked = asyncio.get_running_loop().create_future()
        await self.asked
        chosen = schema.AllowedOutcome(outcome="selected", option_id="allow")
        return schema.RequestPermissionResponse(outcome=chosen)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        pass


class AcpHopClient(HopClient):
    """An editor whose agent process is killed now and then, and loads the session anew."""

    name = "ACP"
    steers = True

    def __init__(self, url: str, folder: Path, chance: random.Random) -> None:
        super().__init__(url)
        self._folder = folder
        self._chance = chance
        self._process: WarmProcess | None = None
        self._opening: asyncio.Task[ClientSideConnection] | None = None
        self._editor = HopEditor()
        self._prompts: set[asyncio.Task[Any]] = set()

    async def _opened(self) -> ClientSideConnection:
        """Start the process and load the session. A hop that is over sooner does not end that."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> ClientSideConnection:
        self._editor = HopEditor()
        environment = os.environ | {"HEALD_TOKEN": TOKEN}
        self._process = await start_warm(
            warm_host(*_LOADED), "acp", "--server", self.url, folder=self._folder, environment=environment
        )
        client: Any = self._editor
        connection = connect_to_agent(client, self._process.stdin, self._process.stdout, use_unstable_protocol=True)
        await connection.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities())
        folder = str(self._folder)
        if self.session:
            await connection.load_session(cwd=folder, session_id=self.session, mcp_servers=[])
        else:
            self.session = (await connection.new_session(cwd=folder, mcp_servers=[])).session_id
        return connection

    async def begin(self, text: str, request: str) -> None:
        await self._prompt(text)

    async def steer(self, text: str, request: str) -> None:
        await self._prompt(text)

    async def _prompt(self, text: str) -> None:
        """Send a prompt. Its answer comes when the exchange ends; the server has it when its event is in the log."""
        connection = await self._opened()
        blocks: list[Any] = [schema.TextContentBlock(type="text", text=text)]
        task = asyncio.create_task(connection.prompt(session_id=self.session, prompt=blocks))
        self._prompts.add(task)
        task.add_done_callback(self._prompted)

    def _prompted(self, task: "asyncio.Task[Any]") -> None:
        self._prompts.discard(task)
        if not task.cancelled():
            task.exception()  # a killed process answers no prompt

    async def watch(self, most: int) -> None:
        is_open = self._opening is not None and self._opening.done()
        if is_open and not self._prompts and self._chance.random() < 0.15:
            await self._leave(is_killed=True)
            self.cuts += 1
        await self._opened()
        enough = self._editor.updates + most
        for _ in range(50):
            asked = self._editor.asked
            self.approval = "asked" if asked is not None and not asked.done() else None
            if self.approval is not None or self._editor.updates >= enough:
                return
            await asyncio.sleep(0.02)

    async def approve(self) -> None:
        self.approval = None
        if self._editor.asked is not None and not self._editor.asked.done():
            self._editor.asked.set_result(True)

    async def view(self, exchange: str) -> ExchangeView:
        """All exchanges of the session: an editor does not tell them apart."""
        await self._opened()
        calls = [
            CallView(call["raw_input"]["word"], call["status"] == "completed")
            for call in self._editor.calls.values()
            if "raw_input" in call
        ]
        return ExchangeView([text for text in self._editor.texts.values() if text], calls)

    async def settle(self) -> None:
        while self._prompts:
            await asyncio.wait(self._prompts)

    async def close(self) -> None:
        if self._opening is not None:
            await self._leave(is_killed=False)

    async def _leave(self, *, is_killed: bool) -> None:
        """End the process, by SIGKILL or by the end of its input. The next use starts another one."""
        connection = await self._opened()
        process, self._process, self._opening = self._process, None, None
        assert process is not None
        if is_killed:
            process.kill()
        process.stdin.close()
        async with asyncio.timeout(120):
            await process.wait()
        for prompt in list(self._prompts):
            prompt.cancel()
        await connection.close()
        with suppress(ConnectionError):
            await process.stdin.wait_closed()
