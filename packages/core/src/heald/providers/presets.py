"""The providers of Heald itself: a wire, an address, a key and quirks for each."""

from typing import Any

from heald.providers.endpoint import Endpoint
from heald.wires.features import FeatureName
from heald.wires.request import Quirks


def _preset(provider: str, wire: str, base_url: str, *key_envs: str, **more: Any) -> Endpoint:
    return Endpoint(provider=provider, wire=wire, base_url=base_url, key_envs=key_envs, **more)


_COMPLETION_TOKENS = "max_completion_tokens"
_MOST_INLINE = 15_000_000
_NOT_IMITATED: tuple[FeatureName, ...] = ("web_search", "image_output")
"""Features of Chat Completions that most of its imitators lack."""
PRESETS: tuple[Endpoint, ...] = (
    _preset(
        *("openai", "responses", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        base_url_env="OPENAI_BASE_URL",
        quirks=Quirks(upload_over=_MOST_INLINE),
    ),
    _preset(
        *("openai-chat", "chat", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        base_url_env="OPENAI_BASE_URL",
        quirks=Quirks(
            max_tokens_field=_COMPLETION_TOKENS,
            strict_tools=True,
            typed_output="with_tools",
            text_calls=False,
            upload_over=_MOST_INLINE,
            user_field="safety_identifier",
            without=["image_output"],
        ),
        price_provider="openai",
    ),
    _preset(
        *("anthropic", "messages", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        base_url_env="ANTHROPIC_BASE_URL",
        quirks=Quirks(upload_over=_MOST_INLINE),
    ),
    _preset(
        *("gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        quirks=Quirks(upload_over=_MOST_INLINE),
        price_provider="google",
    ),
    _preset(
        *("openrouter", "chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        quirks=Quirks(
            reasoning_request="object",
            finish_optional=True,
            typed_output="with_tools",
            text_calls=False,
            cache_marks=True,
        ),
    ),
    _preset(
        *("azure", "responses", "", "AZURE_OPENAI_API_KEY"),
        auth="azure",
        base_url_env="AZURE_OPENAI_ENDPOINT",
    ),
    _preset(
        *("bedrock", "converse", "", "AWS_BEARER_TOKEN_BEDROCK"),
        auth="aws",
        price_provider="aws",
        base_url_env="BEDROCK_BASE_URL",
    ),
    _preset(
        *("bedrock-anthropic", "bedrock-messages", "", "AWS_BEARER_TOKEN_BEDROCK"),
        auth="aws",
        price_provider="aws",
        base_url_env="BEDROCK_BASE_URL",
    ),
    _preset(
        *("vertex", "gemini", ""),
        auth="google",
        quirks=Quirks(server_tool_parts=False, without=["batches"], embeddings="none"),
        price_provider="google",
        base_url_env="VERTEX_BASE_URL",
    ),
    _preset(
        *("vertex-anthropic", "vertex-messages", ""),
        auth="google",
        price_provider="anthropic",
        base_url_env="VERTEX_BASE_URL",
    ),
    _preset(
        *("groq", "chat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        quirks=Quirks(
            max_tokens_field=_COMPLETION_TOKENS,
            usage_option=False,
            text_calls=False,
            text_completion="none",
            embeddings="none",
            without=[  # pyrefly: ignore[bad-argument-type]
                *_NOT_IMITATED,
                *("logprobs", "cache_key", "cache_ttl", "metadata"),
                *("pdf_input", "audio_input", "file_ids"),
            ],
        ),
    ),
    _preset(
        *("deepseek", "chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        quirks=Quirks(
            reasoning_request="thinking",
            typed_output="json_object",
            text_calls=False,
            text_completion="beta",
            embeddings="none",
            without=[*_NOT_IMITATED],
        ),
    ),
    _preset(
        *("mistral", "chat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        quirks=Quirks(
            usage_option=False,
            id_pattern="mistral",
            content_parts="mistral",
            typed_output="with_tools",
            text_calls=False,
            seed_field="random_seed",
            text_completion="fim",
            embeddings="output_dimension",
            without=[*_NOT_IMITATED, "user", "cache_ttl", "batches"],
        ),
    ),
    _preset(
        *("xai", "chat", "https://api.x.ai/v1", "XAI_API_KEY"),
        quirks=Quirks(typed_output="with_tools", text_calls=False, without=[*_NOT_IMITATED]),
        price_provider="x-ai",
    ),
    _preset(
        *("together", "chat", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        quirks=Quirks(text_calls=False, without=[*_NOT_IMITATED]),
    ),
    _preset(
        *("ollama", "ollama", "http://127.0.0.1:11434", "OLLAMA_API_KEY"),
        key_required=False,
        base_url_env="OLLAMA_HOST",
    ),
    _preset(
        *("lmstudio", "chat", "http://127.0.0.1:1234/v1"),
        key_required=False,
        base_url_env="LMSTUDIO_BASE_URL",
        quirks=Quirks(without=[*_NOT_IMITATED]),
    ),
    _preset(
        *("vllm", "chat", "http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
        key_required=False,
        base_url_env="VLLM_BASE_URL",
        quirks=Quirks(without=[*_NOT_IMITATED]),
    ),
    _preset(
        *("llamacpp", "chat", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY"),
        key_required=False,
        base_url_env="LLAMACPP_BASE_URL",
        quirks=Quirks(without=[*_NOT_IMITATED], text_completion="infill"),
    ),
)
