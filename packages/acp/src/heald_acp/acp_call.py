"""A call of an agent on both sides: what the agent reports of it, and what Heald decides.

Either side may know a call first. A reader waits for the missing part; the end of the conversation wakes all readers.
"""

import asyncio
from collections.abc import Callable

from heald.agent.hosted_call import HostedCall
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.providers.tool_host import Outcome
from heald_acp.hosted_kinds import UNASKED
from heald_acp.relative_text import relative_arguments
from heald_acp.updates import DONE, ReportedCall


class AcpCall:
    """One call, from the first report until its outcome."""

    def __init__(self, report: ReportedCall, *, is_own: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self.report = report
        self.is_own = is_own
        """Whether it is Heald that runs it: a file or a terminal that the agent asked for outside of a call."""
        self.outlasts_prompt = False
        """Whether it can still be decided on when the agent has answered: the agent has done its part."""
        self.call_id = new_id("call")
        """Its id in the log, if it runs inside of another call."""
        self.asked = False
        """Whether it waits for Heald's decision."""
        self.published = False
        """Whether it is in the log, or about to be."""
        self.unasked = False
        """Whether it ran although the permissions do not allow it without a question."""
        self.decision: asyncio.Future[bool] = loop.create_future()
        """Whether it may run."""
        self.outcome: asyncio.Future[Outcome | None] = loop.create_future()
        """Its outcome; None if that stays unknown."""
        self.hosted: HostedCall | None = None
        """The running call of the log, once it is permitted."""
        self.on_output: Callable[[str], object] | None = None
        self.arguments: JsonObject = {}
        """The arguments in the log."""
        self.contents: dict[str, bytes | None] = {}
        """The contents of the files that it names, before it runs."""
        self._sent_output = ""

    @property
    def name(self) -> str:
        return f"{self.report.name}{UNASKED}" if self.unasked else self.report.name

    @property
    def is_done(self) -> bool:
        """The agent has finished it, so nothing waits for a decision."""
        return self.report.status in DONE or self.outcome.done()

    @property
    def is_open(self) -> bool:
        """It has no outcome yet."""
        return not self.outcome.done()

    def publish(self, hidden_root: str) -> None:
        """Fix its arguments: it is put into the log. Paths below `hidden_root` are relative there."""
        self.published, self.arguments = True, relative_arguments(self.report.arguments(), hidden_root)

    def show_progress(self) -> None:
        """Pass on the output that the agent has added to its report."""
        report = self.report
        if self.on_output is None or report.status in DONE or not (report.content or report.terminal):
            return
        content = report.outcome().content
        if isinstance(content, str) and content.startswith(self._sent_output):
            self.on_output(content[len(self._sent_output) :])
            self._sent_output = content

    def decide(self, allowed: bool) -> None:
        if not self.decision.done():
            self.decision.set_result(allowed)

    def finish(self, outcome: Outcome | None) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def end(self) -> None:
        """Wake all readers: nothing more will be known."""
        self.decide(False)
        self.finish(None)
