"""How a recorded stream's test says whether it was right. `tests/conftest.py` adds them up."""

from collections.abc import Callable

import pytest


@pytest.fixture
def score(record_property: Callable[[str, str], None]) -> Callable[[str, str, bool], None]:
    def count(wire: str, provider: str, right: bool) -> None:
        record_property("recorded", f"{wire} {provider} {'right' if right else 'wrong'}")

    return count
