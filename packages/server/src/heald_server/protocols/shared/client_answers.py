"""The answers of a client to what an exchange waits for: decisions, results of its tools, and texts."""

from typing import Any

import msgspec

from heald.core.json import JsonObject


class ClientDecision(msgspec.Struct, frozen=True):
    """The client's answer to an approval."""

    approved: bool
    reason: str = ""
    arguments: JsonObject | None = None


class ClientResult(msgspec.Struct, frozen=True):
    """The result of a tool that the client ran."""

    content: Any
    is_error: bool = False


class ClientAnswers(msgspec.Struct, frozen=True):
    """The answers of a client to what an exchange waits for, by the ids of approvals, calls and questions."""

    decisions: dict[str, ClientDecision] = {}
    results: dict[str, ClientResult] = {}
    answers: dict[str, str] = {}

    @property
    def ids(self) -> set[str]:
        return {*self.decisions, *self.results, *self.answers}
