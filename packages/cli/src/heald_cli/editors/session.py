"""One session of an editor: a stored session, its updates to the editor, its permissions and its prompts."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import msgspec
from acp import Client, schema

from heald.agent.folder_extras import FolderExtras
from heald.agent.interface import ExchangeInterface
from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    FilePreview,
    InputJsonDelta,
    MessageDelta,
    QuestionAsked,
    SessionRewound,
    TextDelta,
    ThinkingDelta,
    ToolOutputDelta,
)
from heald.core.messages import Message, Text, ToolCall
from heald.providers.catalogue import describe_model
from heald.providers.model import Model
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald.tools.approvals import Approval
from heald.tools.definitions import Effect
from heald.tools.families import named_tools
from heald.tools.permissions import Mode
from heald.tools.registry import ToolLike
from heald.tools.shell.sandbox import Sandbox
from heald.tools.summaries import arguments_summary, call_summary
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault
from heald_cli.editors.content import Block, to_user_message
from heald_cli.editors.decisions import (
    PERMISSIONS,
    chosen_answer,
    decided_approval,
    describe_question,
    question_options,
)
from heald_cli.editors.editor_workspace import FAULTS, EditorWorkspace, describe_fault
from heald_cli.editors.prompt_outcome import prompt_response
from heald_cli.editors.terminal_tool import terminal_tool
from heald_cli.editors.update_sender import UpdateSender
from heald_cli.editors.updates import UpdateEncoder, agent_text
from heald_server.models import ModelSource

CALL_METHOD = "heald/tool_call"
"""The request to a client that runs tools of its own: `_heald/tool_call`."""
_CLOSE_SECONDS = 5.0
_log = logging.getLogger("heald")


@dataclass(frozen=True, slots=True)
class EditorAbilities:
    """The abilities that the editor offers and the user wants to be used."""

    reads: bool = False
    writes: bool = False
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class SessionParts:
    """The state that all sessions of one editor share."""

    sessions: Sessions
    models: ModelSource
    sandbox: Sandbox
    client: Client
    abilities: EditorAbilities
    find_extras: Callable[[SessionSettings], FolderExtras]


class EditorSession:
    """A stored session that an editor has open. Create it with `open`."""

    def __init__(
        self, parts: SessionParts, info: SessionInfo, extra: Sequence[ToolLike], resources: AsyncExitStack
    ) -> None:
        self.id = info.id
        self.settings = SessionSettings.of(info.settings)
        self.notes: list[str] = []
        """Sentences that the person reads before the next answer."""
        self._parts = parts
        self._extra = extra
        self._resources = resources
        self._exchanges: list[ExchangeInterface] = []
        self._prompts = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._sender = UpdateSender(parts.client, info.id)
        self._used: int | None = None
        self._calls: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls, parts: SessionParts, info: SessionInfo, extra: Sequence[ToolLike], resources: AsyncExitStack
    ) -> "EditorSession":
        """Open a session. `extra` are tools beside its own; `resources` are closed with it."""
        opened = cls(parts, info, extra, resources)
        try:
            await opened._open()
        except BaseException:
            await opened._sender.close()
            raise
        return opened

    async def _open(self) -> None:
        abilities = self._parts.abilities
        root = self.settings.workspace or ""
        workspace: Workspace
        if abilities.reads or abilities.writes:
            reads, writes = abilities.reads, abilities.writes
            workspace = EditorWorkspace(root, self._parts.client, self.id, reads=reads, writes=writes)
        else:
            workspace = DiskWorkspace(root)
        extras = await asyncio.to_thread(self._parts.find_extras, self.settings)
        model = self._parts.models.open(self.settings.model)
        self._session = session = await self._parts.sessions.open(
            self.id,
            after_crash="close",  # the prompt of the editor is over: nobody receives its answer
            model=model,
            tools=[*self._tools(), *extras.tools],
            instructions=list(extras.instructions),
            middleware=list(extras.middleware),
            workspace=workspace,
            cache=self.settings.cache and not abilities.reads,  # unsaved changes are not seen by the cache
            on_approval=self._approve,
            on_question=self._answer,
        )
        extras.complete(session, model)
        self._encoder = self._new_encoder()
        session.subscribe(self._on_event)

    def _tools(self) -> list[ToolLike]:
        tools = named_tools(self.settings.tools, self._parts.sandbox)
        if self._parts.abilities.terminal:
            tools = [
                terminal_tool(tool, self._parts.client, self.id, self._on_terminal)
                if tool.name == "run_command"
                else tool
                for tool in tools
                if tool.name not in ("command_output", "stop_command")  # the terminal has no background commands
            ]
        return [*tools, *self._extra]

    # --- requests of the editor --------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        return self._prompts > 0

    async def prompt(self, blocks: Sequence[Block]) -> schema.PromptResponse:
        """Run one exchange. Raises the error of a failed exchange."""
        self._prompts += 1
        self._idle.clear()
        try:
            return await self._prompt(blocks)
        finally:
            self._prompts -= 1
            if not self._prompts:
                self._idle.set()

    async def _hide_in_attachments(self, blocks: Sequence[Block], message: Message) -> Message:
        """Hide secret values in what the editor attached. The person's own text stays."""
        parts = list(message.content)
        for index, block in enumerate(blocks):
            part = parts[index]
            if isinstance(part, Text) and not isinstance(block, schema.TextContentBlock):
                parts[index] = Text(await self._session.hide_secrets(part.text))
        return msgspec.structs.replace(message, content=parts)

    async def _prompt(self, blocks: Sequence[Block]) -> schema.PromptResponse:
        message = await self._hide_in_attachments(blocks, to_user_message(blocks, self.settings.workspace or ""))
        notes, self.notes = self.notes, []
        self._sender.put_notes(notes)
        exchange = self._session.send(message)
        self._exchanges.append(exchange)
        try:
            result = await exchange.result()
        except asyncio.CancelledError:
            exchange.cancel("The editor closed the connection.")
            raise
        finally:
            self._exchanges.remove(exchange)
        await self._report(result)
        if exchange.error is not None and result.status == "failed":
            raise exchange.error
        return prompt_response(result)

    def cancel(self) -> None:
        for exchange in list(self._exchanges):
            exchange.cancel("The person stopped it in the editor.")

    async def replay(self) -> None:
        """Send the whole conversation as updates, without the exchanges that were undone."""
        encoder = self._new_encoder(replay=True)
        events: list[Event] = []
        async for event in iterate_events(self._parts.sessions.store, self.id):
            if isinstance(event.data, SessionRewound):
                upto = event.data.seq
                events = [earlier for earlier in events if earlier.seq <= upto]
            elif not isinstance(event.data, TextDelta | ThinkingDelta | InputJsonDelta | ToolOutputDelta | FilePreview):
                events.append(event)
        for event in events:
            self._sender.put(*encoder.feed(event))
        await self._sender.flush()

    async def set_mode(self, mode: Mode) -> None:
        self._session.permissions.mode = mode
        await self._configure(permissions=mode)

    async def set_model(self, name: str) -> None:
        """Continue the conversation with another model."""
        self._parts.models.open(name)
        await self._configure(model=name)
        await self._session.close()
        await self._open()

    async def close(self) -> None:
        """Close the session; a running exchange is cancelled. A session without events is deleted."""
        self.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._idle.wait()  # the prompts get their answers
        for task in self._calls:
            task.cancel()
        await self._session.close()
        await self._sender.close()
        await self._resources.aclose()
        with suppress(HealdError):
            if not (await self._parts.sessions.store.info(self.id)).last_seq:
                await self._parts.sessions.delete(self.id)

    async def _configure(self, **changes: str) -> None:
        await self._session.configure(**changes)
        self.settings = self._session.stored_settings

    # --- updates -----------------------------------------------------------------------------------------------------

    def _new_encoder(self, *, replay: bool = False) -> UpdateEncoder:
        return UpdateEncoder(
            self.id,
            self.settings.workspace or "",
            effects=self._effect,
            summarize=self._summarize,
            content_at=self._content_at,
            replay=replay,
        )

    def _effect(self, name: str) -> Effect:
        tool = self._session.find_tool(name)
        return tool.effect if tool is not None else "any"

    def _summarize(self, call: ToolCall) -> str:
        tool = self._session.find_tool(call.name)
        return call_summary(tool, call.input) if tool is not None else arguments_summary(call.input)

    def _content_at(self, path: str, revision: int | None) -> str | None:
        workspace = self._session.workspace
        try:
            if revision is not None:
                return decode_text(workspace.content_at(path, revision) or b"")
            return workspace.read(path, remember=False).decode("utf-8", "replace")
        except PathFault:
            return None

    def _on_event(self, event: Event) -> None:
        self._sender.put(*self._encoder.feed(event))
        if event.session != self.id:
            return
        if isinstance(event.data, MessageDelta):
            self._used = event.data.usage.total
        if isinstance(event.data, ClientToolRequested):
            task = asyncio.get_running_loop().create_task(self._call_client(event.data))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    def _on_terminal(self, call: str, terminal: str) -> None:
        self._sender.put(self._encoder.attach_terminal(call, terminal))

    async def _report(self, result: AgentResult) -> None:
        """Send what belongs to the end of an exchange, and wait until all of it is sent."""
        await self._session.flush()
        if result.note and result.status != "failed":
            self._sender.put(agent_text(f"\n\n*{result.note}*"))
        info = await self._parts.sessions.store.info(self.id)
        self._sender.put(schema.SessionInfoUpdate(session_update="session_info_update", title=info.title))
        model = self._parts.models.open(self.settings.model)
        window = describe_model(model).context_window if isinstance(model, Model) else None
        if window is not None and self._used is not None:
            cost = schema.Cost(amount=result.cost_usd, currency="USD") if result.cost_usd is not None else None
            update = schema.UsageUpdate(session_update="usage_update", used=self._used, size=window, cost=cost)
            self._sender.put(update)
        await self._sender.flush()

    # --- requests to the editor --------------------------------------------------------------------------------------

    async def _approve(self, request: ApprovalRequested) -> Approval:
        chosen = await self._choose(self._encoder.describe_approval(request), PERMISSIONS)
        return decided_approval(chosen)

    async def _answer(self, question: QuestionAsked) -> str:
        """Ask with the suggestions as buttons: every editor can show that."""
        call = describe_question(self._encoder.describe(question.call_id), question)
        return chosen_answer(await self._choose(call, question_options(question)), question)

    async def _choose(self, call: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> str:
        """Return the id of the chosen option, or a sentence that names why none was chosen."""
        choice = await self._sender.choose(call, options)
        return choice.option or choice.reason

    async def _call_client(self, request: ClientToolRequested) -> None:
        """Let the client run a tool of its own."""
        content: object
        failed = False
        try:
            answer = await self._parts.client.ext_method(
                CALL_METHOD,
                {"sessionId": self.id, "toolCallId": request.id, "name": request.name, "input": request.input},
            )
            if isinstance(answer, dict) and "content" in answer:  # pyright: ignore[reportUnnecessaryIsInstance]
                content, failed = answer["content"], answer.get("isError") is True
            else:
                content, failed = "The client's answer has no `content`, so there is no result.", True
        except FAULTS as error:
            content, failed = f"The client could not run it: {describe_fault(error)}.", True
        try:
            self._session.send_tool_result(request.id, content, failed)
        except HealdError as error:
            _log.warning("The result of a client's tool was refused: %s", error)
            with suppress(HealdError):
                self._session.send_tool_result(request.id, str(error), True)
