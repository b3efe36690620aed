"""The providers Weft knows by name. Each is a wire, an address, a key, and its habits."""

from weft.providers.model import Endpoint
from weft.wires.quirks import Quirks

PRESETS: dict[str, Endpoint] = {
    endpoint.provider: endpoint
    for endpoint in (
        Endpoint(
            provider="openai",
            wire="responses",
            base_url="https://api.openai.com/v1",
            key_envs=("OPENAI_API_KEY",),
        ),
        Endpoint(
            provider="openai-chat",
            wire="chat",
            base_url="https://api.openai.com/v1",
            key_envs=("OPENAI_API_KEY",),
            quirks=Quirks(max_tokens_field="max_completion_tokens", strict_tools=True),
            price_provider="openai",
        ),
        Endpoint(
            provider="anthropic",
            wire="messages",
            base_url="https://api.anthropic.com/v1",
            key_envs=("ANTHROPIC_API_KEY",),
        ),
        Endpoint(
            provider="gemini",
            wire="gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            price_provider="google",
        ),
        Endpoint(
            provider="openrouter",
            wire="chat",
            base_url="https://openrouter.ai/api/v1",
            key_envs=("OPENROUTER_API_KEY",),
            quirks=Quirks(reasoning_request="object", finish_optional=True),
        ),
        Endpoint(
            provider="azure",
            wire="responses",
            base_url="",  # each customer has an address of their own: AZURE_OPENAI_ENDPOINT
            auth="api-key",
            key_envs=("AZURE_OPENAI_API_KEY",),
        ),
        Endpoint(
            provider="groq",
            wire="chat",
            base_url="https://api.groq.com/openai/v1",
            key_envs=("GROQ_API_KEY",),
            quirks=Quirks(max_tokens_field="max_completion_tokens"),
        ),
        Endpoint(
            provider="deepseek",
            wire="chat",
            base_url="https://api.deepseek.com/v1",
            key_envs=("DEEPSEEK_API_KEY",),
            quirks=Quirks(reasoning_request="thinking"),
        ),
        Endpoint(
            provider="mistral",
            wire="chat",
            base_url="https://api.mistral.ai/v1",
            key_envs=("MISTRAL_API_KEY",),
            quirks=Quirks(usage_option=False, id_pattern="mistral"),
        ),
        Endpoint(
            provider="xai",
            wire="chat",
            base_url="https://api.x.ai/v1",
            key_envs=("XAI_API_KEY",),
            price_provider="x-ai",
        ),
        Endpoint(
            provider="together",
            wire="chat",
            base_url="https://api.together.xyz/v1",
            key_envs=("TOGETHER_API_KEY",),
        ),
        Endpoint(
            provider="ollama",
            wire="ollama",
            base_url="http://127.0.0.1:11434",
            key_envs=("OLLAMA_API_KEY",),
            key_required=False,
        ),
        Endpoint(
            provider="lmstudio",
            wire="chat",
            base_url="http://127.0.0.1:1234/v1",
            key_required=False,
        ),
        Endpoint(
            provider="vllm",
            wire="chat",
            base_url="http://127.0.0.1:8000/v1",
            key_envs=("VLLM_API_KEY",),
            key_required=False,
        ),
        Endpoint(
            provider="llamacpp",
            wire="chat",
            base_url="http://127.0.0.1:8080/v1",
            key_envs=("LLAMA_API_KEY",),
            key_required=False,
        ),
    )
}

BASE_URL_ENVS = {
    "azure": "AZURE_OPENAI_ENDPOINT",
    "ollama": "OLLAMA_HOST",
    "lmstudio": "LMSTUDIO_BASE_URL",
    "vllm": "VLLM_BASE_URL",
    "llamacpp": "LLAMACPP_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "openai-chat": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
}
"""Environment variables in which people already keep the address of a provider."""
