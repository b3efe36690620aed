"""Finds the detector of elements: a plugin that detects boxes, texts and pictures on a screenshot.

A distribution offers one as an entry point of the group `heald.detectors`; heald-local does. The first one is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from heald.core.distribution import install_advice
from heald.plugins import PluginFailed, load_plugin, plugin_names
from heald_pictures.elements import Detection
from heald_pictures.errors import ModelsMissing

Stage = Literal["regions", "finding text", "reading", "typefaces", "pictures", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage, the part of it that is done, and after the first stage a sketch of the page."""

    stage: Stage
    part: float
    detection: Detection | None = None


Report = Callable[[Progress], None]


class Detector(Protocol):
    def __call__(self, data: bytes, report: Report | None = None) -> Detection:
        """Detect everything on a screenshot. Raises VisionError if it is not a picture, or too large."""
        ...


def find_detector() -> Detector:
    """Return the installed detector. Raises ModelsMissing if there is none, or if it cannot be loaded."""
    for name in plugin_names("detectors"):
        try:
            return load_plugin("detectors", name)
        except PluginFailed as failure:
            raise ModelsMissing(str(failure)) from failure
    raise ModelsMissing(f"Reading a picture needs the extra local; install it with: {install_advice('local')}.")
