"""Finds the program of Chromium."""

import os
import shutil
from pathlib import Path

from heald_studio.browser.page import BrowserError

NOT_FOUND = "Chromium was not found; install it (Debian: apt install chromium) or set HEALD_CHROMIUM=path."

_NAMES = (
    "chromium-headless-shell",  # the same engine without windows: a third less processor time
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
_WRAPPERS = {"/usr/bin/chromium-headless-shell": "/usr/lib/chromium/chromium-headless-shell"}
"""Scripts that would stay between us and the process, with the program that they start (Debian)."""
_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def has_chromium() -> bool:
    """Whether there is a browser that can render pages."""
    try:
        find_chromium()
    except BrowserError:
        return False
    return True


def find_chromium() -> Path:
    """Find the program: HEALD_CHROMIUM if it is set, else the first one that is installed. Raises BrowserError."""
    chosen = os.environ.get("HEALD_CHROMIUM")
    if chosen:
        program = _find_program(chosen)
        if program is None:
            raise BrowserError("HEALD_CHROMIUM names no program that can be run; set it to Chromium's path.", "missing")
        return program
    for name in (*_NAMES, *_PATHS):
        program = _find_program(name)
        if program is not None:
            return program
    raise BrowserError(NOT_FOUND, "missing")


def _find_program(name: str) -> Path | None:
    program = shutil.which(name)
    if program is None:
        return None
    return Path(shutil.which(_WRAPPERS.get(program, program)) or program)
