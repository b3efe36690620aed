"""A conversation with an external agent, turn by turn.

The process lives as long as the conversation is open, and is ended with an exchange that is cut off. The log is the
truth: a new process, after a crash, a fork or an undo, gets the conversation so far as text.
"""

import asyncio
from collections.abc import Callable

from heald.agent.hosted_call import HostedCall
from heald.agent.hosted_tools import HostedKind
from heald.agent.instructions import DEFAULT
from heald.core.errors import ConfigurationError, IncompleteStream, InvalidRequest, ProviderError
from heald.core.json import JsonObject, encode_text
from heald.core.messages import Message, ToolDefinition, ToolResult
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import OnEvent, ProviderTurn
from heald.providers.list_price import is_loaded, load, price
from heald.providers.model import Model
from heald.providers.resolve import resolve
from heald.providers.seen_messages import SeenMessages
from heald.providers.tool_host import Judge, Outcome, OutcomeLost
from heald.tools.workspace.base import Workspace
from heald_acp.acp_call import AcpCall
from heald_acp.agent_conversation import AgentConversation, PromptEnd, ReadyCall, TextChunk
from heald_acp.agent_folder import WorkspaceFolder
from heald_acp.hosted_kinds import kind_of
from heald_acp.model import PROVIDER, AcpAgent
from heald_acp.project_copy import ProjectCopy
from heald_acp.prompt import build_prompt
from heald_acp.turn import AcpDecoder

_SCHEMA = "Your final answer is nothing but JSON that fits this schema: "


