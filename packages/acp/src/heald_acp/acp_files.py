"""The files of the workspace for an agent: `fs/read_text_file` and `fs/write_text_file`.

Every path goes through the workspace, which refuses those outside. A write belongs to a call of the agent that the
permissions allow; one that belongs to none becomes a call of its own.
"""

import asyncio
from collections.abc import Callable, Sequence

from heald.core.json import JsonObject, as_int
from heald.providers.tool_host import Outcome
from heald.tools.workspace.paths import PathFault
from heald_acp.acp_call import AcpCall
from heald_acp.agent_error import AgentError
from heald_acp.agent_folder import AgentFolder
from heald_acp.hosted_kinds import relative_path

FindCall = Callable[[Callable[[AcpCall], bool]], AcpCall | None]
"""Finds the newest open call of the agent that a request belongs to."""
BeginCall = Callable[[JsonObject], AcpCall]
"""Begins a call that Heald runs for the agent."""
_WRITES = ("edit", "delete", "move")
_READS = ("read", "search", *_WRITES)


class AcpFiles:
    """Reads and writes files of a workspace for an agent."""

    def __init__(
        self,
        folder: AgentFolder,
        find_call: FindCall,
        begin_call: BeginCall,
        find_refusal: Callable[[str, JsonObject], str | None],
    ) -> None:
        self._folder = folder
        self._find_call = find_call
        self._begin_call = begin_call
        self._find_refusal = find_refusal

    async def read(self, params: JsonObject) -> JsonObject:
        """Read a file, or some of its lines. What a call in progress may not read is refused."""
        path = self._path(params)
        refusal = self._find_refusal("acp_read", {"path": path})
        if refusal is not None:
            call = self._find_call(lambda call: self._names(call, _READS, path))
            if call is None or not await call.decision:
                raise AgentError(refusal)
        text = await asyncio.to_thread(self._folder.files.read_text, path)
        first, limit = as_int(params.get("line")), as_int(params.get("limit"))
        if first is None and limit is None:
            return {"content": text}
        lines = text.splitlines(keepends=True)[max((first or 1) - 1, 0) :]
        return {"content": "".join(lines if limit is None else lines[: max(limit, 0)])}

    async def write(self, params: JsonObject) -> JsonObject:
        """Write a file, when the call that it belongs to is permitted."""
        path, content = self._path(params), str(params.get("content") or "")
        call = self._find_call(lambda call: self._names(call, _WRITES, path))
        if call is None:
            arguments: JsonObject = {"path": path, "content": content}
            call = self._begin_call({"kind": "edit", "title": f"Write {path}", "rawInput": arguments})
        if not await call.decision:
            raise AgentError("This write is not permitted.")
        hosted = call.hosted
        assert hosted is not None
        try:
            await asyncio.to_thread(self._folder.write, path, content, hosted.on_change)
        except PathFault as fault:
            if call.is_own:
                call.finish(Outcome(str(fault), is_error=True))
            raise
        if call.is_own:
            call.finish(Outcome(f"{path} is written."))
        return {}

    def _names(self, call: AcpCall, kinds: Sequence[str], path: str) -> bool:
        """Whether a call of one of these kinds names a path."""
        root = self._folder.root
        return call.report.kind in kinds and path in [relative_path(root, name) for name in call.report.paths]

    def _path(self, params: JsonObject) -> str:
        name = str(params.get("path") or "")
        path = relative_path(self._folder.root, name)
        if path is None:
            raise AgentError(f"{name[:200]!r} is outside of the workspace; name a file in {self._folder.root}.")
        return path
