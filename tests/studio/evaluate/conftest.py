"""How many widths of a page are looked at."""

import pytest

from weft.studio.evaluate import quality


@pytest.fixture
def one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """One width instead of eight, which are most of the time, for tests that do not ask about the others."""
    monkeypatch.setattr(quality, "WIDTHS", (360,))
