"""Makes the settings of requests to models from the options of a command: temperature, thinking, `extra` and so on."""

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from heald.config.keys import Key, convert_value
from heald.core.errors import ConfigurationError
from heald.core.turn import Reason, ServerTool, Settings
from heald.providers.defaults import merge_members


def reasoning_of(options: argparse.Namespace) -> Reason | None:
    """Return how much the model may think; None if no option sets it."""
    if options.effort is None and options.thinking_budget is None:
        return None
    return Reason(effort=options.effort, budget=options.thinking_budget)


def request_settings(options: argparse.Namespace) -> Settings:
    """Return the settings that the options of a command set."""
    return Settings(
        temperature=options.temperature,
        reasoning=reasoning_of(options),
        extra=options.extra,
        top_p=options.request_top_p,
        seed=options.request_seed,
        stop_sequences=options.request_stop,
        service_tier=options.request_service_tier,
        cache_ttl=options.request_cache_ttl,
        server_tools=[parse_server_tool(text) for text in options.request_server_tool],
        image_output=options.request_image_output,
        citations=options.request_citations,
        compact_at=options.request_compact_at,
        compact_by=options.request_compact_by,
        clear_results_at=options.request_clear_results_at,
        websocket=options.request_websocket,
        user=options.request_end_user,
        metadata=options.request_metadata,
        extra_headers=options.request_headers,
    )


def parse_server_tool(text: str) -> ServerTool:
    """Parse the name of a tool, with its options as JSON behind a colon if there are any."""
    name, _, options = text.partition(":")
    try:
        parsed = msgspec.json.decode(options, type=dict[str, Any]) if options.strip() else {}
        return msgspec.convert({"name": name.strip(), "options": parsed}, ServerTool)
    except msgspec.DecodeError:
        raise ConfigurationError(
            f"The tool {text[:60]!r} of the provider cannot be read; it is web_search, web_fetch, code_execution, "
            'file_search or image_generation, with options as in file_search:{"vector_store_ids": ["vs_1"]}.'
        ) from None


def parse_table(key: Key, texts: Sequence[str], origin: str) -> dict[str, Any]:
    """Parse the values of a table: JSON objects, or NAME=VALUE, where dots in the name lead into inner tables.

    A value is JSON if it can be read as that, else a text.
    """
    table: dict[str, Any] = {}
    for text in texts:
        table = merge_members(table, _parse_entry(key, text.strip(), origin))
    try:
        return convert_value(key, table)
    except ValueError as error:
        raise ConfigurationError(f"{origin} {error}.") from None


def _parse_entry(key: Key, text: str, origin: str) -> dict[str, Any]:
    if text.startswith("{"):
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise ConfigurationError(f"{origin} has JSON that cannot be read: {error}.") from None
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigurationError(f"{origin} {text[:40]!r} is neither NAME=VALUE nor a JSON object.")
    is_text = key.words == "a table of texts"
    entry: Any = value.strip() if is_text else _parse_value(value.strip())
    for part in reversed([name.strip()] if is_text else name.strip().split(".")):
        entry = {part: entry}
    return entry


def _parse_value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
