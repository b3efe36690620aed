"""Plan mode of `heald chat`: the model may only read and answers with a plan, which the person edits and approves."""

import os
import shlex
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.messages import Message, Text
from heald.tools.workspace.diff import unified_diff
from heald_cli.approval_view import diff_lines

if TYPE_CHECKING:
    from heald_cli.chat.console import ChatConsole

PLAN_KEYS = "y carry it out · v view it as text · e edit it · n go on planning"
_NOTE = (
    "[Plan mode: change nothing, only read. Answer with a plan: numbered steps, the files that each step changes, and "
    "how the result is checked. Nothing is changed until I approve it.]"
)
_APPROVED = "The plan is approved. Carry it out."
_EDITED = "I changed the plan and approve it like this. Carry it out:\n\n{plan}"
_MAX_CHARACTERS = 200_000


def plan_request(text: str, message: Message) -> Message:
    """Make a request ask for a plan. The person sees only the words that were typed."""
    first, *rest = message.content
    asked = Text(f"{first.text}\n\n{_NOTE}") if isinstance(first, Text) else Text(_NOTE)
    content = [asked, *rest] if isinstance(first, Text) else [asked, first, *rest]
    return msgspec.structs.replace(message, content=content, said=text)


async def run_plan_command(console: "ChatConsole", word: str) -> None:
    """Run `/plan`: begin or end plan mode, carry the plan out, edit it, or ask for one."""
    if word == "go":
        await _carry_out(console)
    elif word == "edit":
        await _edit(console)
    elif word == "off":
        await console.set_planning(False)
        console.note(
            "Plan mode is off; calls that do more than read ask first." if _asks(console) else "Plan mode is off."
        )
    else:
        await console.set_planning(True)
        console.note("Plan mode: the model may only read. It answers with a plan; you approve it. /plan off ends it.")
        if word:
            await console.send_parts(word, [word])


def _asks(console: "ChatConsole") -> bool:
    return console.chat.session.permissions.mode == "ask"


async def _carry_out(console: "ChatConsole") -> None:
    plan, original = console.display.plan, console.display.original_plan
    if plan is None:
        raise ConfigurationError("There is no plan to carry out; ask for one in plan mode (/plan).")
    console.display.plan = None
    await console.set_planning(False)
    request = _APPROVED if plan == original else _EDITED.format(plan=plan)
    await console.send_parts(request, [request])


async def _edit(console: "ChatConsole") -> None:
    plan = console.display.plan
    if plan is None:
        raise ConfigurationError("There is no plan to edit; ask for one in plan mode (/plan).")
    changed = await edit_text(console, plan)
    if changed is None or changed.strip() == plan.strip():
        console.note("The plan is unchanged.")
        return
    console.display.offer_plan(changed.strip())
    diff = unified_diff("plan", plan.encode(), changed.encode())
    console.note("The plan is edited.")
    console.screen.print(*diff_lines(diff, console.paint))


async def edit_text(console: "ChatConsole", text: str) -> str | None:
    """Let the person edit a text in $VISUAL or $EDITOR. Returns None if the editor failed."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    handle, name = tempfile.mkstemp(prefix="heald-plan-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        try:
            status = await console.screen.run_program([*shlex.split(editor), name])
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"The editor {editor!r} cannot be started ({error}); set EDITOR.") from None
        if status:
            console.note(f"{editor} ended with exit code {status}.")
            return None
        return _read_text(name)
    finally:
        with suppress(OSError):
            os.unlink(name)


def _read_text(name: str) -> str:
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read(_MAX_CHARACTERS)
