"""The requests of one session, which the facts of its conversation are checked against and cite."""

from collections.abc import Iterator

from heald.tools.memory.fact import Evidence, Rewind, is_undone

_MAX_REQUESTS = 500


class SessionEvidence:
    """The requests of the user in one session, with their events. Tools get it from `ToolContext.keep`."""

    def __init__(self) -> None:
        self.session = ""
        """The id of the session. Empty if no memory is attached."""
        self._requests: dict[int, str] = {}
        self._calls: dict[str, int] = {}
        self._rewinds: list[Rewind] = []

    def add_request(self, seq: int, text: str) -> None:
        """Add a request with the number of its event."""
        self._requests[seq] = text
        if len(self._requests) > _MAX_REQUESTS:
            del self._requests[next(iter(self._requests))]

    def add_call(self, call_id: str, seq: int) -> None:
        """Add a call with the number of its event."""
        self._calls = {call_id: seq, **self._calls} if len(self._calls) < _MAX_REQUESTS else {call_id: seq}

    def rewind(self, at: int, to: int) -> None:
        """Continue from an earlier event."""
        self._rewinds.append(Rewind(at, to))

    @property
    def requests(self) -> Iterator[tuple[int, str]]:
        """The requests that are not undone, the last one first, each with the number of its event."""
        for seq, text in reversed(self._requests.items()):
            if not is_undone(seq, self._rewinds):
                yield seq, text

    @property
    def last_request(self) -> str:
        """The words of the last request."""
        return next((text for _, text in self.requests), "")

    def of_call(self, call_id: str) -> tuple[Evidence, ...]:
        """Return the events of a call: the last request, and the call itself."""
        seqs = [seq for seq in (next((seq for seq, _ in self.requests), None), self._calls.get(call_id)) if seq]
        return tuple(Evidence(self.session, seq) for seq in seqs)
