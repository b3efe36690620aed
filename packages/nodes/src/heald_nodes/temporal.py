"""Opens a placement by Temporal. This module is light: temporalio is imported when a placement is opened."""

from typing import TYPE_CHECKING

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if TYPE_CHECKING:
    from heald_nodes.temporal_placement import TemporalPlacement


def open_temporal(address: str) -> "TemporalPlacement":
    """Open `temporal://host:port/namespace/queue`."""
    try:
        from heald_nodes.temporal_placement import TemporalPlacement
    except ImportError:
        raise ConfigurationError(
            f"Placement by Temporal needs temporalio; install it: {install_advice('temporal')}."
        ) from None
    return TemporalPlacement(address)
