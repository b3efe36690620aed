"""Dialects encode the event log for one kind of client. Pure: events in, frames out, no I/O and no clock."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.core.message_forms import (
        convert_internal_to_session,
        convert_session_to_internal,
        to_internal_messages,
    )
    from weft.dialects.ag_ui import AGUIDialect
    from weft.dialects.agentx import AgentXDialect
    from weft.dialects.ai_sdk import AISDKDialect
    from weft.dialects.dialect import Dialect, Frame
    from weft.dialects.loop import LoopDialect, format_sse_event, parse_sse_event
    from weft.dialects.native import NativeDialect
    from weft.dialects.normalized import NormalizedDialect
    from weft.dialects.openai import OpenAIDialect
    from weft.dialects.registry import DIALECTS, open_dialect
    from weft.dialects.responses import ResponsesDialect
    from weft.dialects.studio import StudioDialect

__all__ = [
    "DIALECTS",
    "AGUIDialect",
    "AISDKDialect",
    "AgentXDialect",
    "Dialect",
    "Frame",
    "LoopDialect",
    "NativeDialect",
    "NormalizedDialect",
    "OpenAIDialect",
    "ResponsesDialect",
    "StudioDialect",
    "convert_internal_to_session",
    "convert_session_to_internal",
    "format_sse_event",
    "open_dialect",
    "parse_sse_event",
    "to_internal_messages",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "DIALECTS": "weft.dialects.registry",
        "AGUIDialect": "weft.dialects.ag_ui",
        "AISDKDialect": "weft.dialects.ai_sdk",
        "AgentXDialect": "weft.dialects.agentx",
        "Dialect": "weft.dialects.dialect",
        "Frame": "weft.dialects.dialect",
        "LoopDialect": "weft.dialects.loop",
        "NativeDialect": "weft.dialects.native",
        "NormalizedDialect": "weft.dialects.normalized",
        "OpenAIDialect": "weft.dialects.openai",
        "ResponsesDialect": "weft.dialects.responses",
        "StudioDialect": "weft.dialects.studio",
        "convert_internal_to_session": "weft.core.message_forms",
        "convert_session_to_internal": "weft.core.message_forms",
        "format_sse_event": "weft.dialects.loop",
        "open_dialect": "weft.dialects.registry",
        "parse_sse_event": "weft.dialects.loop",
        "to_internal_messages": "weft.core.message_forms",
    },
)
