"""The model of an agent and its fallbacks."""

from collections.abc import Sequence
from typing import Any

from heald.core.errors import ProviderError
from heald.core.lazy import lazy_property
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import CustomModel, ProviderSession
from heald.providers.factory import check_model, open_checked_session, open_provider_session
from heald.providers.model import Model
from heald.providers.model_size import is_small_model, names_parameters
from heald.providers.resolve import find

ModelLike = str | Model | CustomModel


class ModelChain:
    """A model and its fallbacks, with one provider session at a time. The next model continues with the history."""

    def __init__(self, models: Sequence[ModelLike], **options: Any) -> None:
        self._models = list(models)
        self._options = options
        self._at = 0
        self._parameters: int | None = None
        self.session: ProviderSession | None = None
        """The provider session of the current model, once it is open."""

    @property
    def name(self) -> str:
        """The name of the current model."""
        model = self._models[self._at]
        return model if isinstance(model, str) else str(getattr(model, "name", "model"))

    @property
    def writes_text(self) -> bool:
        """Whether the current model can write files as text: its wire can read them."""
        model = self._resolved
        return isinstance(model, Model) and model.wire.reads_text_calls

    @property
    def hosts_tools(self) -> bool:
        """Whether the current model runs in a loop of its own, with tools of its own."""
        return bool(getattr(self._resolved, "hosts_tools", False))

    @property
    def may_host_tools(self) -> bool:
        """Whether any of the models may run in a loop of its own: an endpoint behind a wire never does."""
        return not all(isinstance(model, Model) for model in self._resolved_models)

    @property
    def default_turns(self) -> int | None:
        """The turns of an exchange that a model with a loop of its own needs; None for any other model."""
        return getattr(self._resolved, "default_turns", None)

    @property
    def is_small(self) -> bool:
        """Whether the current model is too small to call tools well, by its name or by what its server reports."""
        model = self._resolved
        return isinstance(model, Model) and is_small_model(model.name, self._parameters)

    @property
    def may_be_small(self) -> bool:
        """Whether only the server of the current model, one of the user's own, can report its size."""
        model = self._resolved
        return isinstance(model, Model) and model.base_url.startswith("http:") and not names_parameters(model.name)

    @property
    def _resolved(self) -> Model | CustomModel:
        return self._resolved_models[self._at]

    @lazy_property
    def _resolved_models(self) -> list[Model | CustomModel]:
        """The models, those too that were given by name."""
        return [find(model) if isinstance(model, str) else model for model in self._models]

    def connect_early(self) -> None:
        """Open a connection to the endpoint of the current model in the background."""
        from heald.providers.early_connection import connect_early  # most programs send their request at once

        connect_early(self._resolved)

    def check(self) -> None:
        """Raise configuration errors now: an unknown model name, a missing key."""
        for model in self._models:
            check_model(model)

    def open(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> ProviderSession:
        """Open a session with the current model. The messages were checked when they joined the conversation."""
        self.session = open_checked_session(self._models[self._at], messages, tools, settings, **self._options)
        return self.session

    def open_aside(
        self, messages: list[Message], settings: Settings, tools: Sequence[ToolDefinition] = ()
    ) -> ProviderSession:
        """Open another session with the current model, with other tools, beside the conversation."""
        return open_provider_session(
            self._models[self._at], messages=messages, tools=list(tools), settings=settings, **self._options
        )

    async def find_size(self, session: ProviderSession) -> None:
        """Ask the server of the current model for its number of parameters."""
        ask = getattr(session, "server_facts", None)
        if ask is not None:
            self._parameters = (await ask()).parameters

    def fresh(self) -> "ModelChain":
        """Return the same models for another conversation."""
        return ModelChain(self._models, **self._options)

    async def switch_to_next(self, error: ProviderError) -> bool:
        """Switch to the next model after a failure. Returns False if there is none."""
        if self._at + 1 >= len(self._models):
            return False
        self._at += 1
        self._parameters = None
        await self.close()
        return True

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            await session.close()
