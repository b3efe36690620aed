"""Heald lets language models call tools in a loop and streams every token, tool call and file change."""

from heald.core.lazy import lazy_exports
from heald.core.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald import events, plugins, providers, sessions, testing, types
    from heald.agent.agent import Agent
    from heald.agent.agent_stream import AgentStream
    from heald.agent.budget import Budget
    from heald.agent.guardrail import Guardrail, GuardrailTripped, guardrail
    from heald.agent.interface import AgentInterface
    from heald.agent.load_agent import load_agent
    from heald.agent.memory import Memory
    from heald.agent.request_callbacks import OnApproval, OnQuestion
    from heald.agent.request_message import Prompt
    from heald.agent.result import AgentResult
    from heald.agent.state import ConversationState
    from heald.agent.strategy import Strategy
    from heald.agent.streamed_text import StreamedText
    from heald.agent.telemetry import TelemetryReactor
    from heald.agent.text_editing import NothingWritten
    from heald.agent.typed_output import OutputError
    from heald.core.errors import (
        AnswerTooSlow,
        AuthenticationFailed,
        BadBaseUrl,
        ConfigurationError,
        ConnectionFailed,
        ContentBlocked,
        ContextOverflow,
        ErrorInfo,
        GarbledStream,
        HealdError,
        IncompleteStream,
        InvalidRequest,
        MalformedResponse,
        MissingKey,
        ModelNotFound,
        NotFound,
        Overloaded,
        PermissionRefused,
        ProviderError,
        ProviderTimeout,
        QuotaExhausted,
        RateLimited,
        ServerFault,
        Stalled,
        UnknownProvider,
    )
    from heald.core.messages import File, Image, Message, ToolResult, user_message
    from heald.core.retry import Retry
    from heald.core.turn import Reason, ServerTool, Settings, Usage
    from heald.providers.model import Model
    from heald.providers.watchdog import Timeouts
    from heald.sessions.opening_session import open_session
    from heald.tools.approvals import Approval, NotPending
    from heald.tools.client_results import ResultTooLarge
    from heald.tools.context import ToolContext
    from heald.tools.definitions import Tool
    from heald.tools.families import named_tools
    from heald.tools.function_tools import FunctionTool, tool
    from heald.tools.mcp.config import McpFault, McpServer
    from heald.tools.mcp.servers import McpServers
    from heald.tools.mcp.sign_in import NeedsSignIn
    from heald.tools.permissions import Permissions
    from heald.tools.runtime import Invocation, Middleware
    from heald.tools.shell.sandbox import Sandbox, SandboxLimits
    from heald.tools.shell.tools import shell_tools
    from heald.tools.tool_fault import ToolFault
    from heald.tools.tool_output import ToolOutput
    from heald.tools.workspace.base import Workspace
    from heald.tools.workspace.memory import MemoryWorkspace
    from heald.tools.workspace.paths import PathFault

__version__ = VERSION

