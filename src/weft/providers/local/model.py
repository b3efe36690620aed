"""The converter under its names: `local/vision` keeps to the picture, `local/vision-responsive` to good code."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from weft.core.errors import ConfigurationError, UnknownProvider
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition
from weft.providers.base import ProviderSession

PROVIDER = "local"
LABEL = "Local converter (no language model)"

Way = Literal["fidelity", "responsive"]
"""What counts first where both cannot be had."""

WAYS: dict[str, Way] = {"vision": "fidelity", "vision-responsive": "responsive"}
NAMES = tuple(f"{PROVIDER}/{name}" for name in WAYS)
_LABELS = dict(zip(NAMES, (LABEL, f"{LABEL}, responsive first"), strict=True))
_PARTS = ("numpy", "PIL", "onnxruntime")
_CARRIER = "weft_local"
"""The package of `weft.vision.models`, which is not imported to find out: a test holds the two together."""


@cache
def available() -> bool:
    """Whether all that it needs is installed. Nothing of it is loaded for that."""
    if any(find_spec(part) is None for part in _PARTS):
        return False
    found = find_spec(_CARRIER)
    places = (found.submodule_search_locations or ()) if found is not None else ()
    return any(any((Path(place) / "models").glob("*.onnx")) for place in places)


def label_of(name: str) -> str:
    """What people read instead of a model's name; empty for other models."""
    return _LABELS.get(name, "")


@dataclass(frozen=True, kw_only=True)
class LocalVision:
    """A model that converts. The vision code is loaded with the first session, its networks with the first picture."""

    way: Way = "fidelity"
    piece: int = 240
    """Characters of a delta."""
    pause: float = 0.004
    """Seconds between two of them, so that a page is seen to grow."""

    @property
    def name(self) -> str:
        return next(f"{PROVIDER}/{name}" for name, way in WAYS.items() if way == self.way)

    @classmethod
    def named(cls, name: str) -> "LocalVision":
        """From what stands behind the slash."""
        if name not in WAYS:
            raise UnknownProvider(f"There is no local model {name[:60]!r}; there are {' and '.join(NAMES)}.")
        return cls(way=WAYS[name])

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        if not available():
            raise ConfigurationError(f'{self.name} needs more than is installed; pip install "weft[local]".')
        from weft.providers.local.session import LocalSession

        return LocalSession(self, messages, tools, settings)
