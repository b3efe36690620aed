"""The conversation that a client of another protocol keeps, and sends with every request."""

import msgspec

from heald.core.messages import Message, ToolDefinition
from heald.tools.client_tools import ClientPrecedence


class ClientConversation(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation that a client sends with its request."""

    owner: str
    kind: str
    """The protocol of the client."""
    name: str | None = None
    """The client's name for the conversation."""
    history: list[Message] = []
    system: list[str] = []
    model: str = ""
    tools: list[ToolDefinition] | None = None
    """The client's own tools; None if its requests do not name them."""
    precedence: ClientPrecedence = "beside"
    """How they stand to the agent's own."""
    hidden_tools: tuple[str, ...] = ()
    """Names of tools that a session of this kind does without."""
    is_kept: bool = True
    """Its session is stored and counts as one that the owner made."""
