"""Text that is piped to a command."""

import sys

from heald.core.errors import ConfigurationError


def read_stdin() -> str:
    """Read the text that is piped to a command."""
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ConfigurationError("Standard input is not text; a picture is given by the name of its file.") from None