class AcpSession(SeenMessages):
    """A `ProviderSession`, a `ToolHost` and a `WorkspaceHost`."""

    def __init__(
        self, agent: AcpAgent, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        super().__init__(messages, tools, settings)
        self.judge: Judge | None = None
        self._agent = agent
        self._priced: Model | None = resolve(agent.program.prices) if agent.program.prices else None
        self._workspace: Workspace | None = None
        self._conversation: AgentConversation | None = None
        self._billed = 0.0

    # --- a turn ------------------------------------------------------------------------------------------------------

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        decoder = AcpDecoder(provider=PROVIDER, model=self._agent.name, used_ids=self.used_ids)
        for payload in decoder.open():
            on_event(payload)
        try:
            conversation = await self._ready()
            return await self._read_turn(conversation, decoder, on_event)
        except ProviderError as error:
            for payload in decoder.abort(error):
                on_event(payload)
            raise

    async def _read_turn(self, conversation: AgentConversation, decoder: AcpDecoder, on_event: OnEvent) -> ProviderTurn:
        while True:
            match await conversation.next():
                case TextChunk(text=text, is_thinking=is_thinking):
                    payloads = decoder.add_thinking(text) if is_thinking else decoder.add_text(text)
                    for payload in payloads:
                        on_event(payload)
                case ReadyCall(call=call):
                    more: AcpCall | None = call
                    while more is not None:
                        for payload in decoder.add_call(more.report.id, more.name, more.arguments):
                            on_event(payload)
                        more = conversation.next_call()
                    return self._finish(conversation, decoder, on_event, "tool_use")
                case PromptEnd(stop_reason="cancelled"):
                    raise IncompleteStream(f"{conversation.name} cancelled its answer by itself; try again.")
                case PromptEnd(stop_reason=reason):
                    return self._finish(conversation, decoder, on_event, reason)

    def _finish(
        self, conversation: AgentConversation, decoder: AcpDecoder, on_event: OnEvent, reason: str
    ) -> ProviderTurn:
        """End the message. Its tokens are reported with the last message of an answer."""
        is_last = reason != "tool_use"
        usage = (conversation.usage or Usage()) if is_last else Usage()
        has_more = is_last and bool(self._unseen())
        payloads, message = decoder.finish("pause_turn" if has_more else reason, usage)
        for payload in payloads:
            on_event(payload)
        conversation.announce(message.tool_calls)
        assert decoder.stop_reason is not None
        return ProviderTurn(
            message=message,
            stop_reason=decoder.stop_reason,
            usage=usage,
            provider_stop_reason=reason,
            cost_usd=self._bill(conversation, is_last=is_last),
        )

    def _bill(self, conversation: AgentConversation, *, is_last: bool) -> float | None:
        """Return the cost of a turn: what the agent has reported since the last one. If it reports none, the list price
        of its tokens counts, if that is known."""
        if conversation.cost is None:
            return None if is_last else 0.0
        spent, self._billed = conversation.cost - self._billed, conversation.cost
        return max(spent, 0.0)

    # --- the agent's tools -------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._conversation is not None and not self._conversation.is_dead

    def use_workspace(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def describe_tool(self, name: str) -> HostedKind:
        return kind_of(name, self._conversation.root if self._conversation is not None else "/")

    def begin_call(self, call_id: str, call: HostedCall) -> None:
        if self._conversation is not None:
            self._conversation.begin_call(call_id, call)

    async def perform(self, call: str, arguments: JsonObject, on_output: Callable[[str], object]) -> Outcome:
        if self._conversation is None:
            raise OutcomeLost(f"{self._agent.program.name} is not running.")
        return await self._conversation.perform(call, arguments, on_output)

    def deliver_result(self, result: ToolResult) -> None:
        if self._conversation is not None:
            self._conversation.deliver_result(result)

    async def end_exchange(self, *, cut: bool) -> None:
        conversation = self._conversation
        if conversation is None or not (cut or conversation.is_dead or not conversation.is_idle):
            return
        self._conversation, self._seen = None, {}
        await asyncio.shield(asyncio.create_task(_end(conversation)))

    async def close(self) -> None:
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            await conversation.close()

    # --- money -------------------------------------------------------------------------------------------------------

    def cost(self, usage: Usage) -> Cost:
        return price(self._priced, usage) if self._priced is not None else Cost()

    @property
    def prices_ready(self) -> bool:
        return self._priced is None or is_loaded()

    async def load_prices(self) -> None:
        await asyncio.to_thread(load)

    # --- the conversation --------------------------------------------------------------------------------------------

    async def _ready(self) -> AgentConversation:
        """Return the conversation in which the agent answers. It gets the messages that it has not seen."""
        conversation = self._conversation
        if conversation is not None and not conversation.is_idle:
            return conversation
        if conversation is not None and (conversation.is_dead or self._is_rewound):
            self._conversation = None
            await conversation.close()
        is_new = self._conversation is None
        if is_new:
            self._seen, self._billed = {}, 0.0
            await self._start()
        unseen = self._unseen()
        if not any(message.role == "user" for message in unseen):
            raise InvalidRequest(f"There is nothing new to ask; {self._agent.name} has seen all of this conversation.")
        assert self._conversation is not None
        self._see(unseen)
        instructions = self._instructions() if is_new else ""
        await self._conversation.ask(build_prompt(unseen, instructions, self._conversation.capabilities))
        return self._conversation

    async def _start(self) -> None:
        workspace = self._workspace
        if workspace is None:
            raise ConfigurationError(f"{self._agent.name} works on files; give it a workspace as Agent(workspace=…).")
        is_project = workspace.is_project or not workspace.root
        folder = await asyncio.to_thread(_copy, workspace) if is_project else WorkspaceFolder(workspace)
        conversation = AgentConversation(self._agent, folder, lambda: self.judge)
        try:
            await conversation.start()
        except BaseException:
            await conversation.close()
            raise
        self._conversation = conversation

    def _instructions(self) -> str:
        schema = self.settings.output_schema
        system = self.settings.system.removeprefix(DEFAULT)  # it is about tools of Heald
        return system + (f"\n\n{_SCHEMA}{encode_text(schema)}" if schema is not None else "")


def _copy(workspace: Workspace) -> ProjectCopy:
    copy = ProjectCopy(workspace)
    copy.refresh()  # an agent may look at the files before its first prompt
    return copy


async def _end(conversation: AgentConversation) -> None:
    await conversation.cancel()
    await conversation.close()
