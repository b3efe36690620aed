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

__getattr__ = lazy_exports(
    __name__,
    {
        "weft.agent.agent": "Agent",
        "weft.agent.interface": "AgentInterface",
        "weft.agent.loop": "run_agent_loop",
        "weft.agent.result": "AgentResult",
        "weft.agent.state": "ConversationState",
        "weft.agent.telemetry": "TelemetryReactor",
        "weft.agent.tracker": "Budget",
        "weft.client.agent": "connect",
        "weft.client.agentx": "AgentXClient",
        "weft.client.errors": "EventsLost NoRemoteSession TokenRefused",
        "weft.core.errors": "ConnectionFailed WeftError",
        "weft.core.messages": "File Image Message ToolDefinition ToolResult user_message",
        "weft.core.retry": "Retry",
        "weft.core.turn": "Reason ServerTool Settings",
        "weft.providers.adapter": "ProviderAdapter",
        "weft.providers.catalogue": "describe_model",
        "weft.providers.claude_agent": "ClaudeAgent",
        "weft.providers.factory": "open_provider_session",
        "weft.providers.files": "upload_file",
        "weft.providers.local_servers": "LocalServers",
        "weft.providers.model": "Model",
        "weft.providers.recording": "record replay",
        "weft.providers.scripted": "ScriptedModel",
        "weft.providers.token_count": "TokenCount count_tokens",
        "weft.providers.watchdog": "Timeouts",
        "weft.providers.wire_adapter": "create_provider",
        "weft.server.agent_server": "serve",
        "weft.sessions.open": "open_session",
        "weft.tools.approvals": "Approval NotPending",
        "weft.tools.builtin": "named_tools",
        "weft.tools.context": "ToolContext",
        "weft.tools.definitions": "Tool",
        "weft.tools.function_tools": "tool",
        "weft.tools.mcp.config": "McpServer",
        "weft.tools.mcp.servers": "McpServers",
        "weft.tools.permissions": "Permissions",
        "weft.tools.results": "ToolFault ToolOutput",
        "weft.tools.shell.sandbox": "Sandbox SandboxLimits",
        "weft.tools.shell.tools": "shell_tools",
        "weft.tools.workspace.memory": "MemoryWorkspace",
        "weft.wires.request": "Quirks",
    },
    ("dialects", "events", "server", "sessions", "studio", "testing"),
)
