"""The text of a message while it streams."""


class StreamedText:
    """The text of one message so far, as a guardrail gets it before the last part is published."""

    __slots__ = ("_parts", "delta")

    def __init__(self) -> None:
        self.delta = ""
        """The part that is new since the last check. It is not published yet."""
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        """The whole text, with `delta`."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def tail(self, characters: int) -> str:
        """Return the last characters of the text. The cost does not grow with the whole text."""
        parts: list[str] = []
        missing = characters
        for part in reversed(self._parts):
            if missing <= 0:
                break
            parts.append(part[-missing:])
            missing -= len(part)
        return "".join(reversed(parts))

    def add(self, delta: str) -> None:
        """Add the next part."""
        self.delta = delta
        self._parts.append(delta)
