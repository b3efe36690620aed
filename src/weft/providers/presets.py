"""The providers that Weft knows by name. Each is a wire, an address, a key and quirks."""

from typing import Any

from weft.providers.model import Endpoint
from weft.wires.request import Quirks


def _preset(provider: str, wire: str, base_url: str, *key_envs: str, **more: Any) -> Endpoint:
    return Endpoint(provider=provider, wire=wire, base_url=base_url, key_envs=key_envs, **more)


_COMPLETION_TOKENS = "max_completion_tokens"
_MOST_INLINE = 15_000_000
_PRESETS = (
    _preset(
        *("openai", "responses", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        quirks=Quirks(upload_over=_MOST_INLINE),
    ),
    _preset(
        *("openai-chat", "chat", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        quirks=Quirks(
            max_tokens_field=_COMPLETION_TOKENS,
            strict_tools=True,
            typed_output="with_tools",
            text_calls=False,
            upload_over=_MOST_INLINE,
            user_field="safety_identifier",
        ),
        price_provider="openai",
    ),
    _preset(
        *("anthropic", "messages", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        quirks=Quirks(upload_over=_MOST_INLINE),
    ),
    _preset(
        *("gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        quirks=Quirks(upload_over=_MOST_INLINE),
        price_provider="google",
    ),
    _preset(
        *("openrouter", "chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        quirks=Quirks(reasoning_request="object", finish_optional=True, typed_output="with_tools", text_calls=False),
    ),
    _preset("azure", "responses", "", "AZURE_OPENAI_API_KEY", auth="azure"),  # its address: AZURE_OPENAI_ENDPOINT
    _preset("bedrock", "converse", "", "AWS_BEARER_TOKEN_BEDROCK", auth="aws", price_provider="aws"),
    _preset("bedrock-anthropic", "bedrock-messages", "", "AWS_BEARER_TOKEN_BEDROCK", auth="aws", price_provider="aws"),
    _preset("vertex", "gemini", "", auth="google", price_provider="google"),
    _preset("vertex-anthropic", "vertex-messages", "", auth="google", price_provider="anthropic"),
    _preset(
        *("groq", "chat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        quirks=Quirks(max_tokens_field=_COMPLETION_TOKENS, text_calls=False),
    ),
    _preset(
        *("deepseek", "chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        quirks=Quirks(reasoning_request="thinking", typed_output="json_object", text_calls=False),
    ),
    _preset(
        *("mistral", "chat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        quirks=Quirks(usage_option=False, id_pattern="mistral", typed_output="with_tools", text_calls=False),
    ),
    _preset(
        *("xai", "chat", "https://api.x.ai/v1", "XAI_API_KEY"),
        quirks=Quirks(typed_output="with_tools", text_calls=False),
        price_provider="x-ai",
    ),
    _preset(
        *("together", "chat", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        quirks=Quirks(text_calls=False),
    ),
    _preset("ollama", "ollama", "http://127.0.0.1:11434", "OLLAMA_API_KEY", key_required=False),
    _preset("lmstudio", "chat", "http://127.0.0.1:1234/v1", key_required=False),
    _preset("vllm", "chat", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", key_required=False),
    _preset("llamacpp", "chat", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY", key_required=False),
)
PRESETS: dict[str, Endpoint] = {endpoint.provider: endpoint for endpoint in _PRESETS}

BASE_URL_ENVS = {
    "azure": "AZURE_OPENAI_ENDPOINT",
    "bedrock": "BEDROCK_BASE_URL",
    "bedrock-anthropic": "BEDROCK_BASE_URL",
    "vertex": "VERTEX_BASE_URL",
    "vertex-anthropic": "VERTEX_BASE_URL",
    "ollama": "OLLAMA_HOST",
    "lmstudio": "LMSTUDIO_BASE_URL",
    "vllm": "VLLM_BASE_URL",
    "llamacpp": "LLAMACPP_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "openai-chat": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
}
"""Environment variables that hold the address of a provider."""
