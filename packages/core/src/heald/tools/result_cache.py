"""Caches the results of pure tools, for as long as the files that they read stay as they were.

A cached result is checked against the workspace before each use, so that a write by a tool, by a command or by anyone
else invalidates it. A file on disk whose identity (device, inode, size, times) is unchanged is not read for the check.
"""

import asyncio
from collections import OrderedDict
from typing import Any, cast

import msgspec

from heald.core.json import JsonObject
from heald.tools.approvals import digest_of
from heald.tools.tool_output import Parts, ToolOutput
from heald.tools.watched_workspace import Observed, WatchedWorkspace, WorkspaceAccess, is_unchanged
from heald.tools.workspace.base import Workspace

_MAX_CHARACTERS = 32_000_000
_MAX_ALL_ACCESSES = 200_000
_DIGEST_LENGTH = 64


class _Cached(msgspec.Struct, frozen=True):
    seen: dict[WorkspaceAccess, Observed]
    value: Any
    size: int


class ResultCache:
    """An LRU cache of results, keyed by tool and arguments. Its memory is bounded."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._kept: OrderedDict[str, _Cached] = OrderedDict()
        self._running: dict[str, asyncio.Future[None]] = {}

    async def find(self, name: str, arguments: JsonObject, workspace: Workspace) -> tuple[bool, Any]:
        """Return whether a valid result is cached, and the result. A call that runs with equal arguments is awaited."""
        key = digest_of(name, arguments, workspace.root)
        while (running := self._running.get(key)) is not None:
            await asyncio.shield(running)
        self._running[key] = asyncio.get_running_loop().create_future()
        cached = self._kept.get(key)
        if cached is None:
            return False, None
        try:
            valid = await asyncio.to_thread(is_unchanged, workspace, cached.seen)
        except BaseException:
            self.finish(name, arguments, workspace)
            raise
        if not valid:
            self._kept.pop(key, None)
            return False, None
        if key in self._kept:
            self._kept.move_to_end(key)
        _remember_reads(workspace, cached.seen)
        self.finish(name, arguments, workspace)
        return True, cached.value

    def store(self, name: str, arguments: JsonObject, workspace: WatchedWorkspace, value: Any) -> None:
        if not workspace.is_complete:
            return
        key = digest_of(name, arguments, workspace.root)
        self._kept[key] = _Cached(workspace.seen, value, _size(value))
        self._kept.move_to_end(key)
        while self._kept and self._is_full():
            self._kept.popitem(last=False)

    def finish(self, name: str, arguments: JsonObject, workspace: Workspace) -> None:
        """Let equal calls that wait go on. Every `find` is followed by it."""
        running = self._running.pop(digest_of(name, arguments, workspace.root), None)
        if running is not None and not running.done():
            running.set_result(None)

    def _is_full(self) -> bool:
        return (
            len(self._kept) > self._size
            or sum(cached.size for cached in self._kept.values()) > _MAX_CHARACTERS
            or sum(len(cached.seen) for cached in self._kept.values()) > _MAX_ALL_ACCESSES
        )


def _remember_reads(workspace: Workspace, seen: dict[WorkspaceAccess, Observed]) -> None:
    """Mark the contents as seen, which a later write is compared with: the model is shown them now."""
    for what, observed in seen.items():
        if what[0] == "read" and what[3] == "True" and len(observed.digest) == _DIGEST_LENGTH:
            workspace.remember(what[1], observed.digest)


def _size(value: Any) -> int:
    content: Parts | Any = value.content if isinstance(value, ToolOutput) else value
    if isinstance(content, str | bytes):
        return len(content)
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        return sum(len(getattr(part, "text", None) or getattr(part, "data", None) or "") for part in parts)
    return len(repr(content))
