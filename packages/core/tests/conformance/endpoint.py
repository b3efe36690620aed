"""A session with a scripted server, as an application would open it."""

from typing import Any

import heald
from heald.providers.base import ProviderSession
from heald.testing.server import ScriptedServer

from .case import PROVIDER, Case

_BASES = {"gemini": "/v1beta", "ollama": ""}

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}

CONTENT_TYPES = {"ollama": "application/x-ndjson"}


def model_of(server: ScriptedServer, wire: str, name: str = "test-model", **options: Any) -> heald.Model:
    base_url = server.url + _BASES.get(wire, "/v1")
    return heald.Model(name, wire=wire, base_url=base_url, api_key="sk-test", provider=PROVIDER, **options)


def session_of(server: ScriptedServer, case: Case) -> ProviderSession:
    return heald.providers.open_provider_session(
        model_of(server, case.wire, case.model, quirks=case.quirks),
        messages=case.history,
        tools=case.tools,
        settings=case.settings,
        retry=heald.Retry(attempts=1),
    )
