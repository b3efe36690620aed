"""The interface between the studio and the program that runs it, and the default choice of models."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from weft.agent.exchange import Exchange
from weft.core.messages import Message
from weft.providers.local_servers import PROVIDERS as LOCAL_SERVERS
from weft.providers.model_names import newest_general
from weft.providers.presets import PRESETS
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo

LOCAL_MODEL = "local/vision"
LOCAL_ALTERNATIVES = ("local/vision-responsive",)  # the same converter with another layout
_PROVIDERS = ("anthropic", "gemini", "openai", "openrouter")  # these come first, in this order
_UNRANKED = ("openai-chat", *LOCAL_SERVERS)  # duplicates of another provider, and models of unknown size
_MOST_RANKED = 12


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

    async def pass_on(self, info: SessionInfo, message: Message, request: str) -> bool:
        """Store a request of a variant for another process, if it is not to be started here."""
        ...

    def models(self) -> Sequence[str]:
        """Return the models of requests that name none, in order of preference."""
        ...


def rank_models(offered: Sequence[str], default: str = "") -> list[str]:
    """Rank the offered models: the newest general ones of each provider in turn. An unknown default comes first."""
    locals_ = (LOCAL_MODEL, *LOCAL_ALTERNATIVES)
    by_provider: dict[str, list[str]] = {name: [] for name in _PROVIDERS}
    for name in offered:
        provider = name.partition("/")[0]
        if provider in PRESETS and provider not in _UNRANKED:
            by_provider.setdefault(provider, []).append(name)
    ranked = [newest_general(names) for names in by_provider.values()]
    mixed = [models[rank] for rank in range(4) for models in ranked if rank < len(models)][:_MOST_RANKED]
    if default and default not in locals_:
        mixed = list(dict.fromkeys([default, *mixed]))
    if mixed:
        return mixed
    known = [name for name in locals_ if name in offered or name == default]
    return known or list(offered[:1])
