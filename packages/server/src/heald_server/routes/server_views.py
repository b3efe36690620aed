"""Requests and responses of the routes for the server itself."""

from typing import Annotated

import msgspec

from heald.core.json import JsonObject
from heald.providers.key_store import KeyPlace
from heald.tools.definitions import Effect
from heald.tools.permissions import Mode
from heald_server.models import ModelView, ProviderView
from heald_server.routes.fields import Body


class LoginBody(Body, frozen=True, kw_only=True):
    token: Annotated[str, msgspec.Meta(max_length=16_384)]
    """A token of the server, or a signed one."""


class ToolView(msgspec.Struct, frozen=True):
    name: str
    description: str
    effect: Effect
    schema: JsonObject


class ToolsView(msgspec.Struct, frozen=True):
    tools: list[ToolView]
    families: dict[str, list[str]]


class SessionDefaults(msgspec.Struct, frozen=True):
    """Settings that a session has unless its client chooses others."""

    tools: list[str]
    permissions: Mode


class ModelsView(msgspec.Struct, frozen=True):
    models: list[str]
    """Names that the settings of a session may have."""
    default: str
    details: list[ModelView]
    """The same models, described."""
    session: SessionDefaults
    """The other settings of a session for which its client names none."""
    fixed: bool = False
    """The program that runs the server defines the agent: sessions have no settings to choose."""


class ProvidersView(msgspec.Struct, frozen=True):
    providers: list[ProviderView]
    key_place: KeyPlace
    """Where a key that is set now would be stored."""


class AgentsQuery(msgspec.Struct, frozen=True, kw_only=True):
    workspace: str | None = None
    """The folder of the session, whose own agents are listed too."""


class AgentView(msgspec.Struct, frozen=True):
    name: str
    description: str
    model: str
    """Its model; empty for that of the session."""
    handoffs: list[str]
    """The agents that it may hand the conversation over to."""


class AgentsView(msgspec.Struct, frozen=True):
    agents: list[AgentView]


class WorkspacesView(msgspec.Struct, frozen=True):
    workspaces: list[str]


class HealthView(msgspec.Struct, frozen=True, omit_defaults=True):
    status: str
    version: str | None = None
    sandbox: str | None = None
    exchanges: int | None = None
    tasks: dict[str, float] | None = None
    """Seconds since the last beat of each background task."""


class ReadyView(msgspec.Struct, frozen=True):
    node: str
    """The name of the server among those that share its store."""


class TokenView(msgspec.Struct, frozen=True):
    token: str
