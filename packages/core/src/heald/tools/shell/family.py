"""The family `shell`: the shell tools in a sandbox, made once, since every session of a server looks them up."""

from functools import lru_cache

from heald.tools.definitions import Tool
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools


def shell_family(sandbox: Sandbox | None) -> tuple[Tool, ...]:
    """Return the shell tools that run commands in a sandbox."""
    try:
        return _cached_tools(sandbox)
    except TypeError:  # a list in it has no hash
        return tuple(shell_tools(sandbox))


@lru_cache(16)
def _cached_tools(sandbox: Sandbox | None) -> tuple[Tool, ...]:
    return tuple(shell_tools(sandbox))
