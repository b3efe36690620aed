"""The models that a server offers for building pages."""

from functools import lru_cache

from heald.core.errors import HealdError
from heald.providers.catalogue import ModelInfo, describe_model
from heald.providers.families import stacks_of
from heald.providers.model import Model
from heald.providers.model_names import display_name, generation, is_general, speed_of
from heald.providers.resolve import find
from heald_server.models import ModelSource, ModelView
from heald_studio.default_models import LOCAL_ALTERNATIVES, LOCAL_MODEL
from heald_studio.server.views import ModelOffer

_LOCAL = (LOCAL_MODEL, *LOCAL_ALTERNATIVES)


def list_offers(models: ModelSource) -> list[ModelOffer]:
    """List the models, those of one provider together and the newest general ones first."""
    listed = list(models.list_models())
    providers = list(dict.fromkeys(view.provider for view in listed))

    def rank(view: ModelView) -> tuple[int, bool, tuple[int, ...]]:
        newest = tuple(-number for number in generation(view.name))
        return providers.index(view.provider), not is_general(view.name), newest

    return [_offer(view) for view in sorted(listed, key=rank)]


def builds_from_words(name: str) -> bool:
    return name not in _LOCAL


def _offer(view: ModelView) -> ModelOffer:
    if view.name in _LOCAL:
        return ModelOffer(
            name=view.name,
            label=view.label,
            provider=view.provider,
            text=False,
            vision=True,
            stacks=list(stacks_of(view.name) or ()),
            input_usd_per_million=0.0,
            output_usd_per_million=0.0,
        )
    info = _describe(view.name)
    return ModelOffer(
        name=view.name,
        label=view.label or display_name(view.name),
        provider=view.provider,
        is_general=is_general(view.name),
        vision=info.vision if info is not None else None,
        context_window=info.context_window if info is not None else None,
        input_usd_per_million=info.input_usd_per_million if info is not None else None,
        output_usd_per_million=info.output_usd_per_million if info is not None else None,
        speed=speed_of(view.name),
    )


@lru_cache(maxsize=2_000)
def _describe(name: str) -> ModelInfo | None:
    try:
        model = find(name)
    except HealdError:
        return None
    return describe_model(model) if isinstance(model, Model) else None
