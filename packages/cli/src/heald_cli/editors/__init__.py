"""The Agent Client Protocol (ACP): an editor talks to the agent on standard input and output. Needs the extra `acp`."""

from importlib.util import find_spec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if find_spec("acp") is None:
    raise ConfigurationError(
        f"The editor protocol needs the package agent-client-protocol, which is missing: {install_advice('acp')}"
    )
