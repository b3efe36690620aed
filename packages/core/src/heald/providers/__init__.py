"""Models and their endpoints: sessions with a model, adapters, token counts, uploads and recorded traffic."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.core.messages import ToolDefinition
    from heald.providers.adapter import ProviderAdapter
    from heald.providers.base import ProviderSession, ProviderTurn
    from heald.providers.catalogue import ModelInfo, describe_model
    from heald.providers.claude_agent import ClaudeAgent
    from heald.providers.factory import open_provider_session
    from heald.providers.files import upload_file
    from heald.providers.key_store import NoKeyring
    from heald.providers.local_servers import LocalServers
    from heald.providers.recording import record, replay
    from heald.providers.token_count import TokenCount, count_tokens
    from heald.providers.wire_adapter import create_provider
    from heald.wires.request import Quirks

__all__ = [
    "ClaudeAgent",
    "LocalServers",
    "ModelInfo",
    "NoKeyring",
    "ProviderAdapter",
    "ProviderSession",
    "ProviderTurn",
    "Quirks",
    "TokenCount",
    "ToolDefinition",
    "count_tokens",
    "create_provider",
    "describe_model",
    "open_provider_session",
    "record",
    "replay",
    "upload_file",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.core.messages": "ToolDefinition",
        "heald.providers.adapter": "ProviderAdapter",
        "heald.providers.base": "ProviderSession ProviderTurn",
        "heald.providers.catalogue": "ModelInfo describe_model",
        "heald.providers.claude_agent": "ClaudeAgent",
        "heald.providers.factory": "open_provider_session",
        "heald.providers.files": "upload_file",
        "heald.providers.key_store": "NoKeyring",
        "heald.providers.local_servers": "LocalServers",
        "heald.providers.recording": "record replay",
        "heald.providers.token_count": "TokenCount count_tokens",
        "heald.providers.wire_adapter": "create_provider",
        "heald.wires.request": "Quirks",
    },
)
