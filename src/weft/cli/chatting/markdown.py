"""Markdown as it streams: a line is coloured when it is whole, and shown as far as it is known until then.

Nothing is laid out anew once it was shown: headings, lists, quotes, rules, code, bold, italics and links are marked
where they stand, and all else is left as the model wrote it.
"""

import re

from weft.cli.paint import BOLD, CYAN, DIM, ITALIC, UNDERLINE, Paint
from weft.tools.printable import PrintableStream

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([^`]*)\Z")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\Z")
_ITEM = re.compile(r"(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)\Z")
_NUMBERED = re.compile(r"(\s*)(\d{1,9}[.)])\s+(.*)\Z")
_QUOTE = re.compile(r"\s{0,3}>\s?(.*)\Z")
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*\Z")
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.{1,500}?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?P<bold>\S(?:[^*\n]{0,500}?\S)?)\*\*|__(?P<strong>\S(?:[^_\n]{0,500}?\S)?)__(?!\w)"
    r"|(?<![\w*])\*(?P<italic>[^\s*](?:[^*\n]{0,500}?[^\s*])?)\*(?![\w*])"
    r"|\[(?P<label>[^\]\n]{1,300})\]\((?P<url>[^)\s]{1,1000})\)"
)
_LONG = 8_000
"""Characters of a line from which on it is shown as it is: no prose has such lines."""
_CHECKS = {" ": "☐", "x": "☑", "X": "☑"}


class Markdown:
    """Feed it pieces of text; it gives the lines that are whole."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._safe = PrintableStream()
        self._line = ""
        self._fence = ""

    def feed(self, text: str) -> list[str]:
        *whole, self._line = (self._line + self._safe.feed(text).replace("\r", "")).split("\n")
        return [self._whole(line) for line in whole]

    @property
    def partial(self) -> str:
        """The line that is being written."""
        if not self._line:
            return ""
        if len(self._line) > _LONG:
            return self._line[-_LONG:]
        fence, shown = self._fence, self._whole(self._line)
        self._fence = fence
        return shown

    def close(self) -> list[str]:
        """The text is over: its last line, if there is one."""
        rest = self._line + self._safe.close()
        self._line = ""
        shown = [self._whole(rest)] if rest else []
        self._fence = ""
        return shown

    def _whole(self, line: str) -> str:
        fence = _FENCE.match(line)
        if self._fence:
            if fence is not None and fence[1].startswith(self._fence) and not fence[2]:
                self._fence = ""
                return self._paint("└─", DIM)
            return f"{self._paint('│', DIM)} {self._paint(line, CYAN)}"
        if fence is not None:
            self._fence = fence[1]
            return self._paint(f"┌─ {fence[2].strip()}".rstrip(), DIM)
        return self._block(line)

    def _block(self, line: str) -> str:
        if len(line) > _LONG:
            return line
        if _RULE.match(line):
            return self._paint("─" * 24, DIM)
        if heading := _HEADING.match(line):
            marks = (BOLD, UNDERLINE) if len(heading[1]) == 1 else (BOLD,)
            return self._paint(_bare(heading[2]), *marks)
        if item := _ITEM.match(line):
            mark = _CHECKS[item[2]] if item[2] is not None else "•"
            return f"{item[1]}{mark} {self._inline(item[3])}"
        if numbered := _NUMBERED.match(line):
            return f"{numbered[1]}{numbered[2]} {self._inline(numbered[3])}"
        if quote := _QUOTE.match(line):
            return f"{self._paint('▏', DIM)} {self._inline(quote[1])}"
        return self._inline(line)

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._marked, text)

    def _marked(self, found: re.Match[str]) -> str:
        if found["code"] is not None:
            return self._paint(found["code"], CYAN)
        if found["bold"] is not None or found["strong"] is not None:
            return self._paint(found["bold"] or found["strong"], BOLD)
        if found["italic"] is not None:
            return self._paint(found["italic"], ITALIC)
        url = "" if found["url"] == found["label"] else f" ({found['url']})"
        return self._paint(found["label"], UNDERLINE) + url


def _bare(text: str) -> str:
    """A heading's text, without marks inside it: it is marked as a whole."""
    return _INLINE.sub(lambda found: next(part for part in found.groups()[1:] if part is not None), text)
