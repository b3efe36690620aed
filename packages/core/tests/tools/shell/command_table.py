"""The table of command lines, and the rules that its verdicts are about.

Each row of `command_lines.jsonl` has four letters, a line, and the commands that are read from it (null: unreadable):
`D` DENY_RULES deny it, `A` ALLOW_RULES allow it, `H` a hook for `git push*` runs, `R` it only reads.
"""

import json
from pathlib import Path

DENY_RULES = ["deny run_command(rm)", "deny run_command(rm *)"]
_ALLOWED = (
    "awk bash builtin cd command declare echo env eval exec export false find getopts git jobs let ls printf python "
    "read sed sh source tar test timeout trap true unset wait xargs"
)
ALLOW_RULES = [
    *(f"allow run_command({name}{end})" for name in _ALLOWED.split() for end in ("", " *")),
    "allow run_command([[] *)",
]
HOOK = "run_command(git push*): false"

Row = tuple[str, str, list[str] | None]


def table() -> list[Row]:
    text = Path(__file__).with_name("command_lines.jsonl").read_text()
    return [(verdicts, line, commands) for verdicts, line, commands in map(json.loads, text.splitlines())]