__all__ = [
    "Agent",
    "AgentInterface",
    "AgentResult",
    "AgentStream",
    "AnswerTooSlow",
    "Approval",
    "AuthenticationFailed",
    "BadBaseUrl",
    "Budget",
    "ConfigurationError",
    "ConnectionFailed",
    "ContentBlocked",
    "ContextOverflow",
    "ConversationState",
    "ErrorInfo",
    "File",
    "FunctionTool",
    "GarbledStream",
    "Guardrail",
    "GuardrailTripped",
    "HealdError",
    "Image",
    "IncompleteStream",
    "InvalidRequest",
    "Invocation",
    "MalformedResponse",
    "McpFault",
    "McpServer",
    "McpServers",
    "Memory",
    "MemoryWorkspace",
    "Message",
    "Middleware",
    "MissingKey",
    "Model",
    "ModelNotFound",
    "NeedsSignIn",
    "NotFound",
    "NotPending",
    "NothingWritten",
    "OnApproval",
    "OnQuestion",
    "OutputError",
    "Overloaded",
    "PathFault",
    "PermissionRefused",
    "Permissions",
    "Prompt",
    "ProviderError",
    "ProviderTimeout",
    "QuotaExhausted",
    "RateLimited",
    "Reason",
    "ResultTooLarge",
    "Retry",
    "Sandbox",
    "SandboxLimits",
    "ServerFault",
    "ServerTool",
    "Settings",
    "Stalled",
    "Strategy",
    "StreamedText",
    "TelemetryReactor",
    "Timeouts",
    "Tool",
    "ToolContext",
    "ToolFault",
    "ToolOutput",
    "ToolResult",
    "UnknownProvider",
    "Usage",
    "Workspace",
    "events",
    "guardrail",
    "load_agent",
    "named_tools",
    "open_session",
    "plugins",
    "providers",
    "sessions",
    "shell_tools",
    "testing",
    "tool",
    "types",
    "user_message",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.agent.agent": "Agent",
        "heald.agent.agent_stream": "AgentStream",
        "heald.agent.guardrail": "Guardrail GuardrailTripped guardrail",
        "heald.agent.load_agent": "load_agent",
        "heald.agent.interface": "AgentInterface",
        "heald.agent.memory": "Memory",
        "heald.agent.request_callbacks": "OnApproval OnQuestion",
        "heald.agent.request_message": "Prompt",
        "heald.agent.result": "AgentResult",
        "heald.agent.state": "ConversationState",
        "heald.agent.strategy": "Strategy",
        "heald.agent.streamed_text": "StreamedText",
        "heald.agent.telemetry": "TelemetryReactor",
        "heald.agent.text_editing": "NothingWritten",
        "heald.agent.typed_output": "OutputError",
        "heald.agent.budget": "Budget",
        "heald.core.errors": (
            "AnswerTooSlow AuthenticationFailed BadBaseUrl ConfigurationError ConnectionFailed "
            "ContentBlocked ContextOverflow ErrorInfo GarbledStream HealdError IncompleteStream "
            "InvalidRequest MalformedResponse MissingKey ModelNotFound NotFound Overloaded "
            "PermissionRefused ProviderError ProviderTimeout QuotaExhausted RateLimited ServerFault "
            "Stalled UnknownProvider"
        ),
        "heald.core.messages": "File Image Message ToolResult user_message",
        "heald.core.retry": "Retry",
        "heald.core.turn": "Reason ServerTool Settings Usage",
        "heald.providers.model": "Model",
        "heald.providers.watchdog": "Timeouts",
        "heald.sessions.opening_session": "open_session",
        "heald.tools.approvals": "Approval NotPending",
        "heald.tools.families": "named_tools",
        "heald.tools.client_results": "ResultTooLarge",
        "heald.tools.context": "ToolContext",
        "heald.tools.definitions": "Tool",
        "heald.tools.function_tools": "FunctionTool tool",
        "heald.tools.mcp.config": "McpFault McpServer",
        "heald.tools.mcp.servers": "McpServers",
        "heald.tools.mcp.sign_in": "NeedsSignIn",
        "heald.tools.permissions": "Permissions",
        "heald.tools.runtime": "Invocation Middleware",
        "heald.tools.tool_fault": "ToolFault",
        "heald.tools.tool_output": "ToolOutput",
        "heald.tools.shell.sandbox": "Sandbox SandboxLimits",
        "heald.tools.shell.tools": "shell_tools",
        "heald.tools.workspace.base": "Workspace",
        "heald.tools.workspace.memory": "MemoryWorkspace",
        "heald.tools.workspace.paths": "PathFault",
    },
    ("events", "plugins", "providers", "sessions", "testing", "types"),
    {
        "ClaudeAgent": "heald.providers.ClaudeAgent",
        "LocalServers": "heald.providers.LocalServers",
        "ProviderAdapter": "heald.providers.ProviderAdapter",
        "Quirks": "heald.providers.Quirks",
        "TokenCount": "heald.providers.TokenCount",
        "ToolDefinition": "heald.providers.ToolDefinition",
        "count_tokens": "heald.providers.count_tokens",
        "create_provider": "heald.providers.create_provider",
        "describe_model": "heald.providers.describe_model",
        "open_provider_session": "heald.providers.open_provider_session",
        "record": "heald.providers.record",
        "replay": "heald.providers.replay",
        "upload_file": "heald.providers.upload_file",
        "ScriptedModel": "heald.testing.ScriptedModel",
        "AgentXClient": "heald_server.AgentXClient",
        "connect": "heald_server.connect",
        "run_agent_loop": "heald_server.run_agent_loop",
        "serve": "heald_server.serve",
        "dialects": "heald_server",
        "server": "heald_server",
        "studio": "heald_studio",
    },
)
