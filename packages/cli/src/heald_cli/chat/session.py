"""The stored session behind `heald chat`: begin, resume, undo, cost."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.agent_files import AgentSetup
from heald.agent.folder_extras import FolderExtras
from heald.agent.model_chain import ModelLike
from heald.agent.result import AgentResult
from heald.commands.amounts import format_usd
from heald.commands.model_options import complete_model
from heald.commands.stores import list_sessions
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ExchangeResponse, FileChanged
from heald.core.turn import Usage
from heald.sessions.resumption import DEFAULT_AFTER_CRASH, AfterCrash
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald.sessions.store_errors import StoreError
from heald.tools.families import ALL, named_tools
from heald.tools.git.program import GitFailed
from heald.tools.memory.fact_books import FactBooks
from heald.tools.permissions import Permissions
from heald.tools.registry import ToolLike
from heald.tools.shell.background_commands import BackgroundCommand, BackgroundCommands
from heald.tools.shell.sandbox import Sandbox
from heald.tools.workspace.diff import unified_diff
from heald_cli.agent_tools import AgentTools
from heald_cli.chat.modes import ChatMode, mode_of, next_mode, switch_mode
from heald_cli.chat.work_cost import WorkCost
from heald_cli.edit_formats import describe_format
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.markdown_files import MarkdownFile
from heald_cli.model_choice import check_chat_model
from heald_cli.own_tools import OwnTools
from heald_cli.project_agents import choose_agents, load_agents
from heald_cli.project_commands import load_commands
from heald_cli.project_skills import load_skills
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.repository.checkpoints import open_checkpoints
from heald_cli.repository.exchange_checkpoints import ExchangeCheckpoints
from heald_cli.repository.exchange_history import UndoableExchange, list_exchanges
from heald_cli.repository.undo import redo, undo
from heald_cli.session_kind import KIND
from heald_server.models import KnownModels

if TYPE_CHECKING:
    from heald_cli.subagents.sub_agent import SubAgent
    from heald_cli.subagents.sub_agents import SubAgents

_MAX_MODELS = 40
EventHandler = Callable[[Event], None]


class ChatSession:
    """Holds one open session between `begin` or `resume` and `close`."""

    def __init__(
        self,
        sessions: Sessions,
        models: KnownModels,
        settings: SessionSettings,
        *,
        sandbox: Sandbox,
        own_tools: OwnTools,
        on_event: EventHandler,
        data: Path,
        limits: CheckpointLimits,
        extras: ExtrasCollector,
        after_crash: AfterCrash = DEFAULT_AFTER_CRASH,
    ) -> None:
        self._sessions = sessions
        self._models = models
        self._settings = self._first_settings = settings
        self._first_mode = mode_of(settings)
        self._sandbox = sandbox
        self._own_tools = own_tools
        self._on_event = on_event
        self.data = data
        self._limits = limits
        self._extras = extras
        self.commands: list[MarkdownFile] = []
        """The commands that the user or the project wrote as markdown."""
        self.skills: list[MarkdownFile] = []
        self.memory: FactBooks | None = None
        """The facts about the person and the folder. None if the user wants none."""
        self._after_crash: AfterCrash = after_crash
        self._session: Session | None = None
        self._held: list[Event] | None = None  # events of a resumed session whose history is not shown yet
        self._opened_at = 0
        self.saved = ExchangeCheckpoints(None)
        """The checkpoints of the folder around each exchange."""
        self.sub_agents: SubAgents | None = None
        """The agents of files that the model may start. None if there are none."""
        self.kept_folders: list[str] = []
        """Worktrees of sub-agents with changes that were not applied."""
        self._ended_agents: list[SubAgent] = []  # those of the background, whose cost no exchange counts
        self._answers: list[AgentResult] = []
        self.on_agent_end: Callable[[SubAgent], object] = lambda _: None
        """Called with each sub-agent of the background that ended."""

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @property
    def model(self) -> str:
        return self._settings.model

    @property
    def edit_format_reason(self) -> str:
        """Why the model writes files as text; nothing if it calls tools."""
        return describe_format(self.session, self._settings.edit_format)

    async def wait_for_servers(self, seconds: float | None = None) -> bool:
        """Wait for MCP servers that are starting. Returns whether all have started, or failed, by then."""
        return await self._own_tools.wait_started(seconds)

    @property
    def folder(self) -> str:
        return self._settings.workspace or ""

    def find_own_command(self, name: str) -> MarkdownFile | None:
        """Return the command or skill of this name that the user or the project wrote."""
        return next((file for file in (*self.commands, *self.skills) if file.name == name), None)

    @property
    def is_busy(self) -> bool:
        return self._session is not None and self._session.current is not None

    @property
    def background_commands(self) -> list[BackgroundCommand]:
        """The commands that the model started in the background."""
        if self._session is None:
            return []
        return self._session.session_objects.get(BackgroundCommands).commands

    async def begin(self) -> None:
        """Open a new session with the settings of the start, also after one with others was resumed."""
        self.check(self._settings.model)
        settings = msgspec.structs.replace(self._first_settings, model=self._settings.model)
        info = await self._sessions.create(kind=KIND, **msgspec.structs.asdict(settings))
        earlier, saved = self._session, self.saved
        self._session = await self._open(info, settings)
        self._settings = settings
        self._forget_outside_costs()
        await self._close_session(earlier, saved)

    async def resume(self, info: SessionInfo, model: str | None = None) -> None:
        """Continue an earlier session with its settings, or with another model."""
        stored = SessionSettings.of(info.settings)
        if stored.workspace != self.folder:
            raise ConfigurationError(
                f"That session works in {stored.workspace}; run `heald chat` there to go on with it."
            )
        name = model or stored.model
        self.check(name)
        settings = msgspec.structs.replace(stored, model=name)
        self._held = []
        earlier, saved = self._session, self.saved
        try:
            opened = await self._open(info, settings)
        except BaseException:
            self._held = None
            raise
        self._opened_at = opened.last_seq
        self._session, self._settings = opened, settings
        self._forget_outside_costs()
        await self._close_session(earlier, saved)

    def _forget_outside_costs(self) -> None:
        """Begin to count anew: another conversation is open."""
        self._ended_agents, self._answers = [], []

    async def change_model(self, name: str) -> None:
        """Continue the conversation with another model, or with the former one if it cannot be opened."""
        if name != self.model:
            name = await asyncio.to_thread(complete_model, name)
        self.check(name)
        session, former = self.session, self._settings
        await session.configure(model=name)
        await session.close()
        info = await self._sessions.store.info(session.session)
        settings = msgspec.structs.replace(former, model=name)
        try:
            self._session = await self._open(info, settings)
        except HealdError:
            self._session = await self._open(info, former)
            await self._session.configure(model=former.model)
            raise
        self._settings = settings

    @property
    def mode(self) -> ChatMode:
        """What the model may do without a question."""
        return mode_of(self.session.stored_settings)

    def next_mode(self) -> ChatMode:
        """Return the mode after the current one."""
        return next_mode(self.mode, self._first_mode)

    async def set_mode(self, mode: ChatMode) -> None:
        """Continue in another mode, and begin further conversations in it."""
        await switch_mode(self.session, mode)
        stored = self.session.stored_settings
        self._settings = msgspec.structs.replace(self._settings, permissions=stored.permissions, rules=stored.rules)

    def check(self, name: str) -> None:
        """Raise if a model cannot be used for a conversation."""
        check_chat_model(self._models, name)

    def find_model(self, name: str) -> ModelLike:
        """Return the model of this name."""
        return self._models.open(name)

    async def earlier(self) -> list[SessionInfo]:
        """List earlier sessions of this folder that have events, the latest first."""
        sessions: list[SessionInfo] = []
        async for info in list_sessions(self._sessions, kind=KIND):
            here = self._session is not None and info.id == self._session.session
            if info.last_seq and not here and info.settings.get("workspace") == self.folder:
                sessions.append(info)
            if len(sessions) == 20:
                break
        return sessions

    async def events(self) -> list[Event]:
        return [event async for event in iterate_events(self._sessions.store, self.session.session)]

    async def history(self) -> list[Event]:
        """Read the events from before this process resumed the session."""
        return [event for event in await self.events() if event.seq <= self._opened_at]

    def show_events(self) -> None:
        """Show what happens in a resumed session from now on, and what still waits in it for the person."""
        held, self._held = self._held or [], None
        for event in (*self.session.waiting_events, *held):
            self._on_event(event)

    async def cost(self) -> list[str]:
        """Describe tokens and cost so far. Undone exchanges count: they were paid for."""
        await self.session.flush()
        usage, usd, asked = Usage(), 0.0, 0
        unknown = False
        for event in await self.events():
            if isinstance(event.data, ExchangeResponse):
                asked += 1
                usage += event.data.usage
                unknown |= event.data.cost_usd is None
                usd += event.data.cost_usd or 0
        inside = WorkCost(
            f"{asked} exchange{'s' * (asked != 1)} with {self.model}", usage, None if unknown else usd, usd
        )
        outside = self._outside_costs()
        lines = [f"{cost.describe()}." for cost in (inside, *outside)]
        total_usd = sum(cost.known_usd for cost in (inside, *outside))
        if outside and total_usd:
            is_least = any(cost.usd is None for cost in (inside, *outside))
            lines.append(f"Together {'at least ' * is_least}{format_usd(total_usd)}.")
        return lines

    def count_answers(self, results: Sequence[AgentResult]) -> None:
        """Count answers that a model gave outside of the conversation, such as a commit message."""
        self._answers += results

    @property
    def outside_usd(self) -> float:
        """The known cost of work beside the conversation: sub-agents in the background, commit messages."""
        return sum(cost.known_usd for cost in self._outside_costs())

    def _outside_costs(self) -> list[WorkCost]:
        agents, answers = self._ended_agents, self._answers
        costs: list[WorkCost] = []
        if agents:
            name = f"{len(agents)} sub-agent{'s' * (len(agents) != 1)} in the background"
            costs.append(WorkCost.total(name, [(agent.usage, agent.cost_usd) for agent in agents]))
        if answers:
            name = f"{len(answers)} text{'s' * (len(answers) != 1)} for commits and pull requests"
            costs.append(WorkCost.total(name, [(answer.usage, answer.cost_usd) for answer in answers]))
        return costs

    async def model_names(self) -> list[str]:
        """List the models that can be used now, the current one marked."""
        views = await asyncio.to_thread(self._models.list_models)
        names = [view.name for view in views if not view.name.startswith("local/")]
        left = len(names) - _MAX_MODELS
        listed = [f"{'*' if name == self.model else ' '} {name}" for name in names[:_MAX_MODELS]]
        return [*listed, *([f"  and {left} more; `heald models` lists all"] if left > 0 else [])]

    async def diff(self, path: str = "") -> str:
        """Return the changes of files that this conversation made, of all or of one."""
        await self.session.flush()
        first: dict[str, int] = {}
        for event in await self.events():
            if isinstance(event.data, FileChanged):
                first.setdefault(event.data.path, event.data.revision - 1)
        workspace = self.session.workspace
        diffs: list[str] = []
        for name, revision in first.items():
            if path and name != path:
                continue
            now = workspace.read(name, remember=False) if workspace.exists(name) else None
            diffs.append(unified_diff(name, workspace.content_at(name, revision), now))
        return "".join(diffs)

    async def undo(self, count: int = 1) -> list[str]:
        """Go back to before the last exchanges, and restore their files. Returns lines to print."""
        await self.session.flush()
        return await undo(self.session, await self.events(), self.saved, count)

    async def redo(self) -> list[str]:
        """Repeat what the last undo removed. Returns lines to print."""
        await self.session.flush()
        return await redo(self.session, await self.events(), self.saved)

    async def exchanges(self) -> list[UndoableExchange]:
        """List the exchanges of the conversation, without those that were undone."""
        await self.session.flush()
        return list_exchanges(await self.events())

    async def close(self) -> None:
        """Close the session. One without events is deleted."""
        session, self._session = self._session, None
        await self._close_session(session, self.saved)
        await self._close_sub_agents()

    async def _close_session(self, session: Session | None, saved: ExchangeCheckpoints) -> None:
        """Close a session that another one has replaced: keys that are typed meanwhile need one that is open."""
        if session is None:
            return
        await saved.finish()
        with suppress(StoreError):
            await session.close()
            if not (await self._sessions.store.info(session.session)).last_seq:
                await self._sessions.delete(session.session)

    async def _open(self, info: SessionInfo, settings: SessionSettings) -> Session:
        model = self._models.open(settings.model)
        if settings.agent or not settings.tools:
            await self._own_tools.wait_started()  # an agent may name their tools
        tools = [*named_tools(settings.tools, self._sandbox), *self._own_tools.sources()]
        folder = self.folder if settings.sees_folder else None
        saved = ExchangeCheckpoints(None)
        if folder is not None:
            saved = await asyncio.to_thread(_open_checkpoints, folder, info.id, self.data, self._limits)
        self.commands, self.skills = load_commands(self.folder), load_skills(self.folder)
        self.memory = self._extras.open_memory(folder) if folder is not None else None
        extras = self._extras.collect(
            folder, settings.instructions, has_tools=bool(tools), names_changes=False, memory=self.memory
        )
        sub_agents = self._find_sub_agents(settings, model, tools, extras)
        session = await self._sessions.open(
            info.id,
            **self._agent_options(settings, model, [*tools, *sub_agents.tools()] if sub_agents else tools, extras),
            after_crash=self._after_crash,
            middleware=[saved.wait_until_saved, *extras.middleware],
        )
        extras.complete(session, model)
        await session.find_edit_format()
        session.subscribe(saved.on_event)
        session.subscribe(self._receive)
        self.saved = saved
        await self._close_sub_agents()
        self.sub_agents = sub_agents
        if sub_agents is not None:
            session.subscribe(sub_agents.on_event)
        return session

    def _find_sub_agents(
        self, settings: SessionSettings, model: ModelLike, tools: Sequence[ToolLike], extras: FolderExtras
    ) -> "SubAgents | None":
        """Return the agents of files that the model may start. A conversation without tools or without a folder, and
        one of an agent of a file, has none."""
        files = load_agents(self.folder) if tools and settings.sees_folder and not settings.agent else None
        if files is None or not files.by_name:
            return None
        from heald_cli.subagents.sub_agents import SubAgents

        def make_setup(sandbox: Sandbox) -> AgentSetup:
            builtin = named_tools(settings.tools, sandbox)
            agent_tools = AgentTools(
                [*builtin, *self._own_tools.sources()],
                self._own_tools,
                sandbox,
                folder_tools=extras.tools,
                is_limited=ALL not in settings.tools,
            )
            return AgentSetup(
                model=model,
                open_model=self._models.open,
                find_tools=agent_tools.find,
                instructions=extras.instructions,
            )

        sub_agents = SubAgents(
            files,
            self.folder,
            self.data,
            self._limits,
            make_setup,
            lambda worktree: self._extras.collect(self.folder, worktree=worktree, names_changes=False),
            unsandboxed=self._sandbox.unsandboxed,
        )
        sub_agents.on_end = self._report_agent
        return sub_agents

    def _report_agent(self, sub_agent: "SubAgent") -> None:
        """Show the model the answer of a sub-agent that ended in the background, unless it waits for it itself."""
        from heald_cli.subagents.sub_agents import report_message

        self._ended_agents.append(sub_agent)
        self.on_agent_end(sub_agent)
        if self._session is not None and not sub_agent.is_reported and sub_agent.status != "cancelled":
            self._session.notify_model(report_message(sub_agent))

    async def _close_sub_agents(self) -> None:
        sub_agents, self.sub_agents = self.sub_agents, None
        self.kept_folders += await sub_agents.close() if sub_agents is not None else []

    def _agent_options(
        self, settings: SessionSettings, model: ModelLike, tools: Sequence[ToolLike], extras: FolderExtras
    ) -> dict[str, Any]:
        """Return the options of the agent: of the one that is defined in a file, if the settings name one."""
        if not settings.agent:
            return {
                "model": model,
                "tools": [*tools, *extras.tools],
                "instructions": list(extras.instructions),
            }
        agent_tools = AgentTools(
            tools, self._own_tools, self._sandbox, folder_tools=extras.tools, is_limited=ALL not in settings.tools
        )
        setup = AgentSetup(
            model=model,
            is_model_fixed=True,  # it was chosen when the conversation began
            open_model=self._models.open,
            find_tools=agent_tools.find,
            instructions=extras.instructions,
            permissions=Permissions(settings.mode(), settings.rules),
            budget=settings.budget,
        )
        return choose_agents(settings.agent, self.folder).agent_options(settings.agent, setup)

    def _receive(self, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
        else:
            self._on_event(event)


def _open_checkpoints(folder: str, session: str, data: Path, limits: CheckpointLimits) -> ExchangeCheckpoints:
    """Return the checkpoints of a session, if its folder is in a repository, and delete those of forgotten ones."""
    checkpoints = open_checkpoints(folder, session, data, limits)
    deleted = 0
    if checkpoints is not None:
        with suppress(GitFailed, OSError):
            deleted = checkpoints.delete_old()
    return ExchangeCheckpoints(checkpoints, deleted)
