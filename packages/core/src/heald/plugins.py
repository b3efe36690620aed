"""Plugins: objects that installed distributions offer by entry points.

A distribution names what it offers in its `pyproject.toml`, under a group such as `heald.wires`:

    [project.entry-points."heald.wires"]
    mine = "my_package.wire:WIRE"

Heald's own distributions use the same groups. An object is imported when it is first needed. One that cannot be loaded
is listed by `plugin_problems`, and stops nothing else.

This module is for authors of plugins: it has the loader, and the classes that wires, providers, models and commands are
made of. Tools are made of `heald.Tool`, stores of `heald.sessions`, protocols of `heald_server`, stacks of
`heald_studio`.
"""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.config.command import Command
    from heald.core.json import JsonObject
    from heald.core.messages import Block, Grounding, Reasoning, Text, ToolDefinition
    from heald.core.turn import Iteration, StopReason, Usage
    from heald.entry_points import EntryPoint
    from heald.plugin_loader import (
        GROUPS,
        PluginFailed,
        has_plugin,
        installed_distributions,
        load_plugin,
        load_plugins,
        plugin_names,
        plugin_problems,
        record_failure,
    )
    from heald.providers.base import CustomModel, OnEvent, ProviderSession, ProviderTurn
    from heald.providers.endpoint import Endpoint
    from heald.providers.families import ModelFamily, OfferedModel
    from heald.wires.decoder import Decoder
    from heald.wires.errors import error_from_object
    from heald.wires.features import PASSED, WireFeatures
    from heald.wires.framing import StreamFraming
    from heald.wires.json_lines import JsonLinesParser
    from heald.wires.request import Quirks, TurnRequest
    from heald.wires.sse import ServerSentEvent
    from heald.wires.wire import Wire

__all__ = [
    "GROUPS",
    "PASSED",
    "Block",
    "Command",
    "CustomModel",
    "Decoder",
    "Endpoint",
    "EntryPoint",
    "Grounding",
    "Iteration",
    "JsonLinesParser",
    "JsonObject",
    "ModelFamily",
    "OfferedModel",
    "OnEvent",
    "PluginFailed",
    "ProviderSession",
    "ProviderTurn",
    "Quirks",
    "Reasoning",
    "ServerSentEvent",
    "StopReason",
    "StreamFraming",
    "Text",
    "ToolDefinition",
    "TurnRequest",
    "Usage",
    "Wire",
    "WireFeatures",
    "error_from_object",
    "has_plugin",
    "installed_distributions",
    "load_plugin",
    "load_plugins",
    "plugin_names",
    "plugin_problems",
    "record_failure",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.config.command": "Command",
        "heald.core.json": "JsonObject",
        "heald.core.messages": "Block Grounding Reasoning Text ToolDefinition",
        "heald.core.turn": "Iteration StopReason Usage",
        "heald.entry_points": "EntryPoint",
        "heald.plugin_loader": "GROUPS PluginFailed has_plugin installed_distributions load_plugin "
        "load_plugins plugin_names plugin_problems record_failure",
        "heald.providers.base": "CustomModel OnEvent ProviderSession ProviderTurn",
        "heald.providers.endpoint": "Endpoint",
        "heald.providers.families": "ModelFamily OfferedModel",
        "heald.wires.decoder": "Decoder",
        "heald.wires.errors": "error_from_object",
        "heald.wires.features": "PASSED WireFeatures",
        "heald.wires.framing": "ServerSentEvent StreamFraming",
        "heald.wires.json_lines": "JsonLinesParser",
        "heald.wires.request": "Quirks TurnRequest",
        "heald.wires.wire": "Wire",
    },
)
