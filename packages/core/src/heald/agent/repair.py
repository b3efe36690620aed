"""Repairs code from a report of tests: asks a small model for one version after the other, and runs what the report
holds of the tests on each before it is written.

A model that sees its own code again tends to repeat it. So it sees the code, or the code with empty functions and what
must hold as examples, in turns, and none of its earlier answers.
"""

from collections.abc import Mapping, Sequence

from heald.agent.emptied_code import empty_bodies
from heald.core.messages import ToolCall
from heald.tools.diagnostics.statement_runs import StatementRun, run_statements
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import sandbox_of
from heald.wires.pytest_report import FailedTest, describe_failure, summarize_examples, summarize_failures

MOST_VERSIONS = 3
FAILS = (
    "This is what the file holds, and it fails:\n- {failure}\nFind the line that is wrong for this case, and write the complete file "
    "with that line changed."
)
AFRESH = (
    "The code that was there fails, for example:\n- {failure}\nIts functions are empty now. Write the complete file "
    "anew, in another way, so that these tests pass."
)


class Repair:
    """The versions of one exchange whose request holds a report of tests."""

    def __init__(self, runtime: ToolRuntime, failures: Sequence[FailedTest]) -> None:
        self._runtime = runtime
        self._reported = failures
        self._statements = [failure.source for failure in failures if failure.source]
        self._written: list[StatementRun] = []  # on the version that was written last
        self._candidates: dict[str, list[StatementRun]] = {}  # by call
        self.versions = 1
        """The versions that were asked for."""
        self._tried_paths: list[str] = []  # that the model has written, or tried to
        self.emptied_paths: list[str] = []
        """The files that the model sees with empty functions."""

    @property
    def summary(self) -> str:
        """What the model sees instead of the report; empty for its failures."""
        if self.emptied_paths and self._statements:
            failing = [run.statement for run in self._written if not run.passes]
            return summarize_examples(list(dict.fromkeys([*failing, *self._statements])))
        failures = self._failures()
        return "" if failures is self._reported else summarize_failures(failures)

    async def try_calls(self, calls: Sequence[ToolCall], paths: Sequence[str]) -> None:
        """Run the statements on the files of Python that an answer would write. It tries to write `paths`."""
        self._tried_paths = list(paths)
        sandbox = self._find_sandbox()
        root = self._runtime.workspace.root
        if sandbox is None or not root or not self._statements:
            return
        for call in calls:
            path, content = call.input.get("path"), call.input.get("content")
            if isinstance(path, str) and path.endswith(".py") and isinstance(content, str):
                self._candidates[call.id] = await run_statements(sandbox, root, path, content, self._statements)

    def refuse(self, call: ToolCall) -> str | None:
        """Return why a file is not written: of the statements fewer pass than on what is there."""
        passed = _count_passed(self._candidates.get(call.id, ()))
        before = _count_passed(self._written)
        return None if passed >= before else f"{passed} of the statements pass, and {before} on what is there"

    def note_written(self, ids: Sequence[str]) -> None:
        """Keep what became of the statements on the files of these calls, which were written."""
        for call in ids:
            self._written = self._candidates.get(call, self._written)

    @property
    def fails(self) -> bool:
        """Whether a statement is known to fail on what was written."""
        return any(not run.passes for run in self._written)

    def ask_again(self, texts: Mapping[str, str]) -> str | None:
        """Return the request for another version of the files that the model sees; None after the last one."""
        failures = self._failures()
        if self.versions >= MOST_VERSIONS:
            return None
        self.versions += 1
        code = [path for path in texts if path.endswith(".py")]
        tried = self._tried_paths or (code if len(code) == 1 else [])
        paths = [path for path in tried if empty_bodies(path, texts.get(path, ""))]
        self.emptied_paths = [] if self.emptied_paths else paths
        return (AFRESH if self.emptied_paths else FAILS).format(failure=failures[0])

    def _failures(self) -> Sequence[FailedTest]:
        """What fails on the last version: by the statements that ran on it, or by the report."""
        runs = [run for run in self._written if not run.passes]
        if not runs:
            return self._reported
        names = {failure.source: failure.name for failure in self._reported}
        described = [(run, *describe_failure(run.statement, run.fault.split("\n")[:1])) for run in runs]
        return [FailedTest(names.get(run.statement, ""), words, fault) for run, words, fault in described]

    def _find_sandbox(self) -> Sandbox | None:
        """The sandbox of commands, if the model may run one without a question."""
        tool = self._runtime.registry.find("run_command")
        if tool is None or tool.on_client or not self._runtime.may_show(tool, {"command": "python3"}):
            return None
        return sandbox_of(tool)


def _count_passed(runs: Sequence[StatementRun]) -> int:
    return sum(run.passes for run in runs)
