"""The invariant of resources: calls that write one do not overlap."""

from collections import Counter
from collections.abc import Iterator

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class ResourceCheck(InvariantCheck):
    """A resource such as `file:src` includes everything below it; `file:` is everything of its kind."""

    watches = (ev.ToolExecuting, ev.ToolCompleted, ev.ToolFailed, ToolResult, ev.SessionResumed)

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._held: dict[str, list[str]] = {}  # the resources of each call
        self._holder: dict[str, str] = {}  # the call of each resource
        self._held_inside: Counter[str] = Counter()  # how many held resources lie below each

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ToolExecuting():
                self._i3a_apart(event, event.data)
            case ev.ToolCompleted(id=call_id) | ev.ToolFailed(id=call_id) | ToolResult(id=call_id):
                self._release(call_id)
            case ev.SessionResumed():
                self._held, self._holder, self._held_inside = {}, {}, Counter()
            case _:
                pass

    def _i3a_apart(self, event: Event, data: ev.ToolExecuting) -> None:
        self._release(data.id)
        resources = list(dict.fromkeys(resource.rstrip("/") for resource in data.resources))
        for resource in resources:
            held = next((outer for outer in _enclosing_resources(resource) if outer in self._holder), None)
            if held is not None:
                holder = self._holder[held]
                self.report("I3A", event, f"{data.id!r} acquires {resource!r} while {holder!r} holds {held!r}")
            elif self._held_inside[resource]:
                self.report("I3A", event, f"{data.id!r} acquires {resource!r} while another call holds a part of it")
        self._held[data.id] = [resource for resource in resources if resource not in self._holder]
        for resource in self._held[data.id]:
            self._holder[resource] = data.id
            self._held_inside.update(_enclosing_resources(resource))

    def _release(self, call_id: str) -> None:
        for resource in self._held.pop(call_id, ()):
            del self._holder[resource]
            self._held_inside.subtract(_enclosing_resources(resource))


def _enclosing_resources(resource: str) -> Iterator[str]:
    """Yield the resource and all resources that include it."""
    yield resource
    kind, colon, path = resource.partition(":")
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{kind}:{path}"
    if path and colon:
        yield f"{kind}:"
