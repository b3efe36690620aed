"""The names that clients give to their conversations, in a header or in the body.

A name belongs to the owner of the token that comes with it. Only what a client sends to tell its conversations apart is
read here: `user`, `metadata` and `prompt_cache_key` are shared by conversations.
"""

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from heald.core.json import JsonObject, encode_text
from heald_server.protocols.shared.place_ids import SESSION_PREFIX

SESSION_HEADER = "X-Heald-Session"
"""Names a session by the id that an earlier response had in the same header."""

KEY_HEADER = "Idempotency-Key"
"""Names a request, so that one that is sent again is not answered twice."""


@dataclass(frozen=True, slots=True)
class ConversationHeader:
    """A header with which clients name a conversation."""

    name: str
    clients: str
    person: str | None = None
    """A header that names the person, where several share a token."""
    has_side_requests: bool = False
    """The clients also send it with requests for a title, which are not part of the conversation."""


CONVERSATION_HEADERS = (
    ConversationHeader("X-Conversation-Id", "your programs; LibreChat, with `{{LIBRECHAT_BODY_CONVERSATIONID}}`"),
    ConversationHeader(
        "X-OpenWebUI-Chat-Id",
        "Open WebUI, with `ENABLE_FORWARD_USER_INFO_HEADERS=true`",
        person="X-OpenWebUI-User-Id",
        has_side_requests=True,
    ),
    ConversationHeader("X-Session-Id", "opencode", has_side_requests=True),
    ConversationHeader("Thread-Id", "codex"),
)
_NO_NAMES = ("new", "null", "none", "undefined")
"""What clients send for a conversation that has no id yet."""
_MAX_LENGTH = 512


@dataclass(frozen=True, slots=True)
class ConversationName:
    """What a request says about the conversation that it belongs to."""

    value: str
    """Unique among the conversations of an owner."""
    has_side_requests: bool = False


def find_conversation_name(
    request: HTTPConnection, body: JsonObject, field: str | None = None
) -> ConversationName | None:
    """The name that a request gives to its conversation, in a header or in a field of the body."""
    value = body.get(field) if field is not None else None
    if isinstance(value, str) and _is_name(value):
        return ConversationName(value if _is_session(value) else encode_text([field, "", value]))
    for header in CONVERSATION_HEADERS:
        value = request.headers.get(header.name, "").strip()
        if _is_name(value) and _is_session(value):
            return ConversationName(value, header.has_side_requests)
        if _is_name(value):
            person = request.headers.get(header.person, "") if header.person is not None else ""
            return ConversationName(encode_text([header.name, person, value]), header.has_side_requests)
    return None


def read_request_key(request: HTTPConnection) -> str | None:
    """The name of a request that its client may send more than once."""
    return request.headers.get(KEY_HEADER, "").strip()[:200] or None


def key_name(key: str) -> ConversationName:
    """The name of a conversation that begins with a request that has a key, and has no other name."""
    return ConversationName(encode_text([KEY_HEADER, "", key]))


def _is_session(value: str) -> bool:
    """Whether a name is the id of a session, which names the session itself."""
    return value.startswith(SESSION_PREFIX)


def _is_name(value: str) -> bool:
    return 0 < len(value) <= _MAX_LENGTH and value.lower() not in _NO_NAMES and not value.startswith("{{")
