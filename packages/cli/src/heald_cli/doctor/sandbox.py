"""Rows about the sandbox of commands."""

import logging
import platform
import shutil

from heald.commands.finding import Findings, missing, ok
from heald.tools.shell import cgroups
from heald.tools.shell.sandbox import Sandbox


def check_sandbox() -> Findings:
    """Run a command in the sandbox."""
    quiet = logging.NullHandler()  # the finding has the text of the log
    logging.getLogger("heald").addHandler(quiet)
    try:
        reason = Sandbox().available()
    finally:
        logging.getLogger("heald").removeHandler(quiet)
    if reason is None:
        yield ok("sandbox", f"bubblewrap runs commands ({shutil.which('bwrap')})")
        if Sandbox().has_network:
            yield ok("sandbox", "commands reach the hosts that you allow, through a proxy")
        else:
            yield missing("sandbox", "commands have no network", "It needs bubblewrap 0.5 or later.")
        limited = cgroups.kind()
        how = f"by {limited}" if limited is not None else "by counting; no control group is delegated to this process"
        yield ok("sandbox", f"memory and processes of a command are limited {how}")
    elif platform.system() != "Linux":
        fix = "Windows: run Heald in WSL 2. macOS: run it in a Linux container or virtual machine."
        yield missing("sandbox", "bubblewrap is for Linux only, so models run no commands", fix)
    elif shutil.which("bwrap") is None:
        install = "Debian, Ubuntu: apt install bubblewrap. Fedora: dnf install bubblewrap."
        yield missing("sandbox", "bubblewrap (bwrap) is not installed, so models run no commands", install)
    else:
        fix = "Allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a container with them."
        yield missing("sandbox", reason.removeprefix("Commands cannot be run: "), fix)
