"""Keys, from the bytes that a terminal sends. Bytes may come in any pieces; what no key sends is passed over."""

import codecs
import re
from typing import Literal

import msgspec

Name = Literal[
    "text",
    "paste",
    "enter",
    "newline",
    "backspace",
    "delete",
    "left",
    "right",
    "word_left",
    "word_right",
    "home",
    "end",
    "up",
    "down",
    "tab",
    "escape",
    "interrupt",
    "close",
    "kill_line",
    "kill_end",
    "kill_word",
    "redraw",
    "attach",
]

_CONTROLS: dict[str, Name] = {
    "\r": "enter",
    "\n": "newline",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x01": "home",
    "\x02": "left",
    "\x03": "interrupt",
    "\x04": "close",
    "\x05": "end",
    "\x06": "right",
    "\x0b": "kill_end",
    "\x0c": "redraw",
    "\x0e": "down",
    "\x10": "up",
    "\x15": "kill_line",
    "\x16": "attach",
    "\x17": "kill_word",
}
_SEQUENCES: dict[str, Name] = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "7~": "home",
    "4~": "end",
    "8~": "end",
    "3~": "delete",
    "1;5C": "word_right",
    "1;3C": "word_right",
    "1;5D": "word_left",
    "1;3D": "word_left",
    "13;2u": "newline",
}
_WITH_ALT: dict[str, Name] = {
    "\r": "newline",
    "\n": "newline",
    "b": "word_left",
    "f": "word_right",
    "\x7f": "kill_word",
}
_SEQUENCE = re.compile(r"\x1b(?:\[(?P<csi>[0-?]*[ -/]*[@-~])|O(?P<ss3>[@-~]))")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]{0,30}[ -/]{0,8}|O)?\Z")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_LONGEST_PASTE = 1 << 20


class Key(msgspec.Struct, frozen=True):
    name: Name
    text: str = ""
    """What was typed or pasted."""


class Keys:
    """Feed it what the terminal sends. A lone Esc is known by the silence after it: call `settle` then."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._pasting = False

    @property
    def waits(self) -> bool:
        """What came last may be the beginning of a sequence."""
        return bool(self._held) and not self._pasting

    def feed(self, data: bytes) -> list[Key]:
        self._held += self._decoder.decode(data)
        found: list[Key] = []
        while self._held:
            taken, keys = self._paste() if self._pasting else self._next()
            if not taken:
                break
            self._held = self._held[taken:]
            found += keys
        return found

    def settle(self) -> list[Key]:
        """Nothing follows: an Esc that was held back is the key itself."""
        if not self.waits:
            return []
        rest, self._held = self._held[1:], ""
        return [Key("escape"), *self.feed(rest.encode())]

    def _next(self) -> tuple[int, list[Key]]:
        """How many characters the next key took, and the key; none if more must come."""
        plain = _PLAIN.match(self._held)
        if plain is not None:
            return plain.end(), [Key("text", plain[0])]
        first = self._held[0]
        if first != "\x1b":
            name = _CONTROLS.get(first)
            return 1, [Key(name)] if name is not None else []
        if _UNFINISHED.match(self._held):
            return 0, []
        if self._held.startswith(_PASTE_BEGINS):
            self._pasting = True
            return len(_PASTE_BEGINS), []
        sequence = _SEQUENCE.match(self._held)
        if sequence is not None:
            name = _SEQUENCES.get(sequence["csi"] or sequence["ss3"])
            return sequence.end(), [Key(name)] if name is not None else []
        name = _WITH_ALT.get(self._held[1])
        return (2, [Key(name)]) if name is not None else (1, [Key("escape")])

    def _paste(self) -> tuple[int, list[Key]]:
        end = self._held.find(_PASTE_ENDS)
        if end < 0 and len(self._held) <= _LONGEST_PASTE:
            return 0, []
        self._pasting = False
        if end < 0:  # no terminal pastes that much in one piece and then says no more
            return len(self._held), [Key("paste", self._held[:_LONGEST_PASTE])]
        return end + len(_PASTE_ENDS), [Key("paste", self._held[:end])]
