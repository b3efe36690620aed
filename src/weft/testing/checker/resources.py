"""I3A: what one call holds, no other touches meanwhile."""

from collections import Counter
from collections.abc import Iterator

from weft.core.envelope import Event
from weft.core.events import SessionResumed, ToolCompleted, ToolExecuting, ToolFailed
from weft.core.tools import ToolResult
from weft.testing.checker.group import Group, Report


class Resources(Group):
    """A resource such as `file:src` holds all that is in it; `file:` alone is everything of its kind."""

    sees = (ToolExecuting, ToolCompleted, ToolFailed, ToolResult, SessionResumed)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._held: dict[str, list[str]] = {}  # by the call that holds them
        self._holder: dict[str, str] = {}
        self._around: Counter[str] = Counter()  # how many held resources lie in each

    def see(self, event: Event) -> None:
        match event.data:
            case ToolExecuting():
                self._i3a_apart(event, event.data)
            case ToolCompleted(id=call_id) | ToolFailed(id=call_id) | ToolResult(id=call_id):
                self._release(call_id)
            case SessionResumed():
                self._held, self._holder, self._around = {}, {}, Counter()
            case _:
                pass

    def _i3a_apart(self, event: Event, data: ToolExecuting) -> None:
        self._release(data.id)
        resources = list(dict.fromkeys(resource.rstrip("/") for resource in data.resources))
        for resource in resources:
            taken = next((outer for outer in _outwards(resource) if outer in self._holder), None)
            if taken is not None:
                self.broke(
                    "I3A", event, f"{data.id!r} takes {resource!r} while {self._holder[taken]!r} holds {taken!r}"
                )
            elif self._around[resource]:
                self.broke("I3A", event, f"{data.id!r} takes {resource!r} while another call holds a part of it")
        self._held[data.id] = [resource for resource in resources if resource not in self._holder]
        for resource in self._held[data.id]:
            self._holder[resource] = data.id
            self._around.update(_outwards(resource))

    def _release(self, call_id: str) -> None:
        for resource in self._held.pop(call_id, ()):
            del self._holder[resource]
            self._around.subtract(_outwards(resource))


def _outwards(resource: str) -> Iterator[str]:
    """The resource and all that it lies in."""
    yield resource
    kind, colon, path = resource.partition(":")
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{kind}:{path}"
    if path and colon:
        yield f"{kind}:"
