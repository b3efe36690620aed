"""The models of a change that names none: the one that built what is changed."""

from collections.abc import Sequence

import msgspec

from heald_studio.default_models import is_converter, models_for
from heald_studio.projects.project import Project, VariantRef, find_variant, find_version
from heald_studio.request import UPDATE_VARIANTS, BuildRequest


def inherit_models(request: BuildRequest, project: Project, base: VariantRef, ranked: Sequence[str]) -> BuildRequest:
    """Return a change with its models and the number of its variants.

    A change that names no model is made by the model of the variant that it changes, with at most as many variants as
    were built beside it. The converter does not understand most words: a language model of the host replaces it.
    """
    if request.models:
        return request
    source = _built_base(project, base)
    language_models = [name for name in ranked if not is_converter(name)]
    model = find_variant(project, source).model if source is not None else ""
    if source is None or (is_converter(model) and language_models):
        models = models_for(ranked, pictures=False)
        return msgspec.structs.replace(request, models=tuple(models), variants=request.variants or UPDATE_VARIANTS)
    count = min(len(find_version(project, source).variants), UPDATE_VARIANTS)
    return msgspec.structs.replace(request, models=(model,), variants=request.variants or count)


def _built_base(project: Project, base: VariantRef | None) -> VariantRef | None:
    """Return the variant that a model built last, on the way back from a variant; None if there is none."""
    while base is not None and not find_variant(project, base).model:
        base = find_version(project, base).base
    return base
