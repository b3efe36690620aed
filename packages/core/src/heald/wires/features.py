"""The features that APIs have beyond a plain conversation, and where each stands in a request.

Every wire declares its own: a place in the request, or `PASSED` for what the API has and `Settings.extra` carries. The
declaration is in force: a setting of a feature that a wire does not declare is not sent, and a tool of the provider
that it does not declare is refused. A provider that imitates an API may lack some of it: `Quirks.without` names those
features. The tables in docs/providers.md are made from the declarations.
"""

from collections.abc import Collection, Mapping
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import msgspec

from heald.core.errors import InvalidRequest
from heald.core.turn import Settings

FeatureName = Literal[
    "temperature",
    "top_p",
    "max_output_tokens",
    "stop_sequences",
    "seed",
    "logprobs",
    "effort",
    "budget",
    "thinking_text",
    "strict_output",
    "strict_tools",
    "image_output",
    "citations",
    "tool_choice",
    "parallel_tools",
    "web_search",
    "web_fetch",
    "code_execution",
    "file_search",
    "image_generation",
    "cache_marks",
    "cache_ttl",
    "cache_key",
    "compaction",
    "compaction_endpoint",
    "clear_results",
    "image_input",
    "image_detail",
    "pdf_input",
    "text_documents",
    "audio_input",
    "file_ids",
    "file_upload",
    "token_count",
    "batches",
    "websocket",
    "service_tier",
    "user",
    "metadata",
]
WireFeatures = Mapping[FeatureName, str]
"""The features of a wire: the place of each in a request, or `PASSED`."""

PASSED = "extra"
"""The API has the feature, and `Settings.extra` carries it."""


class Feature(NamedTuple):
    title: str
    setting: str = ""
    """The field of `Settings` that requests it, if a wire without the feature must not send that field."""


FEATURES: Mapping[FeatureName, Feature] = {
    "temperature": Feature("`temperature`", "temperature"),
    "top_p": Feature("`top_p`", "top_p"),
    "max_output_tokens": Feature("`max_output_tokens`"),
    "stop_sequences": Feature("`stop_sequences`", "stop_sequences"),
    "seed": Feature("`seed`", "seed"),
    "logprobs": Feature("log-probabilities: `top_logprobs`", "top_logprobs"),
    "effort": Feature("`Reason(effort=…)`"),
    "budget": Feature("`Reason(budget=…)`"),
    "thinking_text": Feature("`Reason(visible=…)`"),
    "strict_output": Feature("typed answers: `output_schema`"),
    "strict_tools": Feature("strict tools"),
    "image_output": Feature("`image_output`"),
    "citations": Feature("citations of documents: `citations`", "citations"),
    "tool_choice": Feature("`tool_choice`"),
    "parallel_tools": Feature("`parallel_tool_calls`", "parallel_tool_calls"),
    "web_search": Feature("server tool `web_search`"),
    "web_fetch": Feature("server tool `web_fetch`"),
    "code_execution": Feature("server tool `code_execution`"),
    "file_search": Feature("server tool `file_search`"),
    "image_generation": Feature("server tool `image_generation`"),
    "cache_marks": Feature("prompt caching: `cache`"),
    "cache_ttl": Feature("prompt caching: `cache_ttl`", "cache_ttl"),
    "cache_key": Feature("prompt caching: `cache_key`", "cache_key"),
    "compaction": Feature("`compact_at`", "compact_at"),
    "compaction_endpoint": Feature('`compact_by="provider"`', "compact_by"),
    "clear_results": Feature("`clear_results_at`", "clear_results_at"),
    "image_input": Feature("pictures"),
    "image_detail": Feature("`Image(detail=…)`"),
    "pdf_input": Feature("PDF"),
    "text_documents": Feature("text and CSV files"),
    "audio_input": Feature("audio"),
    "file_ids": Feature("uploaded files: `file_id`"),
    "file_upload": Feature("Files API for large inputs"),
    "token_count": Feature("`count_tokens`"),
    "batches": Feature("`heald eval --batch`"),
    "websocket": Feature("`websocket`", "websocket"),
    "service_tier": Feature("`service_tier`", "service_tier"),
    "user": Feature("`user`", "user"),
    "metadata": Feature("`metadata`", "metadata"),
}
_DEFAULTS = Settings()
_OPTIONAL: list[tuple[FeatureName, str, Any]] = [
    (name, feature.setting, getattr(_DEFAULTS, feature.setting))
    for name, feature in FEATURES.items()
    if feature.setting
]
"""Features with the setting that requests each, and its default."""
_optional_of = attrgetter(*(setting for _, setting, _ in _OPTIONAL))
_OPTIONAL_DEFAULTS = _optional_of(_DEFAULTS)


def keep_supported(settings: Settings, features: WireFeatures, without: Collection[FeatureName] = ()) -> Settings:
    """Return the settings without those that the API has no field for, or that the provider does not have."""
    if _optional_of(settings) == _OPTIONAL_DEFAULTS:
        return settings
    dropped = {
        setting: default
        for name, setting, default in _OPTIONAL
        if getattr(settings, setting) != default and (name in without or features.get(name, PASSED) == PASSED)
    }
    return msgspec.structs.replace(settings, **dropped) if dropped else settings


def check_features(
    wire: str, settings: Settings, features: WireFeatures, provider: str = "", without: Collection[FeatureName] = ()
) -> None:
    """Refuse a tool of the provider, or pictures as an answer, that the wire has no place for or the provider lacks."""
    requested: list[FeatureName] = [tool.name for tool in settings.server_tools]
    if settings.image_output:
        requested.append("image_output")
    for name in requested:
        if name in without:
            raise InvalidRequest(f"The provider {provider} has no {name}; leave it out, or use another provider.")
        place = features.get(name)
        if place == PASSED:
            raise InvalidRequest(
                f"The {wire} wire carries {name} in `extra` only; write it there in the form of the API."
            )
        if place is None:
            raise InvalidRequest(f"The {wire} wire has no {name}; leave it out, or use a model over another wire.")
