"""Checks the calls of a model that writes files as text, before they run, against the files that are there."""

from collections.abc import Mapping

from msgspec.structs import replace

from heald.agent.emptied_code import find_emptied
from heald.core.json import JsonObject, as_objects
from heald.core.messages import ToolCall
from heald.tools.files.hunks import apply_hunks
from heald.tools.files.patch import read_patch
from heald.tools.files.syntax import find_syntax_problem
from heald.tools.files.text_matches import replace_text
from heald.tools.files.written_file import judge_change, judge_file
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.base import Workspace

WRITING_TOOLS = frozenset({"write_file", "create_file", "edit_file", "apply_patch"})
_COMPLETE = "so it was not written. Write the complete file, with everything that stays as it is."
_ANSWER = "The request asks for an answer and for no change, so no file was written. Answer in words."


class AnswerCheck:
    """The calls of one answer. Each is judged against the files as the calls before it leave them.

    `files` are those that the model was shown, `emptied` those of which it was shown no bodies of functions.
    """

    def __init__(
        self,
        workspace: Workspace,
        request: str,
        files: Mapping[str, str],
        *,
        may_write: bool,
        emptied: Mapping[str, str] = {},
    ) -> None:
        self._workspace = workspace
        self._request = request
        self._shown_files = files
        self._may_write = may_write
        self._emptied = emptied
        self._after: dict[str, str] = {}  # files as the calls of this answer leave them
        self.quotations: set[str] = set()
        """The calls that only quote a file."""
        self.examples: set[str] = set()
        """The calls that only use a file that the answer has written."""
        self.refusals: dict[str, str] = {}
        """Why calls were refused, without a full stop."""

    def check(self, call: ToolCall) -> ToolCall | ToolFault:
        """Return the call that is run: the same, or one with the whole file where a part of it was written."""
        if call.name not in WRITING_TOOLS:
            return call
        if not self._may_write:
            return ToolFault(_ANSWER, status="invalid_input")
        try:
            if call.name == "edit_file":
                return self._check_edits(call)
            return self._check_patch(call) if call.name == "apply_patch" else self._check_file(call)
        except ToolFault:
            return call  # its tool reports the fault

    def _check_file(self, call: ToolCall) -> ToolCall | ToolFault:
        path, content = self._path_of(call), call.input.get("content")
        if path is None or not isinstance(content, str):
            return call
        others = {other: text for other, text in self._shown_files.items() if other != path}
        before = self._read(path)
        if path in self._after and _only_uses(path, self._after[path], content):
            self.examples.add(call.id)
            return self._refuse(call, f"What was written as {path} after its code is an example of its use")
        judgement = judge_file(path, self._emptied.get(path) or before, content, self._request, others)
        if judgement.refusal:
            if judgement.is_quotation:
                self.quotations.add(call.id)
            return self._refuse(call, judgement.refusal)
        if path in self._emptied and (fault := find_emptied(path, before or "", judgement.text)) is not None:
            return self._refuse(call, fault)
        self._after[path] = judgement.text
        arguments: JsonObject = {**call.input, "content": judgement.text}
        return replace(call, input=arguments)

    def _check_edits(self, call: ToolCall) -> ToolCall | ToolFault:
        path = self._path_of(call)
        before = None if path is None else self._read(path)
        if path is None or before is None:
            return call
        after = before
        for edit in as_objects(call.input.get("edits")) or [call.input]:
            old, new, count = edit.get("old_text"), edit.get("new_text"), edit.get("count", 1)
            if not isinstance(old, str) or not isinstance(new, str) or not isinstance(count, int):
                return call
            after = replace_text(after, old, new, count=count)
        return self._check_change(call, {path: (before, after)})

    def _check_patch(self, call: ToolCall) -> ToolCall | ToolFault:
        changes: dict[str, tuple[str, str]] = {}
        patch = call.input.get("patch")
        for file in read_patch(patch) if isinstance(patch, str) else ():
            path = self._workspace.normal(file.path)
            before = self._read(path)
            if file.added is None and before is not None:
                changes[path] = before, "" if file.deletes else apply_hunks(before, file.hunks, path)
        return self._check_change(call, changes)

    def _check_change(self, call: ToolCall, changes: Mapping[str, tuple[str, str]]) -> ToolCall | ToolFault:
        for path, (before, after) in changes.items():
            if (fault := judge_change(path, before, after, self._request)) is not None:
                return self._refuse(call, fault)
        self._after |= {path: after for path, (_, after) in changes.items()}
        return call

    def _path_of(self, call: ToolCall) -> str | None:
        path = call.input.get("path")
        return self._workspace.normal(path) if isinstance(path, str) else None

    def _read(self, path: str) -> str | None:
        if path in self._after:
            return self._after[path]
        return self._workspace.read_text(path, remember=False) if self._workspace.exists(path) else None

    def _refuse(self, call: ToolCall, reason: str) -> ToolFault:
        self.refusals[call.id] = reason
        return ToolFault(f"{reason}, {_COMPLETE}", status="invalid_input")


def _only_uses(path: str, before: str, written: str) -> bool:
    """Whether a second block of an answer is no other version of a file of Python but an example of its use."""
    from heald.agent.unfinished_function import definitions

    if not path.endswith(".py") or find_syntax_problem(path, before) or find_syntax_problem(path, written):
        return False
    had = definitions(before)
    return bool(had) and not had & definitions(written)
