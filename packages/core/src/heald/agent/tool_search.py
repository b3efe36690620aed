"""Offers many tools by name only: the model finds those that it needs.

The tools of a request are the same from the first turn to the last, so that the provider's cache of the prompt holds:
what a search finds is described in its result, and called with `use_tool`. A small model hardly ever searches: the
words of the request choose a few tools for it, in full, and what it has found or called stays offered.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from heald.agent.conversation import Conversation
from heald.agent.strategy import NextRequest, QuickStrategy
from heald.core.json import as_object, encode
from heald.core.messages import ToolDefinition
from heald.tools.definitions import Tool

if TYPE_CHECKING:
    from heald.tools.tool_finder import ToolFinder

SHARE = 0.1
"""The share of the model's context above which tools are found by a search."""
_LARGE_CONTEXT = 75_000
"""Tokens of a context that count: each request pays for its tools, however large the context is."""
_BYTES_PER_TOKEN = 3.2
_FEW, _FEW_BYTES = 8, 2_000
"""So many tools, and definitions of so many bytes, are always offered in full."""
_SERVER_MARK = "__"
"""In the name of a tool of a server, between the names of both."""
_LIST_BYTES = 7_000
"""The most bytes of the list of tools."""
_LIST_SHARE = 0.5
"""The most of the allowed share that the list may have."""
_SMALL_LIST_BYTES = 600
"""The most bytes of the list for a small model."""


class ToolSearch(QuickStrategy):
    """Replaces the definitions of many tools by a list and two tools that lead to them.

    Built-in tools, those of clients, and a few of the program itself are always offered in full."""

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._seen: list[ToolDefinition] = []
        self._offered: list[ToolDefinition] = []
        self._finder: ToolFinder | None = None
        self._is_direct = False  # a small model calls what it has found by its name
        self._length = 0
        self._exchange: str | None = None  # the exchange of the request
        self._request = ""

    def attach(self, conversation: Conversation) -> None:
        super().attach(conversation)
        runtime = conversation.runtime
        find_hosted = runtime.find_hosted

        def find(name: str) -> Tool | None:
            return self._find_tool(name) or (find_hosted(name) if find_hosted is not None else None)

        runtime.find_hosted = find

    def prepare_turn(self, request: NextRequest) -> Awaitable[None] | None:
        return self._replace_tools(request) if len(request.tools) > _FEW else None

    async def _replace_tools(self, request: NextRequest) -> None:
        if request.tools != self._seen:  # lists compare the identity of their elements first
            offered = await self._choose(request.tools)
            self._seen, self._offered = request.tools, offered
        if self._finder is not None and self._is_direct:
            request.tools = self._offer_nearest(self._finder)
            return
        if self._finder is not None and self._finder.search_results:
            self._restore_descriptions(self._finder.search_results)
        request.tools = self._offered

    def _offer_nearest(self, finder: "ToolFinder") -> list[ToolDefinition]:
        """The tools that the request of the exchange needs by its words, and those that were found or called before."""
        messages = self.conversation.messages
        if self._exchange != self.conversation.exchange:  # a reminder later in the exchange is not a request
            self._exchange = self.conversation.exchange
            self._request = next((message.text for message in reversed(messages) if message.role == "user"), "")
        offered = self._offered[:-1]
        names = {tool.name for tool in offered}
        called = {call.name for message in messages for call in message.tool_calls}
        earlier = [tool for tool in self._seen if tool.name in called or tool.name in finder.search_results]
        for tool in (*finder.nearest(self._request), *earlier):
            if tool.name not in names:
                names.add(tool.name)
                offered.append(tool)
        return [self._offered[-1], *offered]

    def _restore_descriptions(self, search_results: dict[str, ToolDefinition]) -> None:
        """Offer the tools in full whose descriptions a compaction removed. The prompt is another one then anyway."""
        messages = self.conversation.messages
        is_shorter, self._length = len(messages) < self._length, len(messages)
        if not is_shorter:
            return
        from heald.tools.tool_finder import FIND_TOOLS

        described = {
            name
            for message in messages
            for result in message.tool_results
            if result.name == FIND_TOOLS
            for name in as_object(result.data).get("tools", [])
        }
        offered = {tool.name for tool in self._offered}
        self._offered = self._offered + [
            definition for name, definition in search_results.items() if name not in described | offered
        ]

    async def _choose(self, tools: list[ToolDefinition]) -> list[ToolDefinition]:
        """Return the tools of the next request."""
        from heald.tools.tool_finder import FIND_TOOLS, USE_TOOL, ToolFinder

        size = sum(len(encode(tool)) for tool in tools)
        if size <= _FEW_BYTES:
            return tools
        context_size = await self.conversation.window.size()
        most = min(context_size or _LARGE_CONTEXT, _LARGE_CONTEXT) * self._share * _BYTES_PER_TOKEN
        choice = self.conversation.settings.tool_choice
        hidden = [tool for tool in tools if not self._is_pinned(tool) and tool.name != choice]
        program_tools = [tool for tool in hidden if _SERVER_MARK not in tool.name]
        program_size = sum(len(encode(tool)) for tool in program_tools)
        if len(program_tools) <= _FEW and program_size <= _FEW_BYTES:
            hidden = [tool for tool in hidden if _SERVER_MARK in tool.name]
        else:
            program_size = 0
        reserved = {FIND_TOOLS, USE_TOOL} & {tool.name for tool in tools}
        if size <= most or len(hidden) <= 1 or reserved:
            self._finder = None
            return tools
        self._is_direct = self.conversation.models.is_small
        room = min(_SMALL_LIST_BYTES if self._is_direct else _LIST_BYTES - program_size, round(most * _LIST_SHARE))
        names = {tool.name for tool in hidden}
        offered = [tool for tool in tools if tool.name not in names]
        self._finder = finder = ToolFinder(hidden, room=room, direct=self._is_direct, offered=offered)
        return offered + [tool.definition for tool in finder.tools]

    def _is_pinned(self, definition: ToolDefinition) -> bool:
        from heald.agent.handover_tool import HAND_OVER
        from heald.tools.families import builtin_descriptions

        if definition.name == HAND_OVER:
            return True
        tool = self.conversation.runtime.registry.find(definition.name)
        return tool is None or tool.on_client or tool.definition.description in builtin_descriptions()

    def _find_tool(self, name: str) -> Tool | None:
        """`use_tool` works from the start: a process that continues a session may find calls of it."""
        from heald.tools.tool_finder import FIND_TOOLS, USE, USE_TOOL, ToolFinder

        if name == USE_TOOL:
            return USE
        if name != FIND_TOOLS:
            return None
        if self._finder is None:
            registry = self.conversation.runtime.registry
            return ToolFinder(registry.definitions, room=0).tools[0]
        return self._finder.tools[0]
