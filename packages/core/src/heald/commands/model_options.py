"""The model that the options of a command name: of a provider, or at an endpoint of the user."""

import argparse
from typing import Protocol

from heald.core.errors import ConfigurationError, UnknownProvider
from heald.providers.model import Model


class ModelOpener(Protocol):
    """A source of models by name."""

    def open(self, name: str) -> object: ...


def named_model(options: argparse.Namespace) -> str | Model:
    """Return the model that the options name: of a provider, or at an endpoint of one's own."""
    check_endpoint(options)
    return complete_model(options.model) if options.base_url is None else endpoint_model(options, options.model)


def complete_model(name: str) -> str:
    """Return the name of a model with its provider. A name without one may be that of a model which a server of this
    machine has."""
    from heald.providers.resolve import find

    try:
        find(name)
    except UnknownProvider:
        from heald.providers.local_servers import LocalServers

        return LocalServers().find_model(name) or name
    return name


def check_endpoint(options: argparse.Namespace) -> None:
    """Raise if the options of an endpoint are not complete."""
    if options.base_url is not None and not options.model:
        raise ConfigurationError("--base-url needs --model, the name of a model at that endpoint.")
    if options.base_url is None and (options.wire or options.api_key_env):
        raise ConfigurationError("--wire and --api-key-env go with --base-url; a provider by name has its own.")


def endpoint_model(options: argparse.Namespace, name: str) -> Model:
    """Return a model at the endpoint that the options name."""
    return Model(name, wire=options.wire or "chat", base_url=options.base_url, api_key_env=options.api_key_env)


def require_key(models: ModelOpener, name: str) -> None:
    """Raise if a model is unknown or its key is missing."""
    model = models.open(name)
    if isinstance(model, Model):
        model.require_key()
