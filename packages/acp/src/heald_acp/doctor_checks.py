"""The row of `heald doctor` about external agents: which of them are installed."""

from heald.commands.finding import Findings, ok
from heald_acp.configured_programs import list_programs


def check() -> Findings:
    installed = [f"acp/{program.name}" for program in list_programs().values() if program.find() is not None]
    names = ", ".join(installed) if installed else "none is installed"
    yield ok("agents (ACP)", f"external agents as models: {names}")
