"""Errors that an agent reports, as errors of Heald: one sentence, without keys."""

from heald.core.errors import AuthenticationFailed, ProviderError, QuotaExhausted, RateLimited, ServerFault
from heald.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from heald.wires.errors import error_from_object, mask_keys

NOT_FOUND = -32002
"""The protocol's code for a file that does not exist: agents create it then."""
_AUTH_REQUIRED = -32000
_MAX = 400
_KINDS = (AuthenticationFailed, QuotaExhausted, RateLimited)
"""Errors of an agent's provider that are told apart. The agent has retried already, and compacts by itself."""


class AgentError(Exception):
    """An error response of an agent, or the refusal of one of its requests."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    @classmethod
    def read(cls, error: JsonObject) -> "AgentError":
        """Read an error object of JSON-RPC. Its `data` often has the reason."""
        message, data = str(error.get("message") or "it failed"), error.get("data")
        details = as_object(data)
        detail = details.get("details") or details.get("message") or (data if isinstance(data, str) else "")
        if not detail and details:
            detail = encode_text(details)
        text = message if not detail or str(detail) in message else f"{message}: {detail}"
        return cls(text, as_int(error.get("code")))


def provider_error(name: str, error: AgentError, methods: object = None) -> ProviderError:
    """Return the error of a turn. `methods` are the ways to sign in that the agent offers."""
    text = plain(str(error)).rstrip(".")
    if error.code == _AUTH_REQUIRED or "uthentication required" in text:
        offered = [str(method.get("name")) for method in as_objects(methods) if method.get("name")]
        advice = f" It offers: {', '.join(offered)}." if offered else ""
        return AuthenticationFailed(
            f"{name}: {text}; sign in with the agent itself, or list the variable with its key as "
            f"[acp_agents.{name}] keys.{advice}"
        )
    kind = type(error_from_object({"error": {"message": text}}))
    return (kind if kind in _KINDS else ServerFault)(f"{name}: {text}.")


def plain(text: str) -> str:
    """Return the beginning of a text in one line, without keys."""
    return mask_keys(" ".join(text.split()))[:_MAX]
