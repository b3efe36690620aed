"""The model an agent talks to, and those that take over when it fails."""

from collections.abc import Sequence
from typing import Any

from weft.core.errors import ProviderError
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition
from weft.providers.base import ProviderSession
from weft.providers.factory import Scripted, open_session
from weft.providers.model import Model

ModelLike = str | Model | Scripted


class Models:
    """One provider session at a time. When a model fails for good the next one takes over, with the same history."""

    def __init__(self, models: Sequence[ModelLike], **options: Any) -> None:
        self._models = list(models)
        self._options = options
        self._at = 0
        self.session: ProviderSession | None = None
        """The session with that model, once it is open."""

    @property
    def name(self) -> str:
        """The model that is asked now."""
        model = self._models[self._at]
        return model if isinstance(model, str) else str(getattr(model, "name", "model"))

    def check(self) -> None:
        """Raise now what would be wrong later: a name that nobody knows, a key that is missing."""
        for model in self._models:
            open_session(model, **self._options)

    def open(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> ProviderSession:
        """A session with the model that is up."""
        model = self._models[self._at]
        self.session = open_session(model, messages=messages, tools=tools, settings=settings, **self._options)
        return self.session

    def fresh(self) -> "Models":
        """The same models, for another conversation."""
        return Models(self._models, **self._options)

    async def next(self, error: ProviderError) -> bool:
        """Go on with the next model after a failure. False if there is none left."""
        if self._at + 1 >= len(self._models):
            return False
        self._at += 1
        await self.close()
        return True

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            await session.close()
