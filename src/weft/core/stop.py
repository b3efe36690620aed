"""Why a model stopped, in one closed vocabulary."""

from typing import Literal

StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "content_filter",
    "pause_turn",
    "error",
]

EXECUTABLE: frozenset[StopReason] = frozenset({"end_turn", "tool_use", "stop_sequence"})
"""Stop reasons after which the calls of a message may run: the model finished what it wanted to say."""
