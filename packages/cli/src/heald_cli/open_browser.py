"""Opens a page in the user's browser, which gets no secrets of the environment."""

import subprocess
import sys
from contextlib import suppress

from heald.tools.process_environment import environment_without_secrets

_SECONDS = 60.0


def open_browser(address: str) -> None:
    """Open an address, and return when the browser was started. A failure is silent: the address is printed too."""
    # Isolated mode: without it a file `webbrowser.py` of the working folder would run.
    argv = [sys.executable, "-I", "-m", "webbrowser", address]
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            argv, env=environment_without_secrets(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
