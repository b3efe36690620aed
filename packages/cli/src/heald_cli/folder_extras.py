"""Collects what a folder and the user's settings add to an agent, for `run`, `chat`, `acp` and `serve` alike.

These are the trusted notes for agents, the trusted skills, the hooks, the map of the code with the state of the git
repository, and the edit format that `heald conform` kept for the model.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heald.agent.agent import Agent
from heald.agent.folder_extras import FolderExtras
from heald.agent.outside_changes import OutsideChanges
from heald.agent.overview import Overview
from heald.config.paths import data_path
from heald.tools.registry import ToolLike
from heald.tools.runtime import Invocation, Middleware, Next
from heald_cli.edit_formats import use_stored_format
from heald_cli.folder_files import folder_hooks, usable_folders
from heald_cli.subfolder_notes import SubfolderNotes

if TYPE_CHECKING:
    from heald.tools.diagnostics.edit_checks import EditChecks
    from heald.tools.memory.fact_books import FactBooks


class ExtrasCollector:
    """Collects what folders add to agents. Hooks are read once for each folder, so that a changed script is noticed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._before: Sequence[str] = options.hooks_before
        self._after: Sequence[str] = options.hooks_after
        self._has_map: bool = options.repo_map
        self._shown_folders = [Path(name).expanduser().resolve() for name in options.secrets_show_in]
        self._has_checks: bool = options.checks
        self._is_unsandboxed = bool(getattr(options, "unsandboxed", False))
        self._checks: dict[str, Middleware] = {}
        self._has_memory: bool = options.memory
        self._data: str | None = getattr(options, "data", None)
        self._hooks: dict[tuple[str | None, str | None], tuple[Middleware, ...]] = {}

    def read_hooks(self, folder: str | None, worktree: str | None = None) -> tuple[Middleware, ...]:
        """Read the hooks of the user and of the folder, with the scripts that they name in the folder or its copy.

        Raises ConfigurationError for a faulty one.
        """
        if (folder, worktree) not in self._hooks:
            self._hooks[folder, worktree] = (
                *self._read_own_hooks(worktree or folder),
                *(_read_claude_hooks(folder, worktree or folder) if folder else ()),
            )
        return self._hooks[folder, worktree]

    def _read_own_hooks(self, folder: str | None) -> Sequence[Middleware]:
        if not self._before and not self._after:
            return ()
        from heald.tools.hooks import ToolHooks  # only some users have hooks

        return (ToolHooks(self._before, self._after, folder=folder),)

    def open_memory(self, folder: str, owner: str = "") -> "FactBooks | None":
        """Return the facts about a folder and about the owner of sessions, unless the user wants none."""
        if not self._has_memory:
            return None
        from heald.tools.memory.book import MemoryBook, book_path
        from heald.tools.memory.fact_books import FactBooks

        data, place = data_path(self._data), str(Path(folder).resolve())
        person = MemoryBook(book_path(data, owner, None), letter="p")
        return FactBooks(MemoryBook(book_path(data, owner, place), folder=place), person)

    def recall_facts(self, agent: Agent, folder: str) -> None:
        """Give an agent the facts that conversations noted, if there are any. It notes none itself."""
        if not self._has_memory or not (data_path(self._data) / "memory").is_dir():
            return
        books = self.open_memory(folder)
        if books is not None and books.facts():
            from heald.agent.memory import MemoryStrategy

            agent.add_strategy(MemoryStrategy(books, notes=False))

    def collect(
        self,
        folder: str | None,
        instructions: str = "",
        *,
        has_tools: bool = True,
        worktree: str | None = None,
        names_changes: bool = True,
        memory: "FactBooks | None" = None,
    ) -> FolderExtras:
        """Collect what a folder adds to an agent with these instructions. An agent without a folder gets hooks only.

        `worktree` is a copy of the folder that the agent works in: hooks run there, and the user's trust in the folder
        counts for it. `names_changes` names the files that others change between two exchanges; a chat sends its own
        description of them. `memory` has the facts that the agent is given, and may note.
        """
        hooks = self.read_hooks(folder, worktree)
        notes, skills, tools = _read_folder(folder, has_tools=has_tools) if folder else ("", "", ())
        subfolders = SubfolderNotes(folder) if folder and has_tools else None
        texts = (instructions, notes, subfolders.describe() if subfolders is not None else "", skills)

        def equip(agent: Agent, model: object) -> None:
            if folder:
                agent.add_strategy(Overview(describe_folder(agent, has_map=self._has_map)))
            if folder and has_tools and names_changes:
                agent.add_strategy(OutsideChanges())
            if memory is not None:
                from heald.agent.memory import MemoryStrategy

                agent.add_strategy(MemoryStrategy(memory))
            use_stored_format(agent, model)

        return FolderExtras(
            instructions=tuple(text for text in texts if text),
            tools=(*tools, *memory.tools) if memory is not None and has_tools else tools,
            middleware=(
                *hooks,
                *((subfolders.start().run_around,) if subfolders else ()),
                *(self._find_checks(worktree or folder) if folder and has_tools else ()),
            ),
            shows_secrets=folder is not None and self._shows_secrets(Path(folder).resolve()),
            equip=equip,
        )

    def _find_checks(self, folder: str) -> Sequence[Middleware]:
        """Return the checks after an edit, one for each folder. They load nothing before the first edit."""
        if not self._has_checks:
            return ()
        if folder not in self._checks:
            self._checks[folder] = LazyChecks(unsandboxed=self._is_unsandboxed)
        return (self._checks[folder],)

    def _shows_secrets(self, folder: Path) -> bool:
        """Return whether the user lets models see the secrets of a folder."""
        return any(folder.is_relative_to(shown_folder) for shown_folder in self._shown_folders)


