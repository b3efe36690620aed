"""An error of a provider, told so that a person knows whose it is and what to do."""

from copy import copy

from weft.core.errors import ErrorCode, ProviderError
from weft.providers.model import Model

_WHAT_TO_DO: dict[ErrorCode, str] = {
    "authentication": "Check the key{key}.",
    "permission": "Check what this key may use.",
    "model_not_found": "Check the model's name and that this key may use it.",
    "context_overflow": "Send less, or choose a model with a larger context.",
    "quota_exhausted": "Add credit with the provider; waiting does not help.",
    "rate_limited": "Wait, or send less at a time.",
    "overloaded": "Try again later, or choose another model.",
}


def explain(error: ProviderError, model: Model) -> ProviderError:
    """The same error with a message that stands alone."""
    said = _without_key(str(error), model).strip().rstrip(".")
    said = said if said.endswith(("?", "!")) else f"{said}."
    status = f" (HTTP {error.status})" if error.status and error.status != 200 else ""
    key = f" in {' or '.join(model.endpoint.key_envs)}" if model.endpoint.key_envs else ""
    hint = _WHAT_TO_DO.get(error.code, "").format(key=key)
    told = copy(error)
    told.args = (f"{model.provider}/{model.name}{status}: {said} {hint}".strip(),)
    told.provider_code = _without_key(error.provider_code, model) if error.provider_code else None
    told.request_id = _without_key(error.request_id, model) if error.request_id else None
    return told


def _without_key(text: str, model: Model) -> str:
    """Servers repeat what they were sent. The key goes no further than here."""
    for secret in model.secrets:
        text = text.replace(secret, "[key]")
    return text
