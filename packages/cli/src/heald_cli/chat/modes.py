"""The modes of `heald chat` that Shift-Tab switches between, also while an exchange runs."""

from collections.abc import Sequence

import msgspec

from heald.core.errors import ConfigurationError
from heald.sessions.session import Session
from heald.sessions.settings import SessionSettings
from heald.tools.permissions import Mode, PermissionRule

_EDITING_TOOLS = ("create_file", "write_file", "edit_file", "apply_patch")
_EDIT_RULES = tuple(f"allow {name}" for name in _EDITING_TOOLS)
"""The rules of the mode that accepts edits. They precede those of the user, which count more."""


class ChatMode(msgspec.Struct, frozen=True):
    """What the model may do without a question."""

    name: str
    description: str
    permissions: Mode = "ask"
    accepts_edits: bool = False
    is_planning: bool = False


PLAN = ChatMode("plan", "the model may only read, and answers with a plan", is_planning=True)
_MODES = (
    PLAN,
    ChatMode("ask", "asks before anything but reading"),
    ChatMode("edits", "changes files without a question, asks for the rest", accepts_edits=True),
    ChatMode("inside", "asks only for what leaves the folder and the sandbox", "inside"),
)
_MORE = (
    ChatMode("read-only", "only reading", "read-only"),
    ChatMode("auto", "asks for nothing", "auto"),
)
"""Modes that are switched to only if the conversation began with them, or by name."""


def mode_of(settings: SessionSettings) -> ChatMode:
    """Return the mode that a conversation has."""
    if settings.planning:
        return PLAN
    mode = settings.mode()
    accepts_edits = mode == "ask" and _count_edit_rules(settings.rules) > 0
    return next(
        item
        for item in (*_MODES, *_MORE)
        if not item.is_planning and (item.permissions, item.accepts_edits) == (mode, accepts_edits)
    )


def find_mode(name: str) -> ChatMode:
    """Return the mode of a name. Raises ConfigurationError if there is none."""
    for mode in (*_MODES, *_MORE):
        if mode.name == name:
            return mode
    raise ConfigurationError(f"There is no mode {name[:40]!r}; {', '.join(mode.name for mode in (*_MODES, *_MORE))}.")


def next_mode(current: ChatMode, first: ChatMode) -> ChatMode:
    """Return the mode after the current one. `first` is the one that the conversation began with."""
    modes: Sequence[ChatMode] = _MODES if first in _MODES else (*_MODES, first)
    return modes[(modes.index(current) + 1) % len(modes)] if current in modes else modes[0]


def _count_edit_rules(rules: Sequence[str]) -> int:
    """Return how many of the first rules are those of the mode that accepts edits; a single one is the user's."""
    count = next((at for at, rule in enumerate(rules) if rule not in _EDIT_RULES), len(rules))
    return count if count > 1 else 0


async def switch_mode(session: Session, mode: ChatMode) -> None:
    """Let a session continue in another mode, from its next call on. It is stored."""
    settings = session.stored_settings
    if settings.agent and not mode.is_planning and not settings.planning:
        raise ConfigurationError(f"The agent {settings.agent} has permissions of its own; only plan mode can be set.")
    if not mode.is_planning and not settings.agent:
        permissions = session.permissions
        names = {tool.name for tool in session.tools}
        edits = [f"allow {name}" for name in _EDITING_TOOLS if name in names] if mode.accepts_edits else []
        rules = [*edits, *settings.rules[_count_edit_rules(settings.rules) :]]
        permissions.mode, permissions.rules = mode.permissions, [PermissionRule.parse(rule) for rule in rules]
        await session.configure(permissions=mode.permissions, rules=rules)
    await session.set_planning(mode.is_planning)
