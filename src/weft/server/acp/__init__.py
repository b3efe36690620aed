"""The Agent Client Protocol (ACP): an editor talks to the agent on standard input and output. Needs the extra `acp`."""

from importlib.util import find_spec

from weft.core.errors import ConfigurationError

if find_spec("acp") is None:
    raise ConfigurationError(
        'The editor protocol needs the package agent-client-protocol, which is missing: pip install "weft[acp]".'
    )
