"""What a person types: a text of one line or several, a place in it, and what was typed before."""

import re

from weft.cli.chatting.keys import Key
from weft.tools.printable import printable

_LONGEST = 200_000
_SPACE = re.compile(r"\s")
_NEXT_WORD = re.compile(r"\s*\S*")


class Line:
    """Press keys; it is what they make of it."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        """Where the next letter goes."""
        self._past: list[str] = []
        self._back = 0  # how far one has gone back in the past
        self._draft = ""

    def take(self) -> str:
        """The text, to be sent. The line is empty afterwards."""
        text = self.text
        if text.strip() and (not self._past or self._past[-1] != text):
            self._past.append(text)
        self.put("")
        self._back = 0
        return text

    def put(self, text: str) -> None:
        self.text = text[:_LONGEST]
        self.at = len(self.text)

    def press(self, key: Key) -> bool:
        """Whether the key meant something here."""
        match key.name:
            case "text" | "paste":
                self._insert(printable(key.text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")))
            case "newline":
                self._insert("\n")
            case "backspace":
                self._cut(self.at - 1, self.at)
            case "delete":
                self._cut(self.at, self.at + 1)
            case "kill_line":
                self._cut(0, self.at)
            case "kill_end":
                self._cut(self.at, len(self.text))
            case "kill_word":
                self._cut(self._word_before(), self.at)
            case "left":
                self.at = max(self.at - 1, 0)
            case "right":
                self.at = min(self.at + 1, len(self.text))
            case "word_left":
                self.at = self._word_before()
            case "word_right":
                found = _NEXT_WORD.match(self.text, self.at)
                self.at = found.end() if found is not None else self.at
            case "home":
                self.at = self.text.rfind("\n", 0, self.at) + 1
            case "end":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            case "up":
                return self._recall(1)
            case "down":
                return self._recall(-1)
            case _:
                return False
        return True

    def _insert(self, text: str) -> None:
        text = text[: max(_LONGEST - len(self.text), 0)]
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    def _cut(self, start: int, end: int) -> None:
        start, end = max(start, 0), min(end, len(self.text))
        self.text = self.text[:start] + self.text[end:]
        self.at = start

    def _word_before(self) -> int:
        before = self.text[: self.at].rstrip()
        return len(before) - len(_SPACE.split(before)[-1])

    def _recall(self, step: int) -> bool:
        """Go through what was typed before; the draft is kept for the way back."""
        back = self._back + step
        if not 0 <= back <= len(self._past):
            return False
        if self._back == 0:
            self._draft = self.text
        self._back = back
        self.put(self._past[-back] if back else self._draft)
        return True
