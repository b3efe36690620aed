"""How one provider's dialect of a wire differs from the wire. Each field is one named habit of real servers."""

from typing import Literal

import msgspec


class Quirks(msgspec.Struct, frozen=True, kw_only=True):
    # requests
    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: str = "max_tokens"
    usage_option: bool = True
    """Ask for usage with `stream_options`; a few servers refuse the field."""
    reasoning_request: Literal["effort", "object", "thinking", "none"] = "effort"
    """How effort is asked for: `reasoning_effort`, a `reasoning` object, a `thinking` switch, or not at all."""
    reasoning_echo: Literal["as_received", "none"] = "as_received"
    """Whether an assistant message goes back with the reasoning fields it came with."""
    id_pattern: Literal["any", "mistral"] = "any"
    images_in_results: bool = False
    strict_tools: bool = False
    """Send `strict` with tool definitions that ask for it."""

    # responses
    finish_optional: bool = False
    """The server is known to end with `[DONE]` and no finish reason."""
    think_tags: bool = False
    """Thinking arrives inline as `<think>…</think>` and is to be taken out of the text."""

    stateless: bool = True
    """Responses: send `store: false` and carry encrypted reasoning ourselves."""


NONE = Quirks()
