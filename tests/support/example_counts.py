"""The number of examples of a property: what its test asks for, or a tenth of it under the profile `fast`."""

from hypothesis import settings

_USUAL = 100
"""Examples of a property that names no number, in a whole run."""


def scaled(count: int) -> int:
    """The number of examples in this run, for a property that has `count` of them in a whole one."""
    return max(5, count * settings().max_examples // _USUAL)