class LazyChecks:
    """The checks of edits in one folder (middleware). They are loaded with the first call that changes a file."""

    def __init__(self, *, unsandboxed: bool) -> None:
        self._is_unsandboxed = unsandboxed
        self._checks: EditChecks | None = None

    async def __call__(self, invocation: Invocation, run: Next) -> Any:
        """Run a call, and check the files that it changed."""
        if invocation.tool.effect != "write":
            return await run(invocation)
        if self._checks is None:
            from heald.tools.diagnostics.edit_checks import EditChecks
            from heald.tools.shell.sandbox import Sandbox

            self._checks = EditChecks(Sandbox(unsandboxed=self._is_unsandboxed))
        return await self._checks.run_around(invocation, run)


def _read_folder(folder: str, *, has_tools: bool) -> tuple[str, str, tuple[ToolLike, ...]]:
    """Return the notes of a folder, the description of its skills and the tool that reads them."""
    from heald_cli.project_notes import read_notes
    from heald_cli.project_skills import describe_skills, load_skills, skill_tool

    skills = load_skills(folder) if has_tools else []
    return read_notes(folder), describe_skills(skills), (skill_tool(skills),) if skills else ()


def _read_claude_hooks(folder: str, root: str | None) -> Sequence[Middleware]:
    """Return the hooks of trusted `.claude` folders."""
    hooks = [hook for place in usable_folders(folder) for hook in folder_hooks(place)]
    if not hooks:
        return ()
    from heald.tools.claude_hooks import ClaudeHooks

    return (ClaudeHooks(hooks, root or folder),)


def list_untrusted(folders: Sequence[str]) -> list[str]:
    """Return a sentence for the notes, commands and skills of each folder that the user has not decided about."""
    from heald_cli.trusted_paths import describe_trusted, undecided_paths

    return [
        f"{describe_trusted(path)} has no effect, because it is not trusted; `heald trust {folder}` decides that."
        for folder in folders
        for path in undecided_paths(folder)
    ]


def describe_folder(agent: Agent, *, has_map: bool) -> Callable[[int], str]:
    """Return the function that describes an agent's folder: the state of its repository, then the map of its code."""
    from heald.tools.git.repository import find_repository
    from heald_cli.repository.map import RepositoryMap, count_map_tokens
    from heald_cli.repository.status import describe_repository

    code = RepositoryMap(agent.workspace, agent.may_show) if has_map else None

    @cache
    def read_state() -> str:
        repository = find_repository(agent.workspace.root)
        return describe_repository(repository) if repository is not None else ""

    def describe(tokens: int) -> str:
        state = read_state()
        drawn = code.render(tokens - count_map_tokens(state)) if code is not None else ""
        return "\n\n".join(part for part in (state, drawn) if part)

    return describe
