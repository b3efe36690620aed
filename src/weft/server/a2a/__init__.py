"""Agents for A2A (Agent2Agent) clients. Needs the extra `a2a`."""

from importlib.util import find_spec

from weft.core.errors import ConfigurationError

if find_spec("a2a") is None:
    raise ConfigurationError('A2A needs the package a2a-sdk, which is missing: pip install "weft[a2a]".')
