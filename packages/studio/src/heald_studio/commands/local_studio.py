"""Runs the studio in this process, without a server."""

import argparse
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from heald.commands.model_options import check_endpoint, endpoint_model, require_key
from heald.config.paths import DATABASE, data_folder
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from heald_studio.agent_models import is_agent
from heald_studio.commands.refused_approvals import refuse_approvals
from heald_studio.default_models import models_for

if TYPE_CHECKING:
    from heald_studio.studio import Studio

OWNER = ""
"""Owner of the projects: the same as in `heald serve` with one token."""


def resolve_models(options: argparse.Namespace) -> KnownModels:
    """Return the models that the options allow. Raises if a named one cannot be used."""
    check_endpoint(options)
    names: list[str] = options.model
    served = [name for name in names if options.base_url and not is_agent(name)]
    named = {name: endpoint_model(options, name) for name in served}
    models = KnownModels(named=named, agents=names)  # who starts the command is the operator
    for name in names:
        require_key(models, name)
    if not names:
        models.servers.find()  # else the first requests would not know the models of this machine
    return models


def check_output(out: Path) -> None:
    """Raise if nothing can be written to an output folder, before anything is paid for."""
    if out.exists() and not out.is_dir():
        raise ConfigurationError(f"{out} is not a folder; name another with --output.")
    above = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not above.is_dir():
        raise ConfigurationError(f"{out} cannot be made, because {above} is not a folder; name another with --output.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigurationError(f"Nothing can be written to {above}; name another folder with --output.")


@asynccontextmanager
async def open_local_studio(
    models: KnownModels,
    options: argparse.Namespace,
    *,
    data: str | None = None,
    scores: bool = True,
    exchanges: int | None = None,
) -> AsyncGenerator[tuple["Studio", ServerContext]]:
    """Open the studio and the context of its sessions. Without `data` nothing is stored. `exchanges` may be open."""
    from heald_studio.server.host import open_studio

    store = MemoryStore() if data is None else SqliteStore(data_folder(data) / DATABASE)
    limits = ServerLimits() if exchanges is None else ServerLimits(exchanges=exchanges)
    context = ServerContext(Sessions(store), models, settings=ServerSettings(limits=limits), tokens=AccessTokens({}))
    studio = open_studio(context, prompts=options.studio_prompts, stacks=options.studio_stacks, scores=scores)
    context.open_sessions.on_open(refuse_approvals)
    try:
        yield studio, context
    finally:
        await studio.close()
        await context.stop()
        _close_browser()


def choose_models(
    named: Sequence[str], studio: "Studio", variants: int | None, default: int, *, pictures: bool
) -> tuple[list[str], int]:
    """Choose the models and the number of variants: by default one for each model that differs."""
    offered = list(named) or models_for(studio.models(), pictures=pictures)
    if not offered:
        raise ConfigurationError(
            "There is no model to build with; set a key such as ANTHROPIC_API_KEY, name one with --model, "
            f"or {install_advice('local')}."
        )
    return offered, variants if variants is not None else (len(named) or min(default, len(offered)))


def _close_browser() -> None:
    from heald_studio.browser.browser import shared_browser

    shared_browser().close()
