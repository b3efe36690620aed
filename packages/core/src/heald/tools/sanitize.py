"""Makes untrusted text that is only read safe to display; `visible_text` is for text that a person decides on.

Line breaks and tabs stay. Terminal sequences (ECMA-48) are dropped. Other control characters, and characters that hide
or reorder text, are written as escapes. So is a carriage return, which would overwrite its line, unless it belongs to a
line break; text that no terminal shows may keep it.
"""

import re

from heald.core.lazy import lazy_pattern

_LONGEST = 4096
"""Maximum length of a terminal sequence. A longer one is shown as text, with its escape character escaped."""

_STRING = rf"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]{{0,{_LONGEST}}}"  # OSC, DCS, SOS, PM, APC
_CONTROL = r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}"  # CSI
_SEQUENCE = lazy_pattern(
    rf"{_STRING}(?:\x07|\x1b\\|\x9c)|{_CONTROL}[@-~]"
    r"|\x1b[ -/]{1,8}[0-~]|\x1b[0-OQ-WYZ\\`-~]"
)
_UNFINISHED = lazy_pattern(rf"(?:{_STRING}\x1b?|{_CONTROL}|\x1b[ -/]{{0,8}})\Z")
_HIDDEN = lazy_pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_OPENERS = lazy_pattern("[\x1b\x90\x98\x9b\x9d-\x9f]")


def sanitize_text(text: str, *, keep_returns: bool = False) -> str:
    """Return the text in a form that is safe to display."""
    if text.isascii() and text.isprintable():
        return text
    return _escape_controls(_SEQUENCE.sub("", text), keep_returns)


class TextSanitizer:
    """Sanitizes text that arrives in pieces. An incomplete sequence at the end of a piece is buffered."""

    def __init__(self, *, keep_returns: bool = False) -> None:
        self._keep_returns = keep_returns
        self._held = ""

    def feed(self, text: str) -> str:
        if self._held:
            text = self._held + text
        self._held = ""
        if _OPENERS.search(text, max(0, len(text) - _LONGEST - 4)):
            unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST - 4))
            if unfinished is not None:
                self._held = unfinished[0]
                text = text[: unfinished.start()]
        text = _SEQUENCE.sub("", text)
        if text.endswith("\r") and not self._keep_returns:  # it may belong to a line break
            self._held = f"\r{self._held}"
            text = text[:-1]
        return _escape_controls(text, self._keep_returns)

    def close(self) -> str:
        """Return the buffered text at the end of the input."""
        text, self._held = self._held, ""
        return sanitize_text(text, keep_returns=self._keep_returns)


def _escape_controls(text: str, keep_returns: bool) -> str:
    if not keep_returns and "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\\x0d")
    return _HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
