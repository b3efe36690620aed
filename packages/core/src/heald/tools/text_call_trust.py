"""Whether the calls that a model writes as text are its own: what a session has shown, and what a person has approved.

A text that a model quotes may hold a call. So a text counts as none once the endpoint has reported a call itself, and
the first text call of a session that does more than read waits for an approval.
"""

import asyncio

from heald.core.events import ApprovalRequested, ApprovalResolved, AssistantMessage, SessionForked
from heald.core.messages import Message, ToolCall
from heald.core.payload import Payload
from heald.tools.permissions import Decision
from heald.wires.writer import FILE_FORMS

TEXT_CALL = (
    "The model wrote this call as text and may only be quoting it. Allowing it allows all calls of this session that "
    "are written as text."
)
"""The reason of the approval."""
_UNATTENDED = Decision(
    "deny",
    "The model wrote this call as text and may only be quoting it, so a person must approve it and nobody can be asked "
    'here; give on_approval=, or edit_format="text" if the server of the model does not parse calls.',
)


class TextCallTrust:
    """What is known in one session about the calls that are written as text. Subagents share it."""

    def __init__(self) -> None:
        self.parsing_providers: set[str] = set()
        """Providers whose endpoint has reported a call, so that it parses the calls of its model."""
        self.approved = False
        """A person has allowed a call that was written as text."""
        self._requested: set[str] = set()  # approvals of such calls
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # of the lock

    def feed(self, payload: Payload) -> None:
        """Read an event of the session's log."""
        kind = type(payload)
        if kind is AssistantMessage:
            assert isinstance(payload, AssistantMessage)
            self.read_message(payload.message)
        elif isinstance(payload, ApprovalRequested) and TEXT_CALL in payload.reason:
            self._requested.add(payload.approval)
        elif isinstance(payload, ApprovalResolved) and payload.approval in self._requested:
            self.approved = self.approved or payload.decision == "allowed"
        elif kind is SessionForked:  # a person has allowed nothing in this session yet
            self.approved = False

    def read_message(self, message: Message) -> None:
        """Note the provider of a message with a call that its API has reported."""
        if message.native is None or message.native.provider in self.parsing_providers:
            return
        if any(call.form is None for call in message.tool_calls):
            self.parsing_providers.add(message.native.provider)

    def add(self, other: "TextCallTrust") -> None:
        """Add what an earlier process of the session has found out."""
        self.parsing_providers |= other.parsing_providers
        self.approved = self.approved or other.approved

    def judge(self, decision: Decision, *, attended: bool) -> Decision:
        """Return the decision on a text call that does more than read, from the one by rules and mode."""
        if self.approved or decision.verdict == "deny":
            return decision
        if decision.verdict == "ask":
            return Decision("ask", f"{decision.reason} {TEXT_CALL}".strip())
        return Decision("ask", TEXT_CALL) if attended else _UNATTENDED

    @property
    def asking(self) -> asyncio.Lock:
        """Held while a person is asked, so that calls of one message ask once."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        return self._lock


def is_text_call(call: ToolCall) -> bool:
    """Whether a model wrote a call as text. A file that it wrote is no such call: nothing else has that form."""
    return call.form is not None and call.form not in FILE_FORMS
