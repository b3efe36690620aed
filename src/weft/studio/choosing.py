"""Which models build, where the person names none: the strongest of each provider in turn, so that variants differ."""

from collections.abc import Sequence

LOCAL = "local/vision"
LOCAL_WAYS = ("local/vision-responsive",)
"""The same converter with another aim, so that variants differ."""

STRENGTH: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-5", "claude-sonnet-4-5"),
    "gemini": ("gemini-3-pro-preview", "gemini-3-flash-preview", "gemini-2.5-pro"),
    "openai": ("gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"),
    "openrouter": ("anthropic/claude-sonnet-4.6", "google/gemini-3-pro-preview", "openai/gpt-5.2"),
}
"""The models of a provider that build pages well, the best first."""


def strongest_first(offered: Sequence[str], default: str = "") -> list[str]:
    """A mix of the models that are offered, or the default alone if none of them is known to build pages well."""
    known = set(offered)
    ranked = [
        [f"{name}/{model}" for model in models if f"{name}/{model}" in known] for name, models in STRENGTH.items()
    ]
    mixed = [models[rank] for rank in range(4) for models in ranked if rank < len(models)]
    if default and default not in mixed and default != LOCAL:
        mixed.insert(0, default)
    if mixed:
        return mixed
    if LOCAL in known or default == LOCAL:
        return [LOCAL, *(name for name in LOCAL_WAYS if name in known)]
    return list(offered[:1])
