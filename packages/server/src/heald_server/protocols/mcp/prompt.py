"""A prompt of the MCP server. The routes of a protocol may add prompts: `ServerContext.mcp_prompts`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import mcp_types as types

PromptAnswer = types.GetPromptResult | types.InputRequiredResult


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A request for the content of a prompt."""

    owner: str
    """The owner of the sessions that the request may use."""
    params: types.GetPromptRequestParams

    @property
    def arguments(self) -> Mapping[str, str]:
        return self.params.arguments or {}


@dataclass(frozen=True, slots=True)
class ArgumentStart:
    """The beginning of an argument, which the client wants to have completed."""

    owner: str
    name: str
    value: str
    others: Mapping[str, str]
    """The arguments that have their values already."""


CompleteArgument = Callable[[ArgumentStart], Awaitable[Sequence[str]]]
"""Returns values that an argument may have."""


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt: its definition, and the functions that return its content and complete its arguments."""

    definition: types.Prompt
    get: Callable[[AskedPrompt], Awaitable[PromptAnswer]]
    complete: CompleteArgument | None = None
