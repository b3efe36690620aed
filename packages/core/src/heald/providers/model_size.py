"""The number of a model's parameters, from its name or its server."""

import re

from heald.core.lazy import lazy_pattern

_PARAMETERS = lazy_pattern(r"(?<![\w.])(?:\d+x)?(\d+(?:\.\d+)?)\s?b(?![a-z0-9])", re.I)
_SMALL_PARAMETERS = 4.0


def is_small_model(name: str, parameters: int | None = None) -> bool:
    """Whether a model has fewer than four billion parameters: such models call tools badly.

    The name states the number, or else `parameters` does, from the server.
    """
    sizes = _sizes(name)
    if not sizes and parameters is not None:
        return parameters < _SMALL_PARAMETERS * 1e9
    return bool(sizes) and max(sizes) < _SMALL_PARAMETERS


def names_parameters(name: str) -> bool:
    """Whether the name of a model states its number of parameters."""
    return bool(_sizes(name))


def _sizes(name: str) -> list[float]:
    return [float(size) for size in _PARAMETERS.findall(name.replace("_", "-"))]
