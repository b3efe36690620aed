"""A case: one request to an agent, and what makes its answer right."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.agent.budget import Budget
from heald.agent.request_message import Prompt
from heald.core.arguments import check_fields
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeStatus
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald_evals.checks import Check


class Case(msgspec.Struct, frozen=True):
    """One request to an agent, and what makes its answer right.

    A case passes if its exchange ends with `status`, all checks pass and the judge, if there is one, gives a passing
    score. A case with `expected` and neither checks nor a judge passes if the answer equals `expected`.
    """

    name: str
    """Unique in its evaluation. Results are compared with earlier ones of the same name."""
    prompt: Prompt
    expected: Any = None
    """A right answer: for the judge and for checks, which read it as `run.expected`."""
    checks: Sequence[Check] = ()
    criteria: str = ""
    """What the judge looks for in this case."""
    budget: Budget | None = None
    """The limits of this case, instead of those of the evaluation."""
    status: ExchangeStatus = "completed"
    """The status that the exchange must end with, such as `failed` where a guardrail must stop it."""
    files: Mapping[str, str] = {}
    """Files that the agent finds in its workspace, which is in memory then."""
    history: Sequence[Message | JsonObject] = ()
    """The conversation before the request."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.name.strip():
            raise ConfigurationError("Case: name must not be empty; results are compared by it.")
