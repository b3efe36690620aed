"""The phrases that `scripts/check_english.py` refuses."""

import importlib.util
from types import ModuleType

import pytest

from repository import ROOT


def _load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_english", ROOT / "scripts" / "check_english.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _load_script()
PHRASES = SCRIPT.load_phrases()


@pytest.mark.parametrize(
    "text",
    [
        "heald.toml is no TOML",
        "The value is no\n    number; give one.",
        "# what it sends to all who\n# watch",
        "Take it for small teams",
        "Lines before it.\n**Price: none",
    ],
)
def test_an_odd_phrase_is_found(text: str) -> None:
    assert SCRIPT.holds_phrase(text, PHRASES)
    assert SCRIPT.find_phrases(text, PHRASES)


@pytest.mark.parametrize("text", ["There is no file of that name.", "It is not valid TOML.", "is no longer a list"])
def test_plain_english_is_accepted(text: str) -> None:
    assert SCRIPT.find_phrases(text, PHRASES) == []
