"""Weft: language models call tools in a loop, and every token, call and file change streams to whoever watches."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.agent.agent import Agent
    from weft.agent.budget import Budget
    from weft.agent.result import AgentResult
    from weft.core.content import File, Image
    from weft.core.settings import Reason
    from weft.providers.factory import open_session
    from weft.providers.model import Model
    from weft.providers.recording import record, replay
    from weft.providers.retry import Retry, Timeouts
    from weft.providers.scripted import ScriptedModel
    from weft.remote.connect import connect
    from weft.tools.approvals import Approval
    from weft.tools.context import ToolContext
    from weft.tools.function import tool
    from weft.tools.outcome import ToolFault, ToolOutput
    from weft.tools.permissions import Permissions
    from weft.tools.tool import Tool

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentResult",
    "Approval",
    "Budget",
    "File",
    "Image",
    "Model",
    "Permissions",
    "Reason",
    "Retry",
    "ScriptedModel",
    "Timeouts",
    "Tool",
    "ToolContext",
    "ToolFault",
    "ToolOutput",
    "connect",
    "open_session",
    "record",
    "replay",
    "tool",
]

_HOMES = {
    "Agent": "weft.agent.agent",
    "AgentResult": "weft.agent.result",
    "Approval": "weft.tools.approvals",
    "Budget": "weft.agent.budget",
    "File": "weft.core.content",
    "Image": "weft.core.content",
    "Model": "weft.providers.model",
    "Permissions": "weft.tools.permissions",
    "Reason": "weft.core.settings",
    "Retry": "weft.providers.retry",
    "ScriptedModel": "weft.providers.scripted",
    "Timeouts": "weft.providers.retry",
    "Tool": "weft.tools.tool",
    "ToolContext": "weft.tools.context",
    "ToolFault": "weft.tools.outcome",
    "ToolOutput": "weft.tools.outcome",
    "connect": "weft.remote.connect",
    "open_session": "weft.providers.factory",
    "record": "weft.providers.recording",
    "replay": "weft.providers.recording",
    "tool": "weft.tools.function",
}


def __getattr__(name: str) -> Any:
    """The front doors open when somebody knocks: `import weft` itself costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
