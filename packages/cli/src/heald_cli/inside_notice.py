"""Says at the start of a command that the mode `inside` asks for commands, where there is no sandbox."""

from heald.commands.terminal import print_note
from heald.tools.permissions import Mode
from heald.tools.shell.sandbox import Sandbox


def report_missing_sandbox(mode: Mode, sandbox: Sandbox) -> None:
    """Print why commands are asked for in the mode `inside`. It prints nothing in other modes."""
    if mode != "inside":
        return
    reason = "--unsandboxed is set." if sandbox.unsandboxed else sandbox.available()
    if reason is not None:
        print_note(f"Permissions are 'inside', which needs the sandbox, so every command is asked for. {reason}")
