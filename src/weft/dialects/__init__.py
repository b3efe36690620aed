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
        "weft.core.message_forms": "convert_internal_to_session convert_session_to_internal to_internal_messages",
        "weft.dialects.ag_ui": "AGUIDialect",
        "weft.dialects.agentx": "AgentXDialect",
        "weft.dialects.ai_sdk": "AISDKDialect",
        "weft.dialects.dialect": "Dialect Frame",
        "weft.dialects.loop": "LoopDialect format_sse_event parse_sse_event",
        "weft.dialects.native": "NativeDialect",
        "weft.dialects.normalized": "NormalizedDialect",
        "weft.dialects.openai": "OpenAIDialect",
        "weft.dialects.registry": "DIALECTS open_dialect",
        "weft.dialects.responses": "ResponsesDialect",
        "weft.dialects.studio": "StudioDialect",
    },
)
