"""Weft lets language models call tools in a loop and streams every token, tool call and file change."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft import dialects, events, server, sessions, studio, testing
    from weft.agent.agent import Agent
    from weft.agent.interface import AgentInterface
    from weft.agent.loop import run_agent_loop
    from weft.agent.result import AgentResult
    from weft.agent.state import ConversationState
    from weft.agent.telemetry import TelemetryReactor
    from weft.agent.tracker import Budget
    from weft.client.agent import connect
    from weft.client.agentx import AgentXClient
    from weft.client.errors import EventsLost, NoRemoteSession, TokenRefused
    from weft.core.errors import ConnectionFailed, WeftError
    from weft.core.messages import File, Image, Message, ToolDefinition, ToolResult, user_message
    from weft.core.retry import Retry
    from weft.core.turn import Reason, ServerTool, Settings
    from weft.providers.adapter import ProviderAdapter
    from weft.providers.catalogue import describe_model
    from weft.providers.claude_agent import ClaudeAgent
    from weft.providers.factory import open_provider_session
    from weft.providers.files import upload_file
    from weft.providers.local_servers import LocalServers
    from weft.providers.model import Model
    from weft.providers.recording import record, replay
    from weft.providers.scripted import ScriptedModel
    from weft.providers.token_count import TokenCount, count_tokens
    from weft.providers.watchdog import Timeouts
    from weft.providers.wire_adapter import create_provider
    from weft.server.agent_server import serve
    from weft.sessions.open import open_session
    from weft.tools.approvals import Approval, NotPending
    from weft.tools.builtin import named_tools
    from weft.tools.context import ToolContext
    from weft.tools.definitions import Tool
    from weft.tools.function_tools import tool
    from weft.tools.mcp.config import McpServer
    from weft.tools.mcp.servers import McpServers
    from weft.tools.permissions import Permissions
    from weft.tools.results import ToolFault, ToolOutput
    from weft.tools.shell.sandbox import Sandbox, SandboxLimits
    from weft.tools.shell.tools import shell_tools
    from weft.tools.workspace.memory import MemoryWorkspace
    from weft.wires.request import Quirks

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentInterface",
    "AgentResult",
    "AgentXClient",
    "Approval",
    "Budget",
    "ClaudeAgent",
    "ConnectionFailed",
    "ConversationState",
    "EventsLost",
    "File",
    "Image",
    "LocalServers",
    "McpServer",
    "McpServers",
    "MemoryWorkspace",
    "Message",
    "Model",
    "NoRemoteSession",
    "NotPending",
    "Permissions",
    "ProviderAdapter",
    "Quirks",
    "Reason",
    "Retry",
    "Sandbox",
    "SandboxLimits",
    "ScriptedModel",
    "ServerTool",
    "Settings",
    "TelemetryReactor",
    "Timeouts",
    "TokenCount",
    "TokenRefused",
    "Tool",
    "ToolContext",
    "ToolDefinition",
    "ToolFault",
    "ToolOutput",
    "ToolResult",
    "WeftError",
    "connect",
    "count_tokens",
    "create_provider",
    "describe_model",
    "dialects",
    "events",
    "named_tools",
    "open_provider_session",
    "open_session",
    "record",
    "replay",
    "run_agent_loop",
    "serve",
    "server",
    "sessions",
    "shell_tools",
    "studio",
    "testing",
    "tool",
    "upload_file",
    "user_message",
]

_HOMES = {
    "Agent": "weft.agent.agent",
    "AgentInterface": "weft.agent.interface",
    "AgentResult": "weft.agent.result",
    "AgentXClient": "weft.client.agentx",
    "Approval": "weft.tools.approvals",
    "Budget": "weft.agent.tracker",
    "ClaudeAgent": "weft.providers.claude_agent",
    "ConnectionFailed": "weft.core.errors",
    "ConversationState": "weft.agent.state",
    "EventsLost": "weft.client.errors",
    "File": "weft.core.messages",
    "Image": "weft.core.messages",
    "LocalServers": "weft.providers.local_servers",
    "McpServer": "weft.tools.mcp.config",
    "McpServers": "weft.tools.mcp.servers",
    "MemoryWorkspace": "weft.tools.workspace.memory",
    "Message": "weft.core.messages",
    "Model": "weft.providers.model",
    "NoRemoteSession": "weft.client.errors",
    "NotPending": "weft.tools.approvals",
    "Permissions": "weft.tools.permissions",
    "ProviderAdapter": "weft.providers.adapter",
    "Quirks": "weft.wires.request",
    "Reason": "weft.core.turn",
    "Retry": "weft.core.retry",
    "Sandbox": "weft.tools.shell.sandbox",
    "SandboxLimits": "weft.tools.shell.sandbox",
    "ScriptedModel": "weft.providers.scripted",
    "ServerTool": "weft.core.turn",
    "Settings": "weft.core.turn",
    "TelemetryReactor": "weft.agent.telemetry",
    "Timeouts": "weft.providers.watchdog",
    "TokenCount": "weft.providers.token_count",
    "TokenRefused": "weft.client.errors",
    "Tool": "weft.tools.definitions",
    "ToolContext": "weft.tools.context",
    "ToolDefinition": "weft.core.messages",
    "ToolFault": "weft.tools.results",
    "ToolOutput": "weft.tools.results",
    "ToolResult": "weft.core.messages",
    "WeftError": "weft.core.errors",
    "connect": "weft.client.agent",
    "count_tokens": "weft.providers.token_count",
    "create_provider": "weft.providers.wire_adapter",
    "describe_model": "weft.providers.catalogue",
    "named_tools": "weft.tools.builtin",
    "open_provider_session": "weft.providers.factory",
    "open_session": "weft.sessions.open",
    "record": "weft.providers.recording",
    "replay": "weft.providers.recording",
    "run_agent_loop": "weft.agent.loop",
    "serve": "weft.server.agent_server",
    "shell_tools": "weft.tools.shell.tools",
    "tool": "weft.tools.function_tools",
    "upload_file": "weft.providers.files",
    "user_message": "weft.core.messages",
}

__getattr__ = lazy_exports(__name__, _HOMES, ("dialects", "events", "server", "sessions", "studio", "testing"))
