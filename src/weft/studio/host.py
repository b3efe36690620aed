"""The interface between the studio and the program that runs it, and the default choice of models."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from weft.agent.exchange import Exchange
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo

LOCAL_MODEL = "local/vision"
LOCAL_ALTERNATIVES = ("local/vision-responsive",)  # the same converter with another layout
STRONG_MODELS: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5", "claude-sonnet-4-5"),
    "gemini": ("gemini-3-pro-preview", "gemini-3-flash-preview", "gemini-2.5-pro"),
    "openai": ("gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"),
    "openrouter": ("anthropic/claude-sonnet-4.6", "google/gemini-3-pro-preview", "openai/gpt-5.2"),
}
"""The models of a provider that build pages well, the best first."""


class SessionHost(Protocol):
    """Opens the sessions of variants. Their tools are `studio_tools(studio.context_of(info))`."""

    @property
    def sessions(self) -> Sessions: ...

    def use(self, info: SessionInfo) -> AbstractAsyncContextManager[Session]:
        """Open a session, or share the open one."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session, open or not."""

    def check(self, owner: str, wanted: int) -> None:
        """Raise an error if the owner may not start so many exchanges now."""

    def begin(self, owner: str, exchange: Exchange) -> None:
        """Count an exchange for its owner."""

    def models(self) -> Sequence[str]:
        """Return the models of requests that name none, in order of preference."""
        ...


def rank_models(offered: Sequence[str], default: str = "") -> list[str]:
    """Rank the offered models: the strongest of each provider in turn. An unknown default comes first."""
    known = set(offered)
    ranked = [
        [f"{name}/{model}" for model in models if f"{name}/{model}" in known] for name, models in STRONG_MODELS.items()
    ]
    mixed = [models[rank] for rank in range(4) for models in ranked if rank < len(models)]
    if default and default not in mixed and default != LOCAL_MODEL:
        mixed.insert(0, default)
    if mixed:
        return mixed
    if LOCAL_MODEL in known or default == LOCAL_MODEL:
        return [LOCAL_MODEL, *(name for name in LOCAL_ALTERNATIVES if name in known)]
    return list(offered[:1])
