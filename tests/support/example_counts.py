"""How much the random tests try: less in the suite than under `make fuzz`, and little under `make test-fast`."""

import os

from hypothesis import settings

_USUAL = 100
"""Examples of a property that names no number, for which the numbers of `scaled` are meant."""
IS_LONG = "HEALD_FUZZ_ROUNDS" in os.environ
"""Whether `make fuzz` runs the tests."""


def scaled(count: int) -> int:
    """The number of examples in this run of a property: a fifth of `count` in the suite, five times as many under the
    profile `long`, a tenth under `fast`."""
    return max(5, count * settings().max_examples // _USUAL)
