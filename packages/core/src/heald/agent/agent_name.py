"""The names of agents."""

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

AGENT_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}\Z")
"""A name that is also that of a file, and that every provider accepts as a value."""
INVALID_NAME = "is not a valid name for an agent: use at most 63 letters, digits, _ and -."
"""The end of the error for any other name."""


def check_name(name: str) -> None:
    """Raise ConfigurationError for a name that an agent cannot have."""
    if not AGENT_NAME.match(name):
        raise ConfigurationError(f"Agent: {name!r} {INVALID_NAME}")
