"""A conversation with a started agent: its updates, its questions, and the calls that Heald decides on.

The updates are read all the time. Text waits for the turn that reads it. A call becomes part of the message that is
being read; one that the agent makes while another call runs becomes an inner call of that one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from heald.agent.hosted_call import HostedCall
from heald.core.errors import ConnectionFailed, HealdError, InvalidRequest, ProviderError
from heald.core.ids import new_id
from heald.core.json import JsonObject, as_object, as_objects
from heald.core.messages import ToolCall, ToolResult
from heald.core.short_text import quote
from heald.core.turn import Usage
from heald.core.version import VERSION
from heald.providers.tool_host import Judge, Outcome, OutcomeLost
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.paths import PathFault
from heald_acp.acp_call import AcpCall
from heald_acp.acp_files import AcpFiles
from heald_acp.acp_terminals import AcpTerminals
from heald_acp.agent_error import NOT_FOUND, AgentError, provider_error
from heald_acp.agent_folder import WorkspaceFolder
from heald_acp.connection import AgentConnection
from heald_acp.folder_watch import FolderWatch
from heald_acp.model import AcpAgent
from heald_acp.project_copy import ProjectCopy
from heald_acp.relative_text import add_notes, relative_outcome
from heald_acp.updates import (
    DONE,
    ReportedCall,
    mode_names,
    model_choices,
    read_cost,
    read_plan,
    read_usage,
    text_of,
)

PROTOCOL = 1
_START_SECONDS = 180.0
_CANCEL_SECONDS = 2.0
_ALLOW = ("allow_once", "allow_always")
_REJECT = ("reject_once", "reject_always")


class TextChunk(msgspec.Struct, frozen=True):
    """A piece of the answer, or of thinking."""

    text: str
    is_thinking: bool = False


class ReadyCall(msgspec.Struct, frozen=True):
    """A call that goes into the log."""

    call: AcpCall


class PromptEnd(msgspec.Struct, frozen=True):
    """The agent has answered."""

    stop_reason: str


Item = TextChunk | ReadyCall | PromptEnd


class AgentConversation:
    """One session of one process."""

    def __init__(
        self, agent: AcpAgent, folder: WorkspaceFolder | ProjectCopy, judge: Callable[[], Judge | None]
    ) -> None:
        self.usage: Usage | None = None
        """The tokens since the last prompt, as far as the agent has reported them."""
        self.cost: float | None = None
        """The cost of the session in US dollars so far, if the agent reports it."""
        self.is_idle = True
        """The last prompt is answered, and its end or its error is read."""
        self.is_dead = False
        """The process has ended, or is being ended."""
        self.capabilities: JsonObject = {}
        self._agent = agent
        self._folder = folder
        self._hidden_root = folder.root if isinstance(folder, ProjectCopy) else ""
        self._judge = judge
        self._session = ""
        self._auth_methods: object = None
        self._items: deque[Item] = deque()
        self._has_news = asyncio.Event()
        self._is_reading = False
        self._error: HealdError | None = None
        self._calls: dict[str, AcpCall] = {}
        self._calls_in_log: dict[str, AcpCall] = {}
        self._running: list[AcpCall] = []
        self._inner: dict[str, list[asyncio.Task[ToolResult]]] = {}
        self._last_message: object = None
        self._prompt: asyncio.Future[JsonObject] | None = None
        self._unanswered: set[str] = set()
        self._has_result = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._files = AcpFiles(folder, self._find_call, self._begin_own_call, self._find_refusal)
        self._terminals = AcpTerminals(folder.root, agent.sandbox, self._find_call, self._begin_own_call)
        self._watch = self._watch_copy(folder) if isinstance(folder, ProjectCopy) else None
        self._connection = AgentConnection(
            agent.program,
            folder.root,
            on_request=self._on_request,
            on_notification=self._on_notification,
            on_end=self._fail,
        )

    @property
    def name(self) -> str:
        return self._agent.program.name

    @property
    def pid(self) -> int | None:
        return self._connection.pid

    @property
    def root(self) -> str:
        """The folder that the agent works in."""
        return self._folder.root

    # --- requests to the agent ---------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the process and a session in the folder of the workspace. Raises the error in one sentence."""
        await self._connection.start()
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._open_session()
        except TimeoutError:
            raise ConnectionFailed(f"{self.name} did not answer within {_START_SECONDS:g} s of its start.") from None
        except AgentError as error:
            raise provider_error(self.name, error, self._auth_methods) from None

    async def _open_session(self) -> None:
        has_terminal = self._agent.sandbox.available() is None
        hello = await self._connection.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "clientInfo": {"name": "heald", "title": "Heald", "version": VERSION},
                "clientCapabilities": {
                    "fs": {"readTextFile": not self._agent.program.own_reads, "writeTextFile": True},
                    "terminal": has_terminal,
                },
            },
        )
        if hello.get("protocolVersion") != PROTOCOL:
            raise InvalidRequest(
                f"{self.name} speaks version {hello.get('protocolVersion')!r} of ACP, and Heald version {PROTOCOL}; "
                "install a version of the agent that speaks it."
            )
        self.capabilities = as_object(hello.get("agentCapabilities"))
        self._auth_methods = hello.get("authMethods")
        opened = await self._connection.request("session/new", {"cwd": self._folder.root, "mcpServers": []})
        self._session = str(opened.get("sessionId") or "")
        mode = self._agent.program.mode
        if mode and mode in mode_names(opened):
            await self._connection.request("session/set_mode", {"sessionId": self._session, "modeId": mode})
        if self._agent.model:
            await self._choose_model(opened, self._agent.model)

    async def _choose_model(self, opened: JsonObject, model: str) -> None:
        option, names = model_choices(opened)
        if model not in names:
            listed = f"it has {', '.join(names[:20])}" if names else "it offers none to choose from"
            raise InvalidRequest(f"{self.name} has no model {model!r}; {listed}.")
        if option:
            choice = {"sessionId": self._session, "configId": option, "value": model}
            await self._connection.request("session/set_config_option", choice)
        else:
            await self._connection.request("session/set_model", {"sessionId": self._session, "modelId": model})

    async def ask(self, prompt: list[JsonObject]) -> None:
        """Send a prompt. Its answer comes with `next`."""
        if isinstance(self._folder, ProjectCopy):
            await asyncio.to_thread(self._folder.refresh)
        if self._watch is not None:
            self._watch.start()
        self.is_idle, self.usage = False, None
        self._items.clear()  # what came after the last answer
        self._prompt = self._connection.begin_request("session/prompt", {"sessionId": self._session, "prompt": prompt})
        self._prompt.add_done_callback(self._on_answer)

    def _on_answer(self, prompt: "asyncio.Future[JsonObject]") -> None:
        self._prompt = None
        error = prompt.exception() if not prompt.cancelled() else None
        if isinstance(error, AgentError):
            self._fail(provider_error(self.name, error, self._auth_methods))
        elif isinstance(error, HealdError):
            self._fail(error)
        elif not prompt.cancelled():
            answer = prompt.result()
            self.usage = read_usage(answer) or self.usage
            self._end_calls(answered=True)
            end = PromptEnd(str(answer.get("stopReason") or "end_turn"))
            if self._watch is None:
                self._put(end)
            else:
                self._ending = asyncio.create_task(self._end_prompt(self._watch, end))

    async def _end_prompt(self, watch: FolderWatch, end: PromptEnd) -> None:
        """Publish what is left of the agent's changes, then end the answer."""
        while not self.is_dead and (self._unanswered or any(isinstance(item, ReadyCall) for item in self._items)):
            self._has_result.clear()
            await self._has_result.wait()
        await watch.stop()
        if not self.is_dead:
            await watch.end_prompt()
        self._put(end)

    async def cancel(self) -> None:
        """Cancel the prompt, as the protocol specifies, and wait briefly for its end."""
        prompt = self._prompt
        if prompt is None or self.is_dead:
            return
        self._connection.notify("session/cancel", {"sessionId": self._session})
        self._end_calls()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([prompt], timeout=_CANCEL_SECONDS)

    async def close(self) -> None:
        """End the process and all that it has started, and delete its copy of the files."""
        self.is_dead = True
        self._end_calls()
        self._has_result.set()
        await self._terminals.close()
        await self._connection.close()
        if self._watch is not None:
            await self._watch.stop()
        if self._ending is not None:
            await asyncio.wait([self._ending])
        await asyncio.to_thread(self._folder.close)

    # --- the turn ----------------------------------------------------------------------------------------------------

    async def next(self) -> Item:
        """Wait for the next part of the answer. Raises the error that ended the conversation."""
        self._is_reading = True
        try:
            while not self._items:
                if self._error is not None:
                    self.is_idle = True
                    raise self._error
                self._has_news.clear()
                await self._has_news.wait()
            item = self._items.popleft()
            self.is_idle = isinstance(item, PromptEnd)
            return item
        finally:
            self._is_reading = False

    def next_call(self) -> AcpCall | None:
        """Return a further call that is ready now, for the same message."""
        if self._items and isinstance(item := self._items[0], ReadyCall):
            self._items.popleft()
            return item.call
        return None

    def announce(self, calls: Sequence[ToolCall]) -> None:
        """Register the calls of a finished message with the ids that Heald gave them."""
        for call in calls:
            if (pending := self._calls.get(call.wire_id or call.id)) is not None:
                self._calls_in_log[call.id] = pending
                self._unanswered.add(call.id)

    # --- decisions of Heald ------------------------------------------------------------------------------------------

    def begin_call(self, call_id: str, hosted: HostedCall) -> None:
        """A call is permitted. Calls that wait for a turn run inside of it: it may depend on them."""
        call = self._calls_in_log.get(call_id)
        if call is None:
            return
        call.hosted = hosted
        self._running.append(call)
        waiting = [item for item in self._items if isinstance(item, ReadyCall) and not item.call.is_done]
        self._items = deque(item for item in self._items if item not in waiting)
        for item in waiting:
            self._run_inside(call, item.call)

    async def perform(self, call_id: str, arguments: JsonObject, on_output: Callable[[str], object]) -> Outcome:
        call = self._calls_in_log.get(call_id)
        if call is None:
            raise OutcomeLost(f"{self.name} does not know this call any more.")
        try:
            if arguments != call.arguments:
                call.decide(False)
                reason = f"{self.name} cannot run a call with changed arguments, so it was refused."
                return Outcome(reason, is_error=True)
            call.on_output = on_output
            call.decide(True)
            outcome = await call.outcome
            await asyncio.gather(*self._inner.pop(call_id, ()), return_exceptions=True)
        finally:
            if call in self._running:
                self._running.remove(call)
            refusals = await self._record_changes(call)
        if outcome is None:
            raise OutcomeLost(f"{self.name} ended before it reported the result of the call; it may have run.")
        return add_notes(relative_outcome(outcome, self._hidden_root), refusals)

    def deliver_result(self, result: ToolResult) -> None:
        """A call has its result. One that was not permitted is refused, and must not have begun."""
        call = self._calls_in_log.get(result.id)
        self._unanswered.discard(result.id)
        self._has_result.set()
        if call is None or call.decision.done():
            return
        call.decide(False)
        if call.is_own:
            call.end()  # no report of the agent ends it
        if not call.asked and not call.is_own and call.report.status not in DONE and not call.unasked:
            self._report_violation(call, result.text)

    def _report_violation(self, call: AcpCall, reason: str) -> None:
        """End an agent that runs what it may not run."""
        self._connection.kill()
        self._fail(
            InvalidRequest(
                f"{self.name} ran {quote(call.report.title or call.report.kind)} without asking, which the permissions "
                f"do not allow, so it was ended. ({reason}) Make it ask in its own settings, or allow it by a rule."
            )
        )

    # --- calls of the agent ------------------------------------------------------------------------------------------

    def _consider(self, call: AcpCall) -> None:
        """Put a call into the log, as soon as it is known whether the agent asks for it."""
        report = call.report
        if not call.published and self._is_ready(call):
            call.publish(self._hidden_root)
            outer = next((running for running in reversed(self._running) if running.is_open), None)
            if outer is None or self._is_reading or call.is_done:
                self._put(ReadyCall(call))
            else:
                self._run_inside(outer, call)
        if call.published and report.status in DONE and not call.is_own:
            call.finish(report.outcome())

    def _is_ready(self, call: AcpCall) -> bool:
        report = call.report
        if call.asked or call.is_own:
            return True
        if report.status not in DONE and (report.status != "in_progress" or not (report.raw_input or report.paths)):
            return False
        reason = self._find_refusal(report.name, report.arguments())
        if reason is None:
            return True
        if report.status not in DONE:
            return False  # it may still ask
        call.unasked = True
        if report.status == "completed" and self._agent.program.unasked == "stop":
            self._report_violation(call, reason)
        return True

    def _find_refusal(self, name: str, arguments: JsonObject) -> str | None:
        """Return why a call may not run without a question; None if it may."""
        judge = self._judge()
        return None if judge is None else judge(name, arguments)

    def _run_inside(self, outer: AcpCall, call: AcpCall) -> None:
        hosted = outer.hosted
        assert hosted is not None
        self._calls_in_log[call.call_id] = call
        outer_id = next(name for name, pending in self._calls_in_log.items() if pending is outer)
        task = asyncio.create_task(hosted.run_inner(call.name, call.arguments, call.call_id))
        self._inner.setdefault(outer_id, []).append(task)

    def _find_call(self, is_meant: Callable[[AcpCall], bool]) -> AcpCall | None:
        """Return the newest open call that a request of the agent belongs to. The request shows that it has begun."""
        for call in reversed(self._calls.values()):
            if call.is_open and not call.is_own and is_meant(call):
                call.asked = call.asked or not call.published
                self._consider(call)
                return call
        return None

    def _begin_own_call(self, report: JsonObject) -> AcpCall:
        """Put a call into the log that Heald runs for the agent."""
        call = AcpCall(ReportedCall(new_id("own")), is_own=True)
        call.report.update(report)
        self._calls[call.report.id] = call
        self._consider(call)
        return call

    def _watch_copy(self, copy: ProjectCopy) -> FolderWatch:
        def begin_call(report: JsonObject) -> AcpCall:
            call = self._begin_own_call(report)
            call.outlasts_prompt = True
            return call

        return FolderWatch(
            copy,
            find_running=lambda: self._running,
            has_open_calls=lambda: any(call.is_open for call in self._calls.values()),
            begin_call=begin_call,
        )

    def _end_calls(self, *, answered: bool = False) -> None:
        """End all open calls; if the agent has `answered`, those that nothing more will be known of."""
        for call in self._calls.values():
            if call.is_open and not (answered and call.outlasts_prompt):
                call.end()

    async def _record_changes(self, call: AcpCall) -> list[str]:
        """Publish what the agent itself has written in a call. Returns why files were refused."""
        if self._watch is not None:
            return await self._watch.end_call(call)
        if isinstance(self._folder, WorkspaceFolder):
            await asyncio.to_thread(self._folder.record, call)
        return []

    # --- incoming messages -------------------------------------------------------------------------------------------

    async def _on_request(self, method: str, params: JsonObject) -> JsonObject:
        try:
            match method:
                case "session/request_permission":
                    return await self._ask_permission(params)
                case "fs/read_text_file":
                    return await self._files.read(params)
                case "fs/write_text_file":
                    return await self._files.write(params)
                case _ if method.startswith("terminal/"):
                    return await self._terminals.answer(method, params)
                case _:
                    raise NotImplementedError
        except PathFault as fault:
            raise AgentError(str(fault), NOT_FOUND if fault.kind == "not_found" else None) from None
        except ToolFault as fault:
            raise AgentError(str(fault)) from None

    async def _ask_permission(self, params: JsonObject) -> JsonObject:
        report = as_object(params.get("toolCall"))
        call = self._call_of(report)
        before = dict(call.report.raw_input)
        call.report.update(report)
        call.report.raw_input |= before  # a question may name only a part of what the call does
        call.asked = True
        self._folder.watch(call)
        self._consider(call)
        allowed = await call.decision
        options = as_objects(params.get("options"))
        for kind in _ALLOW if allowed else _REJECT:
            for option in options:
                if option.get("kind") == kind:
                    return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
        return {"outcome": {"outcome": "cancelled"}}

    def _on_notification(self, method: str, params: JsonObject) -> None:
        if method != "session/update":
            return
        update = as_object(params.get("update"))
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._read_chunk(update)
            case "agent_thought_chunk":
                self._put(TextChunk(text_of(update.get("content")), is_thinking=True))
            case "tool_call" | "tool_call_update":
                self._read_call(update)
            case "plan":
                self._read_plan(update)
            case "usage_update":
                cost = read_cost(update)
                self.cost = cost if cost is not None else self.cost
            case _:
                return

    def _read_chunk(self, update: JsonObject) -> None:
        if (usage := read_usage(update)) is not None:
            self.usage = usage if self.usage is None else self.usage + usage
        text, message = text_of(update.get("content")), update.get("messageId")
        if self.is_idle or not text:
            return  # a notice before the first prompt is not part of an answer
        if message != self._last_message and self._items and isinstance(self._items[-1], TextChunk):
            text = f"\n\n{text}"
        self._last_message = message
        self._put(TextChunk(text))

    def _read_call(self, update: JsonObject) -> None:
        if self.is_idle:
            return
        call = self._call_of(update)
        call.report.update(update)
        self._folder.watch(call)
        call.show_progress()
        self._consider(call)

    def _read_plan(self, update: JsonObject) -> None:
        plan = read_plan(update)
        if self.is_idle or not plan["items"]:
            return
        call = AcpCall(_PlanReport(new_id("plan"), raw_input=plan), is_own=True)
        self._calls[call.report.id] = call
        call.finish(Outcome(f"A plan of {len(plan['items'])} steps."))
        self._consider(call)

    def _call_of(self, report: JsonObject) -> AcpCall:
        name = str(report.get("toolCallId") or "")
        if name not in self._calls:
            self._calls[name] = AcpCall(ReportedCall(name))
        return self._calls[name]

    def _put(self, item: Item) -> None:
        self._items.append(item)
        self._has_news.set()

    def _fail(self, error: HealdError) -> None:
        """End the conversation with an error. The first one counts."""
        self._error = self._error or (error if isinstance(error, ProviderError) else ConnectionFailed(str(error)))
        self.is_dead = True
        self._end_calls()
        self._has_news.set()
        self._has_result.set()


class _PlanReport(ReportedCall):
    """A plan of the agent, as a call of the tool that Heald has for plans."""

    @property
    def name(self) -> str:
        return "todo_list"
