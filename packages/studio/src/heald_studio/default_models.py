"""The models that build a page where the client names none."""

from collections.abc import Sequence

from heald.providers.local_servers import PROVIDERS as LOCAL_SERVERS
from heald.providers.model_names import is_general, newest_general
from heald.providers.registry import installed_providers

LOCAL_MODEL = "local/vision"
LOCAL_ALTERNATIVES = ("local/vision-responsive",)  # the same converter with another layout
_PROVIDERS = ("anthropic", "gemini", "openai", "openrouter")  # these come first, in this order
_UNRANKED = ("openai-chat", *LOCAL_SERVERS)  # duplicates of another provider, and models of unknown size
_CONVERTER = (LOCAL_MODEL, *LOCAL_ALTERNATIVES)
_MOST_RANKED = 12


def rank_models(offered: Sequence[str], default: str = "") -> list[str]:
    """Rank the offered models: the newest general ones of each provider in turn. An unknown default comes first.

    Without any of these, one model of each local server and the converter follow; `models_for` chooses among them.
    """
    by_provider: dict[str, list[str]] = {name: [] for name in _PROVIDERS}
    for name in offered:
        provider = name.partition("/")[0]
        if provider in installed_providers() and provider not in _UNRANKED:
            by_provider.setdefault(provider, []).append(name)
    ranked = [newest_general(names) for names in by_provider.values()]
    mixed = [models[rank] for rank in range(4) for models in ranked if rank < len(models)][:_MOST_RANKED]
    if default and default not in _CONVERTER:
        mixed = list(dict.fromkeys([default, *mixed]))
    if mixed:
        return mixed
    converter = [name for name in _CONVERTER if name in offered or name == default]
    return [*_one_of_each([name for name in offered if name not in _CONVERTER]), *converter]


def is_converter(name: str) -> bool:
    """Whether a model is the local converter, which has no language model."""
    return name in _CONVERTER


def models_for(ranked: Sequence[str], *, pictures: bool) -> list[str]:
    """Choose among ranked models: the converter for a new page from pictures, language models for everything else."""
    converter = [name for name in ranked if name in _CONVERTER]
    language_models = [name for name in ranked if name not in _CONVERTER]
    return (converter or language_models) if pictures else (language_models or converter)


def _one_of_each(names: Sequence[str]) -> list[str]:
    """Return one model of each provider. A second one would push the first out of the memory of a local server."""
    by_provider: dict[str, list[str]] = {}
    for name in names:
        by_provider.setdefault(name.partition("/")[0], []).append(name)
    return [next(filter(is_general, models), models[0]) for models in by_provider.values()]
