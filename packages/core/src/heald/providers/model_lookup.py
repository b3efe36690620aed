"""Looks a model up in the list of its provider.

- OpenAI and its imitators, Ollama: https://platform.openai.com/docs/api-reference/models/retrieve
- Anthropic: https://docs.anthropic.com/en/api/models
- Gemini: https://ai.google.dev/api/models
"""

from urllib.parse import quote

import msgspec

from heald.core.errors import ModelNotFound
from heald.core.json import as_int
from heald.providers.api_call import call_api
from heald.providers.model import Model

_PREFIXES = {"chat": "", "responses": "", "messages": "", "gemini": "", "ollama": "/v1"}
"""What stands before `/models/` in the addresses of wires."""
_SECONDS = 20.0


class ListedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as its provider lists it."""

    created: int = 0
    """Seconds since 1970; 0 if the provider does not say."""
    owner: str = ""


async def look_up_model(model: Model) -> ListedModel:
    """Return a model from the list of its provider. Raises ModelNotFound if it is not there, or there is no list."""
    prefix = _PREFIXES.get(model.wire.name)
    names = model.name.split("/")
    if prefix is None or any(name in ("", ".", "..") for name in names):  # a path must not leave that of models
        raise ModelNotFound(f"The provider {model.provider} lists no model {model.name[:80]!r}.")
    model.require_key()
    path = "/".join(quote(name, safe="-._~@:") for name in names)
    answer = (await call_api(model, f"{model.base_url}{prefix}/models/{path}", method="GET", seconds=_SECONDS)).object()
    owner = answer.get("owned_by")
    return ListedModel(
        created=as_int(answer.get("created")) or 0, owner=owner if isinstance(owner, str) else model.provider
    )
