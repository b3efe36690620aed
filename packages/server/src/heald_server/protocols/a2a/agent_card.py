"""The card that describes the agent to A2A clients."""

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)

from heald import __version__

VERSION = "1.0"
_BEARER = "bearer"


def agent_card(address: str, *, needs_token: bool) -> AgentCard:
    """Describe the agent at an address."""
    card = AgentCard(
        name="Heald",
        description="An agent that works with tools and files. A context is a session; a task is one request in it.",
        version=__version__,
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["text/plain", "image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"],
        default_output_modes=["text/plain", "application/octet-stream"],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=VERSION),
            AgentInterface(url=address, protocol_binding="HTTP+JSON", protocol_version=VERSION),
        ],
        skills=[
            AgentSkill(
                id="work",
                name="Work on a request",
                description="Answers, and reads, writes and runs what its tools allow.",
                tags=["agent", "tools", "files"],
                examples=["Write a page for a bakery."],
            )
        ],
    )
    if needs_token:
        scheme = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme=_BEARER))
        card.security_schemes[_BEARER].CopyFrom(scheme)
        card.security_requirements.append(SecurityRequirement(schemes={_BEARER: StringList()}))
    return card
