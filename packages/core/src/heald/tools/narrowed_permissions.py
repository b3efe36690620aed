"""The permissions of a session, restricted to those of the agent that speaks in it."""

from heald.core.json import JsonObject
from heald.tools.definitions import Tool
from heald.tools.permissions import Decision, Permissions, Real, Verdict

_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


class NarrowedPermissions(Permissions):
    """Allows what both allow, and denies what either denies. Otherwise it asks.

    It has the mode, the rules and the allowed calls of the session's permissions: a change of either object is a change
    of both. So the session's permissions can be narrowed again, for another agent.
    """

    __slots__ = ("_narrower",)

    def __init__(self, session_permissions: Permissions, narrower: Permissions) -> None:
        self.__dict__ = session_permissions.__dict__
        self._narrower = narrower

    def decide(self, tool: Tool, arguments: JsonObject, real: Real | None = None) -> Decision:
        session_decision = super().decide(tool, arguments, real)
        if session_decision.verdict == "deny":
            return session_decision
        decision = self._narrower.decide(tool, arguments, real)
        return max(session_decision, decision, key=lambda item: _STRICTNESS[item.verdict])
