"""Takes what an agent writes into its copy of a project over into the project, while it works and at its end.

A change belongs to the call that it is an effect of: to a permitted call that covers the file, while that call runs. A
change that no call covers becomes a call of its own, which the permissions decide on like on all calls.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from heald.core.json import JsonObject
from heald.providers.tool_host import Outcome
from heald_acp.acp_call import AcpCall
from heald_acp.project_copy import ProjectCopy

_PAUSE_SECONDS = 0.3
_MAX_NAMED = 5

BeginCall = Callable[[JsonObject], AcpCall]
"""Begins a call that Heald runs for the agent."""


class FolderWatch:
    """Watches the copy of a project for one conversation."""

    def __init__(
        self,
        copy: ProjectCopy,
        *,
        find_running: Callable[[], Sequence[AcpCall]],
        has_open_calls: Callable[[], bool],
        begin_call: BeginCall,
    ) -> None:
        self._copy = copy
        self._find_running = find_running
        self._has_open_calls = has_open_calls
        self._begin_call = begin_call
        self._publishing = asyncio.Lock()
        """Held while changes are published: a call does not end meanwhile."""
        self._stopped = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch, for a prompt."""
        if self._task is None:
            self._stopped.clear()
            self._task = asyncio.create_task(self._watch(), name="heald-acp-folder")

    async def stop(self) -> None:
        """Stop watching. What is being published is published."""
        self._stopped.set()
        task, self._task = self._task, None
        if task is not None:
            await asyncio.wait([task])

    async def end_call(self, call: AcpCall) -> list[str]:
        """Publish what a call has changed, before it has its result. Returns why files were refused."""
        return await _run_to_end(self._end_call(call))

    async def end_prompt(self) -> None:
        """Publish what no call covers, when the agent has answered."""
        async with self._publishing:
            paths = await asyncio.to_thread(self._copy.changed_paths, settled=False)
            refusals = await asyncio.to_thread(self._copy.new_refusals)
        if paths or refusals:
            await self._publish_unclaimed(paths, refusals)

    async def _end_call(self, call: AcpCall) -> list[str]:
        async with self._publishing:
            await asyncio.to_thread(self._publish_claimed, call)
            return await asyncio.to_thread(self._copy.new_refusals)

    async def _watch(self) -> None:
        while not self._stopped.is_set():
            async with self._publishing:
                paths = await asyncio.to_thread(self._copy.changed_paths, settled=True)
                for call in reversed(self._find_running()):
                    claimed = [path for path in paths if self._copy.claims(call, path)]
                    if claimed and call.hosted is not None and call.is_open:
                        await asyncio.to_thread(self._copy.publish, claimed, call.hosted.on_change)
                        paths = [path for path in paths if path not in claimed]
            if paths and not self._has_open_calls():
                await self._publish_unclaimed(paths, [])
            try:
                await asyncio.wait_for(self._stopped.wait(), _PAUSE_SECONDS)
            except TimeoutError:
                continue

    def _publish_claimed(self, call: AcpCall) -> None:
        if call.hosted is None:
            return
        paths = [path for path in self._copy.changed_paths(settled=False) if self._copy.claims(call, path)]
        self._copy.publish(paths, call.hosted.on_change)

    async def _publish_unclaimed(self, paths: Sequence[str], refusals: Sequence[str]) -> None:
        names = ", ".join(paths[:_MAX_NAMED]) + (" …" if len(paths) > _MAX_NAMED else "")
        title = f"Write {names}" if paths else "Files that the project cannot hold"
        call = self._begin_call({"kind": "edit", "title": title, "rawInput": {"paths": list(paths)}})
        if not await call.decision or call.hosted is None:
            await asyncio.to_thread(self._copy.decline, paths)
            return
        async with self._publishing:
            await asyncio.to_thread(self._copy.publish, paths, call.hosted.on_change)
            refusals = [*refusals, *await asyncio.to_thread(self._copy.new_refusals)]
        text = f"{len(paths)} file{'s' * (len(paths) != 1)} written without a call: {names}." if paths else ""
        call.finish(Outcome("\n".join([*([text] if text else []), *refusals]), is_error=not paths))


async def _run_to_end(work: Coroutine[Any, Any, list[str]]) -> list[str]:
    """Run it to its end also if the caller is cancelled: half of the changes are none of the log."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
