"""The dialects by name. A new dialect is added here."""

from collections.abc import Callable

from weft.core.errors import ConfigurationError
from weft.dialects.ag_ui import AGUIDialect
from weft.dialects.agentx import AgentXDialect
from weft.dialects.ai_sdk import AISDKDialect
from weft.dialects.dialect import Dialect
from weft.dialects.loop import LoopDialect
from weft.dialects.native import NativeDialect
from weft.dialects.normalized import NormalizedDialect
from weft.dialects.openai import OpenAIDialect
from weft.dialects.responses import ResponsesDialect
from weft.dialects.studio import StudioDialect

_KINDS: tuple[type[Dialect], ...] = (
    NativeDialect,
    StudioDialect,
    LoopDialect,
    NormalizedDialect,
    AISDKDialect,
    AGUIDialect,
    OpenAIDialect,
    ResponsesDialect,
    AgentXDialect,
)

DIALECTS: dict[str, Callable[..., Dialect]] = {kind.name: kind for kind in _KINDS}
"""The class of each dialect. It follows the given session, or that of the first event."""


def open_dialect(name: str, session: str | None = None) -> Dialect:
    """Create a dialect by its name, with default options."""
    kind = DIALECTS.get(name)
    if kind is None:
        raise ConfigurationError(f"There is no dialect named {name[:40]!r}; there are {', '.join(DIALECTS)}.")
    return kind(session)
