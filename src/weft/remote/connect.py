"""`weft.connect`: a session on a server elsewhere."""

from collections.abc import Sequence

from weft.agent.answering import OnApproval, OnQuestion
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.remote.address import read_address
from weft.remote.agent import RemoteAgent
from weft.remote.pace import Pace
from weft.tools.permissions import Mode


def connect(
    url: str,
    token: str | None = None,
    *,
    session: str | None = None,
    model: str | None = None,
    tools: Sequence[str] | None = None,
    instructions: str | None = None,
    permissions: Mode | None = None,
    title: str | None = None,
    on_approval: OnApproval | None = None,
    on_question: OnQuestion | None = None,
    patience: float = 60.0,
) -> RemoteAgent:
    """The methods of `weft.Agent`, for a session on a server that `weft serve` runs.

    Without `session` the first use makes one, with the settings given here and the server's own for the rest. With it,
    that session is joined as it is. Tools run on the server and are named as there. A server that is gone for longer
    than `patience` (seconds) gives `ConnectionFailed`; what ran there goes on, and can be picked up with `session`.
    """
    address, secret = read_address(url, token)
    settings: JsonObject = {
        name: value
        for name, value in {
            "model": model,
            "tools": list(tools) if tools is not None else None,
            "instructions": instructions,
            "permissions": permissions,
            "title": title,
        }.items()
        if value is not None
    }
    if session is not None and settings:
        raise ConfigurationError(f"A session that exists has its own {', '.join(settings)}; leave out what is new.")
    if not all(isinstance(tool, str) for tool in settings.get("tools", [])):
        raise ConfigurationError(
            "Tools run on the server; name those that it has, and give functions to an Agent here."
        )
    return RemoteAgent(
        address,
        secret,
        session=session,
        settings=settings,
        on_approval=on_approval,
        on_question=on_question,
        pace=Pace(patience=patience),
    )
