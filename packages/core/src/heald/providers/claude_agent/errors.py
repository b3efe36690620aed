"""Maps errors of the SDK to Heald's errors: one sentence, without keys and without paths of this machine."""

import re

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKError,
    CLIConnectionError,
    CLINotFoundError,
    Message,
    ProcessError,
    ResultError,
    ResultMessage,
    SystemMessage,
    TextBlock,
)

from heald.core.distribution import install_advice
from heald.core.errors import (
    AuthenticationFailed,
    ConfigurationError,
    ConnectionFailed,
    ContextOverflow,
    HealdError,
    InvalidRequest,
    MalformedResponse,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)
from heald.core.json import JsonObject, as_int
from heald.providers.tool_host import LimitReached
from heald.wires.errors import error_from_object, mask_keys

_MAX = 300
_TRIES = 2
_PATH = re.compile(r"(?<![\w:/.])(?:/|~/|[A-Za-z]:\\)[\w.@~-]+(?:[/\\][^\s'\"`:;,)]*)+")
_LIMITS = {"error_max_turns": "turns", "error_max_budget_usd": "usd"}
_KINDS: dict[str, type[ProviderError]] = {
    "authentication_failed": AuthenticationFailed,
    "billing_error": QuotaExhausted,
    "rate_limit": RateLimited,
    "invalid_request": InvalidRequest,
    "server_error": ServerFault,
}
_ADVICE: dict[type[ProviderError], str] = {
    AuthenticationFailed: "set ANTHROPIC_API_KEY, or log in with Claude Code once",
    QuotaExhausted: "see to the account's billing",
    RateLimited: "wait, or use another model",
}


def error_of(error: Exception) -> HealdError:
    """Map an exception of the SDK to an error."""
    match error:
        case HealdError():
            return error
        case CLINotFoundError():
            return ConfigurationError(
                f"Claude Code was not found; install it with {install_advice('claude')}, or give its path as "
                "ClaudeAgent(options=ClaudeAgentOptions(cli_path=…))."
            )
        case ResultError():
            return _from_result(error.subtype or "", error.errors, error.result, error.api_error_status)
        case ProcessError():
            code = f" with exit code {error.exit_code}" if error.exit_code is not None else ""
            return ConnectionFailed(f"Claude Code ended{code} before the answer was complete; try again.")
        case CLIConnectionError():
            return ConnectionFailed(f"Claude Code could not be reached: {plain(str(error))}", reached=False)
        case ClaudeSDKError():
            return MalformedResponse(
                "Claude Code sent a message that the SDK cannot read; update both with "
                f"{install_advice('claude', upgrade=True)} claude-agent-sdk."
            )
        case _:
            return ConnectionFailed(f"Claude Code failed: {plain(str(error)) or type(error).__name__}")


def failure_of(message: Message) -> HealdError | None:
    """Return the error that a message of the SDK reports, if any."""
    if isinstance(message, ResultMessage) and message.is_error:
        return _from_result(message.subtype, message.errors or [], message.result, message.api_error_status)
    if isinstance(message, AssistantMessage) and message.error is not None:
        return _from_message(message)
    if isinstance(message, SystemMessage) and message.subtype == "api_retry":
        return _hopeless(message.data)
    return None


def _hopeless(retry: JsonObject) -> HealdError | None:
    """Return the error for a refused key after the second attempt; Claude Code itself would try many more times."""
    if retry.get("error_status") not in (401, 403) or (as_int(retry.get("attempt")) or 0) < _TRIES:
        return None
    return AuthenticationFailed(_sentence("the key was refused", AuthenticationFailed), status=retry["error_status"])


def _from_message(message: AssistantMessage) -> ProviderError:
    text = "".join(block.text for block in message.content if isinstance(block, TextBlock))
    kind = _KINDS.get(message.error or "")
    if kind is None or kind in (InvalidRequest, ServerFault):
        return _safe(error_from_object({"error": {"message": plain(text) or "Claude Code failed."}}))
    return kind(_sentence(text, kind))


def _from_result(subtype: str, errors: list[str], result: str | None, status: int | None) -> HealdError:
    text = plain("; ".join(errors) or result or "")
    if subtype in _LIMITS:
        limit = _LIMITS[subtype]
        return LimitReached(f"Claude Code reached its own limit of {limit}.", limit)
    if status in (401, 403) or "/login" in text or "Invalid API key" in text:
        return AuthenticationFailed(_sentence(text, AuthenticationFailed), status=status)
    if "No conversation found" in text:
        return InvalidRequest(
            "Claude Code no longer has this conversation (it keeps it in its own folder, by working folder); "
            "begin a new session."
        )
    if not text:
        return ServerFault("Claude Code ended the query with an unspecified error; try again.")
    return _safe(error_from_object({"error": {"message": text}}, status))


def _safe(error: ProviderError) -> ProviderError:
    """Map a context overflow to an error that Heald does not compact: the SDK owns the conversation."""
    if not isinstance(error, ContextOverflow):
        return error
    return InvalidRequest(
        "The conversation is too long for the model, and Claude Code could not shorten it; begin anew."
    )


def _sentence(text: str, kind: type[ProviderError]) -> str:
    return f"Claude Code: {plain(text).rstrip('.') or 'refused'}; {_ADVICE[kind]}."


def plain(text: str) -> str:
    """Return the first line of a text, without keys and paths."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _PATH.sub("…", mask_keys(first))[:_MAX]
