"""Finds the batches of a model's provider: OpenAI and Anthropic have them."""

from heald.core.errors import InvalidRequest
from heald.providers.anthropic_batches import AnthropicBatches
from heald.providers.batch import BatchApi
from heald.providers.model import Model
from heald.providers.openai_batches import OpenAIBatches


def batch_api(model: Model) -> BatchApi:
    """Return the batches of a model's provider. Raises InvalidRequest if its API has none."""
    match model.wire.name:
        case "messages":
            return AnthropicBatches(model)
        case "chat" | "responses":
            return OpenAIBatches(model)
        case wire:
            raise InvalidRequest(
                f"The {wire} wire has no batches; leave --batch out, or use a model of OpenAI or Anthropic."
            )
