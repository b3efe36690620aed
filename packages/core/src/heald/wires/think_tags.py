"""Splits thinking from text that holds it between `<think>` and `</think>`, in any split."""

from typing import Literal

Kind = Literal["text", "thinking"]

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """An incremental splitter. Only a tag at the very start opens thinking."""

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["start", "thinking", "gap", "text"] = "start"

    def feed(self, text: str) -> list[tuple[Kind, str]]:
        text = f"{self._held}{text}"
        self._held = ""
        if self._state == "start":
            rest = text.lstrip()
            if not rest or (len(rest) < len(_OPEN) and _OPEN.startswith(rest)):
                self._held = text
                return []
            self._state = "thinking" if rest.startswith(_OPEN) else "text"
            if self._state == "thinking":
                text = rest[len(_OPEN) :]
        if self._state == "gap":  # blank lines between thinking and text are dropped
            text = text.lstrip("\n")
            self._state = "text" if text else "gap"
        if self._state != "thinking":
            return _some("text", text)
        thinking, tag, after = text.partition(_CLOSE)
        if tag:
            self._state = "gap"
            return [*_some("thinking", thinking), *self.feed(after)]
        keep = _overlap(thinking, _CLOSE)
        self._held = thinking[len(thinking) - keep :]
        return _some("thinking", thinking[: len(thinking) - keep])

    def close(self) -> list[tuple[Kind, str]]:
        kind: Kind = "thinking" if self._state == "thinking" else "text"
        return _some(kind, self._held)


def _some(kind: Kind, text: str) -> list[tuple[Kind, str]]:
    return [(kind, text)] if text else []


def _overlap(text: str, tag: str) -> int:
    """The number of characters at the end of the text that could begin the tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
