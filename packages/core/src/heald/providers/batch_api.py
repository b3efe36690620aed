"""Finds the batches of a model's provider: OpenAI, Anthropic and Gemini have them."""

from heald.core.errors import InvalidRequest
from heald.providers.anthropic_batches import AnthropicBatches
from heald.providers.batch import BatchApi
from heald.providers.gemini_batches import GeminiBatches
from heald.providers.model import Model
from heald.providers.openai_batches import OpenAIBatches

_ADVICE = "leave --batch out, or use a model of OpenAI, Anthropic or Gemini."


def batch_api(model: Model) -> BatchApi:
    """Return the batches of a model's provider. Raises InvalidRequest if its API has none."""
    if "batches" in model.endpoint.quirks.without:
        raise InvalidRequest(f"The provider {model.provider} has no such batches; {_ADVICE}")
    match model.wire.name:
        case "gemini":
            return GeminiBatches(model)
        case "messages":
            return AnthropicBatches(model)
        case "chat" | "responses":
            return OpenAIBatches(model)
        case wire:
            raise InvalidRequest(f"The {wire} wire has no batches; {_ADVICE}")
