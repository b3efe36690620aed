"""The local model `local/vision`: a converter that needs no key and no network."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError, UnknownProvider
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import ProviderSession
from heald.providers.families import OfferedModel

PROVIDER = "local"
LABEL = "Local converter (no language model)"

Mode = Literal["fidelity", "responsive"]  # which goal wins in a conflict

MODES: dict[str, Mode] = {"vision": "fidelity", "vision-responsive": "responsive"}
NAMES = tuple(f"{PROVIDER}/{name}" for name in MODES)
STACK_NAMES = (
    "html_css",
    "html_tailwind",
    "react_tailwind",
    "react_vite",
    "next_shadcn",
    "svelte_vite",
    "astro_tailwind",
    "vue_tailwind",
    "bootstrap",
    "ionic_tailwind",
    "svg",
)
"""The stacks that the page offers for it: those of `heald_local.write.stacks`, which is not imported here."""
_LABELS = dict(zip(NAMES, (LABEL, "Responsive local converter (no language model)"), strict=True))
_PARTS = ("numpy", "PIL", "onnxruntime")


@cache
def available() -> bool:
    """Whether everything it needs is installed. Loads nothing."""
    if any(find_spec(part) is None for part in _PARTS):
        return False
    return any((Path(__file__).parent / "models").glob("*.onnx"))


@dataclass(frozen=True, kw_only=True)
class LocalVision:
    """The converter as a model. The first session loads its code, the first picture its networks."""

    stacks: ClassVar[tuple[str, ...]] = STACK_NAMES
    """The stacks that it can write."""
    mode: Mode = "fidelity"
    piece: int = 240  # characters of a delta
    pause: float = 0.004  # seconds between two of them, so that a page is seen to grow

    @property
    def name(self) -> str:
        return next(f"{PROVIDER}/{name}" for name, mode in MODES.items() if mode == self.mode)

    @classmethod
    def named(cls, name: str) -> "LocalVision":
        """Make the model from the part of its name behind the slash."""
        if name not in MODES:
            raise UnknownProvider(f"There is no local model {name[:60]!r}; there are {' and '.join(NAMES)}.")
        return cls(mode=MODES[name])

    @classmethod
    def list_models(cls) -> list[OfferedModel]:
        """Return the local models, if everything that they need is installed."""
        return [OfferedModel(name, label) for name, label in _LABELS.items()] if available() else []

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        if not available():
            raise ConfigurationError(f"{self.name} needs more than is installed; {install_advice('local')}.")
        from heald_local.session import LocalSession

        return LocalSession(self, messages, tools, settings)
