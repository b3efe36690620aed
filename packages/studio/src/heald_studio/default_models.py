"""The models that build a page where the client names none."""

from collections.abc import Sequence

from heald.providers.local_servers import PROVIDERS as LOCAL_SERVERS
from heald.providers.model_names import newest_general
from heald.providers.registry import installed_providers

LOCAL_MODEL = "local/vision"
LOCAL_ALTERNATIVES = ("local/vision-responsive",)  # the same converter with another layout
_PROVIDERS = ("anthropic", "gemini", "openai", "openrouter")  # these come first, in this order
_UNRANKED = ("openai-chat", *LOCAL_SERVERS)  # duplicates of another provider, and models of unknown size
_MOST_RANKED = 12


def rank_models(offered: Sequence[str], default: str = "") -> list[str]:
    """Rank the offered models: the newest general ones of each provider in turn. An unknown default comes first."""
    locals_ = (LOCAL_MODEL, *LOCAL_ALTERNATIVES)
    by_provider: dict[str, list[str]] = {name: [] for name in _PROVIDERS}
    for name in offered:
        provider = name.partition("/")[0]
        if provider in installed_providers() and provider not in _UNRANKED:
            by_provider.setdefault(provider, []).append(name)
    ranked = [newest_general(names) for names in by_provider.values()]
    mixed = [models[rank] for rank in range(4) for models in ranked if rank < len(models)][:_MOST_RANKED]
    if default and default not in locals_:
        mixed = list(dict.fromkeys([default, *mixed]))
    if mixed:
        return mixed
    local_models = [name for name in locals_ if name in offered or name == default]
    return local_models or list(offered[:1])
