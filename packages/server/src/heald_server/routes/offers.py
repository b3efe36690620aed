"""Routes for what sessions may use: models, providers, tools, agents and folders."""

import asyncio
from functools import partial

from heald.providers.key_store import key_place
from heald.tools.families import families
from heald.tools.registry import Registry
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.server_views import (
    AgentsQuery,
    AgentsView,
    AgentView,
    ModelsView,
    ProvidersView,
    SessionDefaults,
    ToolsView,
    ToolView,
    WorkspacesView,
)


async def _list_models(call: ApiCall) -> ModelsView:
    models = call.context.models
    listed = list(models.list_models())
    fixed = call.context.agent_options is not None
    settings = call.context.defaults
    session = SessionDefaults(settings.tools, settings.mode())
    return ModelsView([model.name for model in listed], models.default, listed, session, fixed)


async def _list_providers(call: ApiCall) -> ProvidersView:
    place = await asyncio.to_thread(key_place)  # the first call looks for a keyring on the bus of the system
    return ProvidersView(list(call.context.models.list_providers()), place)


async def _list_tools(call: ApiCall) -> ToolsView:
    groups = families(call.context.sandbox)
    program_tools = Registry(call.context.program_tools.values())
    tools = {tool.name: tool for group in groups.values() for tool in group}
    tools |= {tool.name: tool for tool in program_tools}
    views = [
        ToolView(offered.name, offered.definition.description, offered.effect, offered.definition.input_schema)
        for offered in tools.values()
    ]
    return ToolsView(views, {name: [tool.name for tool in group] for name, group in groups.items()})


async def _list_agents(call: ApiCall) -> AgentsView:
    query: AgentsQuery = call.query
    files = call.context.configuration.find_agents(query.workspace).by_name.values()
    return AgentsView([AgentView(file.name, file.description, file.model, list(file.handoffs)) for file in files])


async def _list_workspaces(call: ApiCall) -> WorkspacesView:
    return WorkspacesView(list(call.context.workspaces))


_operation = partial(Operation, tag="about")

OPERATIONS = (
    _operation("GET", "/models", _list_models, "Models that a session may name.", ModelsView),
    _operation("GET", "/providers", _list_providers, "Providers, and whether their keys are set.", ProvidersView),
    _operation("GET", "/tools", _list_tools, "Tools that a session may name.", ToolsView),
    _operation("GET", "/agents", _list_agents, "Agents that a session may name.", AgentsView, query=AgentsQuery),
    _operation("GET", "/workspaces", _list_workspaces, "Folders that a session may use.", WorkspacesView),
)
