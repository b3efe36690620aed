"""How the SDK is set up for a session: the user's options, with what Weft decides over them.

Plain by default: Weft's instructions are the whole system prompt, none of the SDK's tools, no settings, hooks or
servers from the disk, prompts exactly as they are written (no `@file`, no commands).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.core.settings import Reason, Settings
from weft.core.tools import ToolDefinition
from weft.providers.claude_agent.gate import Gate
from weft.providers.claude_agent.server import SERVER
from weft.wires.request import budget_of, effort_of

if TYPE_CHECKING:
    from weft.providers.claude_agent.model import ClaudeAgent

_DAY = 86_400.0
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}


def options_of(
    agent: "ClaudeAgent", settings: Settings, tools: list[ToolDefinition], server: Any, gate: Gate, **resume: Any
) -> ClaudeAgentOptions:
    given = agent.options or ClaudeAgentOptions()
    _check(agent, given, tools)
    hooks = dict(given.hooks or {})
    ours = HookMatcher(hooks=[gate.before_tool], timeout=_DAY, on_failure="block")
    hooks["PreToolUse"] = [ours, *hooks.get("PreToolUse", [])]
    servers: dict[str, Any] = dict(given.mcp_servers) if isinstance(given.mcp_servers, dict) else {}
    return replace(
        given,
        model=agent.model or given.model,
        system_prompt=_system(given.system_prompt, settings),
        tools=list(agent.sdk_tools),
        allowed_tools=[],
        permission_mode="default",
        can_use_tool=gate.can_use_tool,
        hooks=hooks,
        mcp_servers=servers | {SERVER: {"type": "sdk", "name": SERVER, "instance": server}},
        strict_mcp_config=True,
        setting_sources=given.setting_sources or [],
        include_partial_messages=True,
        forward_subagent_text=True,
        verbatim_prompts=True,
        env=_environment(settings) | given.env,
        **_thinking(settings.reasoning),
        **resume,
    )


def _check(agent: "ClaudeAgent", given: ClaudeAgentOptions, tools: list[ToolDefinition]) -> None:
    if not isinstance(given.mcp_servers, dict):
        raise ConfigurationError("mcp_servers as a file cannot be joined with Weft's tools; give them as a dictionary.")
    if SERVER in given.mcp_servers:
        raise ConfigurationError(f"The name {SERVER!r} in mcp_servers is Weft's own; give that server another name.")
    both = {tool.name for tool in tools} & set(agent.sdk_tools)
    if both:
        raise ConfigurationError(f"{sorted(both)[0]!r} is a tool of Weft's and of the SDK's; leave one of them out.")


def _system(given: Any, settings: Settings) -> Any:
    """Weft's instructions; behind the preset, where that was asked for."""
    said = settings.system
    if settings.output_schema is not None:
        said += (
            f"\n\nYour final answer is nothing but JSON that fits this schema: {encode_text(settings.output_schema)}"
        )
    if isinstance(given, dict) and given.get("type") == "preset":  # pyright: ignore[reportUnknownMemberType]
        return {**given, "append": "\n\n".join(part for part in (given.get("append"), said.strip()) if part)}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType]
    return said.strip()


def _environment(settings: Settings) -> dict[str, str]:
    """A tool may take its time, and its result is as long as Weft lets it be."""
    limits = {"MCP_TOOL_TIMEOUT": f"{_DAY * 1000:.0f}", "MAX_MCP_OUTPUT_TOKENS": "200000"}
    if settings.max_output_tokens is not None:
        limits["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.max_output_tokens)
    return limits


def _thinking(reason: Reason | None) -> dict[str, Any]:
    if reason is None:
        return {}
    effort = effort_of(reason)
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if reason.budget is not None:
        return {"thinking": {"type": "enabled", "budget_tokens": budget_of(reason)}}
    return {"effort": _EFFORTS[effort]} if effort is not None else {}
