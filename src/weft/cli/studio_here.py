"""The studio without a server: in this process, with no socket, for as long as a command runs."""

import argparse
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from weft.cli.data import FILE, data_folder
from weft.core.errors import ConfigurationError
from weft.providers.model import Model
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.settings import ServerSettings
from weft.server.tokens import Tokens
from weft.sessions.memory import MemoryStore
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore
from weft.wires.registry import WIRES

if TYPE_CHECKING:
    from weft.studio.studio import Studio

OWNER = ""
"""Whose projects they are: the same as those of `weft serve` with one token."""


def add_model_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """`--model` and where it lives; it may have other names before that."""
    model = parser.add_argument_group("model")
    model.add_argument(
        *names,
        "--model",
        dest="model",
        action="append",
        default=[],
        metavar="NAME",
        help="provider/model, several by commas or repeated (the strongest that keys allow)",
    )
    model.add_argument("--base-url", help="an endpoint of your own; the model's name is sent as it stands")
    model.add_argument("--wire", choices=list(WIRES), help="what that endpoint speaks (chat)")
    model.add_argument("--api-key-env", metavar="NAME", help="the environment variable with that endpoint's key")


def models_of(options: argparse.Namespace) -> KnownModels:
    """The models that the options allow, once each that is named was found to be usable."""
    names: list[str] = [name.strip() for given in options.model for name in given.split(",") if name.strip()]
    if options.base_url is None:
        if options.wire or options.api_key_env:
            raise ConfigurationError("--wire and --api-key-env go with --base-url; a provider by name has its own.")
        known = KnownModels()
    elif not names:
        raise ConfigurationError("--base-url goes with --model, the name that the endpoint knows.")
    else:
        known = KnownModels(named={name: _at(options, name) for name in names})
    options.model = names
    for name in names:
        model = known.open(name)
        if isinstance(model, Model):
            model.require_key()
    return known


def _at(options: argparse.Namespace, name: str) -> Model:
    return Model(name, wire=options.wire or "chat", base_url=options.base_url, api_key_env=options.api_key_env)


@asynccontextmanager
async def studio_here(
    models: KnownModels, *, data: str | None = None, scores: bool = True
) -> AsyncGenerator[tuple["Studio", ServerContext]]:
    """The studio, and the context that its sessions are opened in. Without `data` nothing is kept."""
    try:
        from weft.server.studio.host import open_studio
    except ImportError as error:
        raise missing_studio(error) from None
    store = MemoryStore() if data is None else SqliteStore(data_folder(data) / FILE)
    context = ServerContext(Sessions(store), models, settings=ServerSettings(), tokens=Tokens({}))
    studio = open_studio(context, scores=scores)
    try:
        yield studio, context
    finally:
        await studio.close()
        await context.stop()
        _close_browser()


def chosen_models(named: Sequence[str], studio: "Studio", wanted: int | None, usual: int) -> tuple[list[str], int]:
    """The models to use, and how many variants: no more than differ, unless a number was asked for."""
    offered = list(named) or list(studio.models())
    if not offered:
        raise ConfigurationError(
            "There is no model to build with; set a key such as ANTHROPIC_API_KEY, name one with --model, "
            "or pip install 'weft[local]'."
        )
    return offered, wanted if wanted is not None else (len(named) or min(usual, len(offered)))


def missing_studio(error: ImportError) -> ConfigurationError:
    return ConfigurationError(
        f"This needs {error.name or 'a library'}, which is not installed; pip install 'weft[studio]'."
    )


def _close_browser() -> None:
    from weft.studio.browser.browser import shared_browser

    shared_browser().close()
