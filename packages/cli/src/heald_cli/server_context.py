"""The settings and the state of a server, made from the options of `heald serve` and `heald mcp`."""

import argparse
from pathlib import Path

import msgspec

from heald.agent.folder_extras import FolderExtras
from heald.commands.model_options import named_model
from heald.commands.request_settings import reasoning_of
from heald.config.command_tables import settings_tables
from heald.core.errors import ConfigurationError
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.tools.shell.sandbox import Sandbox
from heald_cli.agent_choice import name_foreign_agents
from heald_cli.edit_formats import use_stored_format
from heald_cli.folder_extras import ExtrasCollector
from heald_cli.inside_notice import report_missing_sandbox
from heald_cli.own_tools import OwnTools, builtin_names
from heald_cli.project_agents import load_agents
from heald_server.access.tokens import AccessTokens
from heald_server.access.users import Users, read_users
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings


def make_settings(options: argparse.Namespace) -> ServerSettings:
    """Make the settings of a server from the options."""
    return ServerSettings(
        host=options.host,
        port=options.port,
        origins=tuple(options.allow_origin),
        public_url=options.public_url or "",
        open_metrics=options.open_metrics,
        needs_token=bool(options.token) or not options.no_token,
        client_tools=options.client_tools,
        client_tool_timeout=options.client_tool_timeout,
        after_crash=options.after_crash,
        room=options.room,
        placement=options.placement,
        keep_deltas=options.keep_deltas * 3600 if options.keep_deltas is not None else None,
        show_tools=options.show_tools,
        limits=ServerLimits(
            exchanges=options.max_exchanges,
            tokens_per_day=options.max_tokens_per_day,
            usd_per_day=options.max_usd_per_day,
        ),
    )


def make_context(
    options: argparse.Namespace, settings: ServerSettings, token: str, store: Store, own_tools: OwnTools
) -> ServerContext:
    """Make the state of a server from the options."""
    named = {options.model: named_model(options)} if options.base_url else {}
    users = read_users(options.users) if options.users else Users()
    tools = [*builtin_names(options.tools), *own_tools.by_name()]
    defaults = SessionSettings(
        model=options.model or "",
        agent=getattr(options, "agent", None) or "",
        tools=tools,
        permissions=options.permissions,
        cache=options.cache,
        temperature=options.temperature,
        reasoning=reasoning_of(options),
        extra=options.extra,
    )
    workspaces = find_workspaces(options.workspace)
    extras = ExtrasCollector(options)
    for folder in workspaces.values():
        extras.read_hooks(folder)  # now, before a model can change a script

    def find_extras(folder: str | None, settings: SessionSettings, owner: str) -> FolderExtras:
        if folder is None:  # the session stores the files: no hook applies
            return FolderExtras(equip=lambda agent, model: use_stored_format(agent, model))
        memory = extras.open_memory(folder, owner)
        return extras.collect(folder, settings.instructions, has_tools=bool(settings.tools), memory=memory)

    if defaults.agent and not any(defaults.agent in load_agents(folder).by_name for folder in workspaces.values()):
        load_agents(None).find(defaults.agent)  # raises if there is none
    sandbox = Sandbox(unsandboxed=options.unsandboxed)
    report_missing_sandbox(options.permissions, sandbox)
    context = ServerContext(
        Sessions(store),
        KnownModels(options.model, named, agents=name_foreign_agents(getattr(options, "external_agents", None) or [])),
        settings=settings,
        tokens=_tokens(options, token, users),
        users=users,
        defaults=defaults,
        tools=own_tools.by_name,
        workspaces=workspaces,
        sandbox=sandbox,
        find_extras=find_extras,
        find_agents=load_agents,
        find_memory=extras.open_memory,
        protocol_options=protocol_options(options),
    )
    if own_tools.servers is not None:

        def offer_tools() -> None:
            names = [*builtin_names(options.tools), *own_tools.by_name()]
            context.defaults = msgspec.structs.replace(context.defaults, tools=names)

        own_tools.servers.on_change(offer_tools)
    return context


def _tokens(options: argparse.Namespace, token: str, users: Users) -> AccessTokens:
    """Return the tokens of the options, of the file of users and of the identity provider."""
    verify = has_key = None
    if options.jwt_issuer:
        from heald_server.access.jwt_auth import JwtVerifier

        verifier = JwtVerifier(
            options.jwt_issuer,
            options.jwt_audience or "",
            keys_url=options.jwt_jwks or "",
            algorithms=options.jwt_algorithms,
            owner_claim=options.jwt_owner,
        )
        verify, has_key = verifier.verify, verifier.has_key
    return AccessTokens({token: ""} if token else {}, digests=users.digests, verify=verify, has_key=has_key)


def protocol_options(options: argparse.Namespace) -> dict[str, dict[str, object]]:
    """Return the options of protocols: the tables of other distributions that `heald serve` has, such as `[studio]`."""
    tables = {name: table.commands["serve"] for name, table in settings_tables().items() if "serve" in table.commands}
    return {
        name: {key: value for key in keys if (value := getattr(options, f"{name}_{key}")) is not None}
        for name, keys in tables.items()
    }


def find_workspaces(folders: list[str]) -> dict[str, str]:
    """Return the folders that sessions may work in, by name. Raises ConfigurationError for one that does not exist."""
    workspaces: dict[str, str] = {}
    for folder in folders:
        path = Path(folder).expanduser().resolve()
        if not path.is_dir():
            raise ConfigurationError(f"There is no folder {folder!r} to work in; create it first.")
        name = path.name or "root"
        while name in workspaces:
            name = f"{name}-{len(workspaces) + 1}"
        workspaces[name] = str(path)
    return workspaces
