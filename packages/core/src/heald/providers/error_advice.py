"""Explains errors of providers: which model, what went wrong, what to do. Keys are removed from every message."""

from collections.abc import Iterable
from copy import copy

from heald.core.errors import ErrorCode, ProviderError
from heald.providers.model import Model

_ADVICE: dict[ErrorCode, str] = {
    "authentication": "Check the key{key}.",
    "permission": "Check what this key may use.",
    "model_not_found": "Check the model's name and that this key may use it.",
    "context_overflow": "Send less, or choose a model with a larger context.",
    "content_blocked": "Change the request, or choose another model.",
    "quota_exhausted": "Add credit with the provider; waiting does not help.",
    "rate_limited": "Wait, or send less at a time.",
    "overloaded": "Try again later, or choose another model.",
}


def explain_error(error: ProviderError, model: Model, secrets: Iterable[str] = ()) -> ProviderError:
    """Return the same error with a message that names the model and what to do, without the keys and `secrets`."""
    secrets = (*model.secrets, *secrets)
    message = redact(str(error), secrets).strip().rstrip(".")
    message = message if message.endswith(("?", "!")) else f"{message}."
    status = f" (HTTP {error.status})" if error.status and error.status != 200 else ""
    key = f" in {' or '.join(model.endpoint.key_envs)}" if model.endpoint.key_envs else ""
    advice = _ADVICE.get(error.code, "").format(key=key)
    explained = copy(error)
    explained.args = (f"{model.provider}/{model.name}{status}: {message} {advice}".strip(),)
    explained.provider_code = redact(error.provider_code, secrets) if error.provider_code else None
    explained.request_id = redact(error.request_id, secrets) if error.request_id else None
    return explained


def redact(text: str, secrets: Iterable[str]) -> str:
    """Remove keys and other secrets: servers repeat parts of the request."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text
