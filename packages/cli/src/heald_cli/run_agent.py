"""Makes the agent of `heald run` from its options: in a folder, in a worktree of it, or in memory."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.agent import Agent
from heald.agent.budget import DEFAULT_TURNS, Budget
from heald.commands.options import flags_of
from heald.commands.request_settings import reasoning_of
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, user_message
from heald.tools.permissions import Permissions
from heald_cli.edit_formats import describe_format
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.own_tools import OwnTools, builtin_names
from heald_cli.questions import ask_approval, ask_question

if TYPE_CHECKING:
    from heald.agent.model_chain import ModelLike
    from heald.agent.request_callbacks import OnApproval, OnQuestion
    from heald.tools.registry import ToolLike
    from heald.tools.runtime import Middleware
    from heald.tools.shell.sandbox import Sandbox
    from heald_cli.agent_tools import AgentTools


class AgentPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent works, and who answers its questions."""

    worktree: str | None = None
    """A copy of the workspace, if the agent does not work in the folder itself."""
    sandbox: "Sandbox | None" = None
    """The sandbox of commands; None for that of the options."""
    history: Sequence[Message] = ()
    """The conversation that the agent continues."""
    middleware: "Sequence[Middleware]" = ()
    """Further middleware, outside of that of the folder."""
    on_approval: "OnApproval" = ask_approval
    on_question: "OnQuestion" = ask_question


async def make_agent(
    options: argparse.Namespace, model: "ModelLike", own_tools: OwnTools, place: AgentPlace
) -> tuple[Agent, str]:
    """Make the agent that the options describe. Returns it with the reason why it writes files as text, or ""."""
    model, is_foreign = _place_model(model, options, place)
    names: list[str] = options.tools or ["all" if options.workspace and not is_foreign else "none"]
    tools = [*_builtin_tools(builtin_names(names), options, place), *own_tools.sources()]
    collector = ExtrasCollector(options)
    extras = collector.collect(
        None if is_foreign else check_folder(options.workspace),  # an external agent reads the notes of a folder itself
        options.system,
        has_tools=bool(tools),
        worktree=place.worktree,
    )
    agent_options: dict[str, Any] = {
        "model": model,
        "tools": [*tools, *extras.tools],
        "instructions": list(extras.instructions),
        "permissions": Permissions(options.permissions, options.rule),
        "budget": Budget(
            turns=_max_turns(options, is_foreign=is_foreign),
            tokens=options.max_tokens,
            usd=options.max_usd,
            seconds=options.max_seconds,
        ),
    }
    if options.agent:
        from heald.tools.families import ALL
        from heald_cli.agent_tools import AgentTools

        sandbox = _find_sandbox(options, place)
        is_limited = bool(options.tools) and ALL not in options.tools
        agent_tools = AgentTools(tools, own_tools, sandbox, folder_tools=extras.tools, is_limited=is_limited)
        agent_options = _file_agent_options(options, agent_options, agent_tools)
    agent = Agent(
        **agent_options,
        history=place.history,
        workspace=place.worktree or options.workspace,
        max_output_tokens=options.max_output,
        temperature=options.temperature,
        reasoning=reasoning_of(options),
        cache=options.cache,
        tool_profile=options.tool_profile,
        tool_search=options.tool_search,
        edit_format=options.edit_format,
        middleware=[*place.middleware, *extras.middleware],
        on_approval=place.on_approval,
        on_question=place.on_question,
    )
    extras.complete(agent, model)
    if options.workspace and not is_foreign:
        collector.recall_facts(agent, options.workspace)
    await agent.find_edit_format()
    return agent, describe_format(agent, options.edit_format)


def _max_turns(options: argparse.Namespace, *, is_foreign: bool) -> "int | msgspec.UnsetType":
    """Return the turns of an exchange. The default is for Heald's own loop: an external agent has its own."""
    is_default = "max_turns" not in flags_of(options) and options.max_turns == DEFAULT_TURNS
    return msgspec.UNSET if is_foreign and is_default else options.max_turns


def _place_model(model: "ModelLike", options: argparse.Namespace, place: AgentPlace) -> "tuple[ModelLike, bool]":
    """Return the model, with the sandbox of its commands if it is an external agent, and whether it is one."""
    from heald.providers.resolve import find

    resolved = find(model) if isinstance(model, str) else model
    if not getattr(resolved, "is_agent", False):
        return model, False
    if not (place.worktree or options.workspace):
        name = model if isinstance(model, str) else "The agent"
        raise ConfigurationError(f"{name} works in a folder; give one, such as --workspace .")
    from dataclasses import replace

    return replace(resolved, sandbox=_find_sandbox(options, place)), True  # type: ignore[type-var]


def _file_agent_options(
    options: argparse.Namespace, session_options: Mapping[str, Any], tools: "AgentTools"
) -> dict[str, Any]:
    """Return the options of the agent that `--agent` names, within those of the command."""
    from heald.agent.agent_files import AgentSetup
    from heald_cli.project_agents import choose_agents

    setup = AgentSetup(
        model=session_options["model"],
        is_model_fixed=True,
        find_tools=tools.find,
        instructions=session_options["instructions"],
        permissions=session_options["permissions"],
        budget=session_options["budget"],
    )
    return choose_agents(options.agent, options.workspace or ".").agent_options(options.agent, setup)


def _builtin_tools(names: Sequence[str], options: argparse.Namespace, place: AgentPlace) -> "list[ToolLike]":
    if not names:
        return []
    from heald.tools.families import named_tools  # a plain question loads no tools and no sandbox
    from heald_cli.inside_notice import report_missing_sandbox

    sandbox = _find_sandbox(options, place)
    tools = named_tools(names, sandbox)
    if any(tool.effect == "run" for tool in tools):
        report_missing_sandbox(options.permissions, sandbox)
    return list(tools)


def _find_sandbox(options: argparse.Namespace, place: AgentPlace) -> "Sandbox":
    """Return the sandbox of the place, or that of the options."""
    from heald.tools.shell.sandbox import Sandbox

    return place.sandbox or Sandbox(unsandboxed=options.unsandboxed)


async def complete_question(question: Message, own_tools: OwnTools) -> tuple[Message, list[str]]:
    """Add prompts and resources of MCP servers that a question names. Returns it with sentences about what failed."""
    if own_tools.servers is None:
        return question, []
    from heald_cli.mcp_input import attach_resources, expand_prompt

    expanded = await expand_prompt(own_tools.servers, question.text)
    question = question if expanded is None else user_message(*expanded)
    resources, faults = await attach_resources(own_tools.servers, question.text)
    return msgspec.structs.replace(question, content=[*question.content, *resources]), faults


def check_folder(name: str | None) -> str | None:
    """Return the folder; raise ConfigurationError if it does not exist."""
    if name is not None and not Path(name).is_dir():
        raise ConfigurationError(f"There is no folder {name!r} to work in; create it first.")
    return name
