"""A conversation with Claude in the SDK's loop, turn by turn.

One exchange is one run of the SDK's client. The next one resumes the SDK's session, whose id is in the native form of
each message, so a stored conversation can resume it too. A conversation that begins with such a history (reopened or
forked) continues from its last message, in a session of its own. Messages that are added while a query runs are sent
when it has its result. The SDK is loaded with the first turn.
"""

import asyncio
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from heald.core.errors import HealdError, InvalidRequest
from heald.core.json import JsonObject
from heald.core.messages import Message, ToolDefinition, ToolResult
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import OnEvent, ProviderTurn
from heald.providers.claude_agent import PROVIDER, ClaudeAgent
from heald.providers.list_price import is_loaded, load, price
from heald.providers.model import Model
from heald.providers.registry import installed_providers
from heald.providers.seen_messages import SeenMessages
from heald.providers.tool_host import Judge, Outcome, OutcomeLost

if TYPE_CHECKING:
    from heald.providers.claude_agent.query import Query


class ClaudeAgentSession(SeenMessages):
    """A `ProviderSession`, and a `ToolHost`."""

    def __init__(
        self, agent: ClaudeAgent, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        super().__init__(messages, tools, settings)
        self.judge: Judge | None = None
        self._agent = agent
        self._priced = Model.at(installed_providers()["anthropic"], agent.model or "default")
        self._query: Query | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._place, self._seen = _resumed(self.messages)
        self._forks = self._place is not None
        self._billed: float | None = None if self._forks else 0.0  # dollars that the SDK has reported; None: unknown

    # --- a turn ------------------------------------------------------------------------------------------------------

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        if "claude_agent_sdk" not in sys.modules:
            await asyncio.to_thread(import_module, "claude_agent_sdk")  # takes a second or more
        from heald.providers.claude_agent.turn import TurnReader

        reader = TurnReader(self._agent.name, self.used_ids, on_event)
        try:
            query = await self._ready()
        except HealdError as error:
            reader.abort(error)
            raise
        ended = await reader.read(query, self._note)
        # Nothing is awaited from here on: the end of the message is published, so it counts.
        turn = reader.finish(*(self._place or ("", "")))
        query.ledger.announce(turn.tool_calls)
        goes_on = ended.goes_on or (query.over and bool(self._unseen()))
        return msgspec.structs.replace(
            turn,
            cost_usd=self._bill(query, turn.usage, ended.total_usd),
            stop_reason="pause_turn" if goes_on else turn.stop_reason,
        )

    # --- the SDK's tools --------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._query is not None

    async def perform(self, call: str, arguments: JsonObject, on_output: Callable[[str], object]) -> Outcome:
        if self._query is None:
            raise OutcomeLost("Claude Code is not running.")
        return await self._query.ledger.perform(call, arguments, on_output)

    def deliver_result(self, result: ToolResult) -> None:
        if self._query is not None:
            self._query.ledger.deliver_result(result)

    async def end_exchange(self, *, cut: bool) -> None:
        query, self._query = self._query, None
        if query is None:
            return
        cut = cut or not query.over
        self._leaving = asyncio.create_task(query.close(cut=cut))
        if cut:
            await asyncio.shield(self._leaving)

    async def close(self) -> None:
        await self.end_exchange(cut=False)
        if self._leaving is not None:
            await asyncio.shield(self._leaving)

    # --- money -------------------------------------------------------------------------------------------------------

    def cost(self, usage: Usage) -> Cost:
        return price(self._priced, usage)

    @property
    def prices_ready(self) -> bool:
        return is_loaded()

    async def load_prices(self) -> None:
        await asyncio.to_thread(load)

    def _bill(self, query: "Query", usage: Usage, total: float | None) -> float | None:
        """Return the cost of a turn: the list price, until the SDK reports the total of its session at the end.

        A total that is too small to include the earlier exchanges is that of this exchange alone.
        """
        listed = self.cost(usage).usd or 0.0
        before, query.estimated = query.estimated, query.estimated + listed
        if total is None:
            return listed
        billed_before, self._billed = self._billed, total
        query.estimated = 0.0
        if billed_before is None:
            return self.cost(usage).usd
        spent = total - billed_before
        return max((spent if spent >= 0.9 * (before + listed) else total) - before, 0.0)

    # --- the query ---------------------------------------------------------------------------------------------------

    async def _ready(self) -> "Query":
        """Return the running query, or start one with the messages that the SDK has not seen."""
        if self._query is not None and not self._query.over:
            return self._query
        if self._is_rewound:
            self._place, self._seen = _resumed(self.messages)
            self._forks = self._place is not None
            self._billed = None if self._forks else 0.0
        unseen = self._unseen()
        if not any(message.role == "user" for message in unseen):
            raise InvalidRequest("There is nothing new to ask; Claude Code has seen all of this conversation.")
        if not self.prices_ready:
            await self.load_prices()
        try:
            if self._query is None:
                await self._start()
            assert self._query is not None
            await self._query.ask(unseen)
        except Exception as error:
            from heald.providers.claude_agent.errors import error_of

            raise error_of(error) from None
        return self._query

    async def _start(self) -> None:
        from heald.providers.claude_agent.query import Query, options_of
        from heald.providers.claude_agent.tools import Gate, Ledger, tool_server

        if self._leaving is not None:
            await asyncio.shield(self._leaving)
        ledger = Ledger()
        server = tool_server(self.tools, ledger, self._fail)
        gate = Gate(ledger, lambda: self.judge)
        options = options_of(self._agent, self.settings, self.tools, server, gate, **self._resume())
        transport = self._agent.transport(options) if self._agent.transport is not None else None
        self._query = Query(options, transport, ledger)
        await self._query.start()

    def _fail(self, error: Exception) -> None:
        if self._query is not None:
            self._query.fail(error)

    def _resume(self) -> dict[str, Any]:
        if self._place is None:
            return {}
        session, at = self._place
        return {"resume": session} | ({"resume_session_at": at or None, "fork_session": True} if self._forks else {})

    def _note(self, session: str, at: str | None) -> None:
        """Record the SDK's id of the conversation; the messages that were sent count as seen."""
        if not session:
            return
        if self._query is not None:
            self._see(self._query.asked)
            self._query.asked = []
        self._place = (session, at or (self._place[1] if self._place is not None else ""))
        self._forks = False


def _resumed(messages: list[Message]) -> tuple[tuple[str, str] | None, dict[int, Message]]:
    """Return the SDK's ids of a history, and the messages that it has seen: all up to the last one that it sent."""
    for index in range(len(messages) - 1, -1, -1):
        place = _place_of(messages[index])
        if place is not None:
            return place, {id(message): message for message in messages[: index + 1]}
    return None, {}


def _place_of(message: Message) -> tuple[str, str] | None:
    """Return the SDK's ids of a message that it sent: of its session, and of the message in it."""
    native = message.native
    if native is None or native.wire != PROVIDER or not isinstance(native.content, dict):
        return None
    place: JsonObject = native.content  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    session, at = place.get("session"), place.get("at")
    return (session, at) if isinstance(session, str) and session and isinstance(at, str) else None
