"""The sub-agents of a chat: the tools that start them and read their answers, and their runs.

In the conversation a sub-agent works in the folder, with the permissions, the budget and the questions of the chat. In
the background it works beside the conversation and asks nothing; one that may write works in a git worktree, and its
changes wait until the person applies them.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from heald.agent.agent import Agent
from heald.agent.agent_files import AgentFiles, AgentSetup
from heald.agent.folder_extras import FolderExtras
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ApprovalRequested, ExchangeRequest, ExchangeResponse, ToolExecuting
from heald.core.json import JsonObject
from heald.core.messages import Message, Text
from heald.tools.approvals import Approval
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool, stays_inside
from heald.tools.function_tools import tool
from heald.tools.git.repository import find_repository
from heald.tools.permissions import Permissions
from heald.tools.registry import Registry
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.repository.worktrees import Worktrees
from heald_cli.subagents.sub_agent import SubAgent

MAX_RUNNING = 8
_READING = ("none", "read", "network")
_WAIT = 300.0
_REFUSED = "A sub-agent in the background cannot ask; only what stays in its folder and the sandbox is permitted."

MakeSetup = Callable[[Sandbox], AgentSetup]
"""Returns what the chat gives to agents of files, with a sandbox for their commands."""


class SubAgents:
    """The agents of files that a conversation may start, and those that it started."""

    def __init__(
        self,
        files: AgentFiles,
        folder: str,
        data: Path,
        limits: CheckpointLimits,
        make_setup: MakeSetup,
        collect: Callable[[str | None], FolderExtras],
        *,
        unsandboxed: bool,
    ) -> None:
        """`collect` returns what the folder adds to an agent in a worktree of it, or in the folder itself."""
        self._files = files
        self._folder = folder
        self._data = data
        self._limits = limits
        self._make_setup = make_setup
        self._collect = collect
        self._is_unsandboxed = unsandboxed
        self._sessions: dict[str, SubAgent] = {}
        self.started: list[SubAgent] = []
        self.on_end: Callable[[SubAgent], object] = lambda _: None
        """Called with each sub-agent of the background that ended."""

    @property
    def names(self) -> list[str]:
        """The agents that can be started."""
        return list(self._files.by_name)

    @property
    def rows(self) -> list[str]:
        """One row for each sub-agent that works in the background."""
        return [
            f"{sub_agent.name} ({sub_agent.agent}) {sub_agent.activity}: {' '.join(sub_agent.prompt.split())}"
            for sub_agent in self.started
            if sub_agent.is_background and sub_agent.is_running
        ]

    def find(self, word: str) -> SubAgent:
        """Return the sub-agent of a number or a name. Raises ConfigurationError if there is none."""
        number = word.removeprefix("agent-")
        if number.isdecimal() and 1 <= int(number) <= len(self.started):
            return self.started[int(number) - 1]
        raise ConfigurationError(f"There is no sub-agent {word[:40]!r}; /agents lists them.")

    def on_event(self, event: Event) -> None:
        """Follow the sub-agents that work in the conversation."""
        data = event.data
        if isinstance(data, ExchangeRequest) and data.cause is not None:
            for sub_agent in self.started:
                if sub_agent.call == data.cause:
                    self._sessions[event.session] = sub_agent
            return
        if sub_agent := self._sessions.get(event.session):
            _follow(sub_agent, data)

    def tools(self) -> list[Tool]:
        """Return the tools that start a sub-agent and wait for one; none without agents."""
        if not self._files.by_name:
            return []
        lines = [f"- {file.name}: {file.description or 'no description'}" for file in self._files.by_name.values()]

        @tool(
            effect="none",  # its own calls are asked for
            timeout=24 * 3600.0,
            summary=_summary,
            description="Run a sub-agent, an agent with a context and a budget of its own, and return its answer. "
            "Agents:\n" + "\n".join(lines),
        )
        async def start_agent(ctx: ToolContext, agent: str, prompt: str) -> ToolOutput:
            """Run a sub-agent.

            Args:
                agent: The name of the agent.
                prompt: What to do. The agent knows nothing but what stands here.
            """
            return await self._start(ctx, agent, prompt, background=False)

        @tool(effect="run", outside_effect=stays_inside, summary=_summary)
        async def start_background_agent(ctx: ToolContext, agent: str, prompt: str) -> ToolOutput:
            """Start a sub-agent of start_agent that works beside you, in a copy of the folder. You get an id for
            agent_result. Changes that it makes are applied by the user.

            Args:
                agent: The name of the agent.
                prompt: What to do. The agent knows nothing but what stands here.
            """
            return await self._start(ctx, agent, prompt, background=True)

        @tool(effect="none", timeout=_WAIT + 30, summary=lambda arguments: str(arguments.get("id", "")))
        async def agent_result(id: str, wait_s: float = 60) -> ToolOutput:  # noqa: A002
            """State and answer of a sub-agent in the background.

            Args:
                id: The id that start_background_agent returned.
                wait_s: Seconds to wait for its end, at most 300.
            """
            return await self._wait_for(id, min(max(wait_s, 0.0), _WAIT))

        return [start_agent, start_background_agent, agent_result]

    async def stop(self, sub_agent: SubAgent) -> None:
        """End a sub-agent of the background."""
        if sub_agent.task is None or sub_agent.task.done():
            raise ConfigurationError(f"{sub_agent.name} does not run in the background.")
        sub_agent.task.cancel()
        with suppress(asyncio.CancelledError):
            await sub_agent.task

    async def apply(self, sub_agent: SubAgent) -> Sequence[str]:
        """Bring the changes of a sub-agent into the folder. Returns the changed paths; `heald undo` undoes them."""
        if not sub_agent.has_changes or sub_agent.worktrees is None:
            raise ConfigurationError(f"{sub_agent.name} has no changes to apply.")
        applied = AppliedAttempts(sub_agent.worktrees.repository, self._data, self._limits)
        base, saved = sub_agent.base, sub_agent.saved
        assert base is not None
        assert saved is not None
        title = f"{sub_agent.name} ({sub_agent.agent}): {sub_agent.prompt}"
        paths = await asyncio.to_thread(applied.apply, base, saved, title)
        sub_agent.is_applied = True
        return paths

    async def close(self) -> list[str]:
        """End what runs, and remove the worktrees. Those with changes that were not applied stay: returns their
        folders."""
        running = [task for sub_agent in self.started if (task := sub_agent.task) is not None and not task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        kept_folders: list[str] = []
        for sub_agent in self.started:
            worktrees, sub_agent.worktrees = sub_agent.worktrees, None
            if worktrees is None:
                continue
            if sub_agent.has_changes:
                kept_folders.append(worktrees.made[0].folder)
                worktrees.keep()
            else:
                await asyncio.to_thread(worktrees.remove)
        return kept_folders

    async def _start(self, ctx: ToolContext, name: str, prompt: str, *, background: bool) -> ToolOutput:
        try:
            file = self._files.find(name)
        except ConfigurationError as error:
            raise ToolFault(str(error), "unknown_agent") from None
        if background and len(self.rows) >= MAX_RUNNING:
            raise ToolFault(f"{MAX_RUNNING} sub-agents run already; wait for one with agent_result.", "too_many")
        sub_agent = SubAgent(len(self.started) + 1, file.name, prompt, ctx.call.id, is_background=background)
        self.started.append(sub_agent)
        if not background:
            return await self._run_here(sub_agent, ctx)
        permissions = ctx.host.permissions if ctx.host is not None else Permissions("read-only")
        sub_agent.task = asyncio.create_task(
            self._run_aside(sub_agent, permissions), name=f"heald-sub-agent-{sub_agent.number}"
        )
        return ToolOutput(
            content=f"{sub_agent.name} works in the background. See it with agent_result; its answer is shown to you "
            "when it ends.",
            summary=f"{sub_agent.name} in the background",
        )

    async def _run_here(self, sub_agent: SubAgent, ctx: ToolContext) -> Any:
        try:
            permissions = ctx.host.permissions if ctx.host is not None else None
            options = self._agent_options(sub_agent.agent, Sandbox(unsandboxed=self._is_unsandboxed), permissions)
            delegate = Agent(**options).as_tool("start_agent", "Runs a sub-agent.")
            return await delegate.run({"prompt": sub_agent.prompt}, ctx)
        except ConfigurationError as error:
            sub_agent.status = "failed"
            raise ToolFault(str(error), "agent_failed") from None
        finally:
            if sub_agent.is_running:
                sub_agent.status = "cancelled"

    async def _run_aside(self, sub_agent: SubAgent, permissions: Permissions) -> None:
        try:
            await self._work(sub_agent, permissions)
        except asyncio.CancelledError:
            sub_agent.status = "cancelled"
            raise
        except (HealdError, OSError) as error:
            sub_agent.status, sub_agent.answer = "failed", str(error)
        finally:
            self.on_end(sub_agent)

    async def _work(self, sub_agent: SubAgent, permissions: Permissions) -> None:
        """Let a sub-agent work in the background, and save what it changed."""
        sandbox = Sandbox(unsandboxed=self._is_unsandboxed)
        options = self._agent_options(sub_agent.agent, sandbox)
        folder = self._folder
        may_write = not permissions.planning and permissions.mode != "read-only"
        if may_write and any(item.effect not in _READING for item in Registry(options["tools"])):
            await self._make_worktree(sub_agent)
            assert sub_agent.worktrees is not None
            folder = sub_agent.worktrees.made[0].folder
            sandbox = Sandbox(unsandboxed=self._is_unsandboxed, readable=sub_agent.worktrees.readable)
            options = self._agent_options(sub_agent.agent, sandbox)
        mode = ("auto" if permissions.mode == "auto" else "inside") if sub_agent.worktrees is not None else "read-only"
        extras = self._collect(folder if sub_agent.worktrees is not None else None)
        rules = [str(rule) for rule in permissions.rules]
        options["permissions"] = _restrict(options["permissions"], Permissions(mode, rules))
        agent = Agent(**options, workspace=folder, middleware=extras.middleware, on_approval=_refuse)
        extras.complete(agent, options["model"])
        agent.subscribe(lambda event: _follow(sub_agent, event.data))
        try:
            async with agent:
                result = await agent.run(sub_agent.prompt)
            sub_agent.answer = result.text.strip() or (result.error.message if result.error is not None else "")
            sub_agent.usage, sub_agent.cost_usd = result.usage, result.cost_usd
            await self._save_changes(sub_agent)
            sub_agent.status = result.status
        except asyncio.CancelledError:
            await asyncio.shield(self._save_changes(sub_agent))
            raise

    def _agent_options(self, name: str, sandbox: Sandbox, permissions: Permissions | None = None) -> dict[str, Any]:
        setup = msgspec.structs.replace(self._make_setup(sandbox), permissions=permissions)
        return self._files.agent_options(name, setup)

    async def _make_worktree(self, sub_agent: SubAgent) -> None:
        repository = await asyncio.to_thread(find_repository, self._folder)
        if repository is None:
            raise ConfigurationError(
                f"{sub_agent.agent} may write, and in the background it needs a copy of the folder, which is in no git "
                "repository; use start_agent."
            )
        applied = AppliedAttempts(repository, self._data, self._limits)
        sub_agent.base = base = await asyncio.to_thread(applied.save_base)
        sub_agent.worktrees = worktrees = Worktrees(repository, self._data, self._limits)
        await asyncio.to_thread(worktrees.create, base, 1)

    async def _save_changes(self, sub_agent: SubAgent) -> None:
        worktrees, base = sub_agent.worktrees, sub_agent.base
        if worktrees is None or base is None or not worktrees.made:
            return
        worktree = worktrees.made[0]
        sub_agent.saved = saved = await asyncio.to_thread(worktree.save)
        counts = await asyncio.to_thread(worktree.checkpoints.count_lines, base, saved)
        sub_agent.files, sub_agent.added, sub_agent.removed = counts

    async def _wait_for(self, name: str, seconds: float) -> ToolOutput:
        try:
            sub_agent = self.find(name)
        except ConfigurationError as error:
            raise ToolFault(str(error), "not_found") from None
        if sub_agent.task is not None:
            await asyncio.wait([sub_agent.task], timeout=seconds)
        if sub_agent.is_running:
            return ToolOutput(content=f"{sub_agent.describe()}. It is still running.")
        sub_agent.is_reported = True
        return ToolOutput(content=report_text(sub_agent), is_error=sub_agent.status != "completed")


def report_text(sub_agent: SubAgent) -> str:
    """Return what the model is shown of a sub-agent that ended."""
    applies = "Its changes are in a copy of the folder until the person applies them with /agents apply."
    note = f"\n\n({applies})" if sub_agent.has_changes else ""
    return f"{sub_agent.describe()}\n\n{sub_agent.answer}{note}"


def report_message(sub_agent: SubAgent) -> Message:
    """Return the message that shows the model the answer of a sub-agent which ended in the background."""
    text = f"A sub-agent that you started has ended.\n{report_text(sub_agent)}"
    return Message(role="user", content=[Text(text)], said=f"!{sub_agent.name}")


def _follow(sub_agent: SubAgent, data: Any) -> None:
    match data:
        case ToolExecuting(name=name, summary=summary):
            sub_agent.activity = " ".join(f"{name} {summary}".split())[:50]
        case ExchangeResponse() if not sub_agent.is_background:
            sub_agent.status = data.status
            sub_agent.usage, sub_agent.cost_usd = data.usage, data.cost_usd
        case _:
            pass


def _restrict(permissions: Permissions | None, limit: Permissions) -> Permissions:
    """Return permissions that allow only what both allow."""
    if permissions is None:
        return limit
    from heald.tools.narrowed_permissions import NarrowedPermissions

    return NarrowedPermissions(limit, permissions)


def _summary(arguments: JsonObject) -> str:
    return f"{arguments.get('agent', '')}: {arguments.get('prompt', '')}"


async def _refuse(_: ApprovalRequested) -> Approval:
    return Approval(False, _REFUSED)
