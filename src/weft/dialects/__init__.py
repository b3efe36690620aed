"""Dialects encode the event log for one kind of client. Pure: events in, frames out, no I/O and no clock."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.dialects.ag_ui import AGUIDialect
    from weft.dialects.ai_sdk import AISDKDialect
    from weft.dialects.dialect import Dialect, Frame
    from weft.dialects.loop import LoopDialect
    from weft.dialects.native import NativeDialect
    from weft.dialects.normalized import NormalizedDialect
    from weft.dialects.openai import OpenAIDialect
    from weft.dialects.registry import DIALECTS, open_dialect
    from weft.dialects.studio import StudioDialect

__all__ = [
    "DIALECTS",
    "AGUIDialect",
    "AISDKDialect",
    "Dialect",
    "Frame",
    "LoopDialect",
    "NativeDialect",
    "NormalizedDialect",
    "OpenAIDialect",
    "StudioDialect",
    "open_dialect",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "DIALECTS": "weft.dialects.registry",
        "AGUIDialect": "weft.dialects.ag_ui",
        "AISDKDialect": "weft.dialects.ai_sdk",
        "Dialect": "weft.dialects.dialect",
        "Frame": "weft.dialects.dialect",
        "LoopDialect": "weft.dialects.loop",
        "NativeDialect": "weft.dialects.native",
        "NormalizedDialect": "weft.dialects.normalized",
        "OpenAIDialect": "weft.dialects.openai",
        "StudioDialect": "weft.dialects.studio",
        "open_dialect": "weft.dialects.registry",
    },
)
