"""Follows the Markdown of an answer while it arrives: what stands in a quotation or in code is not the model's own act.

Quoted are block quotes, fenced and indented code, inline code, text between quotation marks, items of lists, table
cells, lines of a diff, HTML comments, and elements such as `<think>` and `<pre>` that begin a line.
"""

import re
from typing import Literal

from heald.core.lazy import lazy_pattern

Quotation = Literal["", "block", "line"]
"""Where a character stands: in no quotation, in a block that goes on until its end, or in a quoted part of its line."""

_FENCE = lazy_pattern(r"[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})(.*)", re.S)
_LIST_ITEM = lazy_pattern(r"[ \t]*(?:[-*+•]|\d+[.)])[ \t]")
_DIFF = lazy_pattern(r"(?:diff --git |@@ -|\+\+\+ |--- \S)")
_DIFF_LINE = "+-@ \\"
_ELEMENT = lazy_pattern(
    r"[ \t]*<(think|thinking|thought|reasoning|blockquote|pre|code|q|cite|details|example|quote)\b[^>]*>", re.I
)
_CODE_RUN = lazy_pattern(r"`+")
_PAIRS = {"“": "”", "«": "»", "「": "」", "『": "』", "‘": "’"}
_COMMENT = "!--"
_CODE_INDENTATION = 4


class QuotationContext:
    """The Markdown context at the end of the text that was fed."""

    def __init__(self) -> None:
        self._line: list[str] = []  # pieces of the line that has not ended
        self._fence = ""
        self._element = ""  # an element that was not closed, or a comment
        self._in_quote = False
        self._in_list = False
        self._in_diff = False

    def feed(self, text: str) -> None:
        *ended, rest = text.split("\n")
        for piece in ended:
            self._end_line("".join((*self._line, piece)))
            self._line.clear()
        if rest:
            self._line.append(rest)

    def find_quotation(self, following: str) -> Quotation:
        """Return the quotation in which the following text stands. Blank space at its start is its indentation."""
        start = "".join(self._line) + following[: len(following) - len(following.lstrip(" \t"))]
        if self._fence or self._element_after(start):
            return "block"
        is_quoted = self._begins_quoted(start) or _has_open_code(start) or _has_open_quotation(start)
        return "line" if is_quoted else ""

    def _begins_quoted(self, start: str) -> bool:
        """Whether a line that begins so is quoted as a whole."""
        text = start.lstrip(" \t")
        indentation = len(start.expandtabs(_CODE_INDENTATION)) - len(text.expandtabs(_CODE_INDENTATION))
        if self._in_quote or indentation >= _CODE_INDENTATION or (indentation and self._in_list):
            return True
        if self._in_diff and start[:1] and start[0] in _DIFF_LINE:
            return True
        return text.startswith((">", "|", "+", "-")) or _LIST_ITEM.match(start) is not None

    def _end_line(self, line: str) -> None:
        if self._fence:
            fence = _FENCE.match(line)
            if fence is not None and fence[1].startswith(self._fence) and not fence[2].strip():
                self._fence = ""
            return
        element = self._element
        self._element = self._element_after(line)
        if element or self._element:
            return
        text = line.strip()
        if not text:
            self._in_quote = False
            return
        if text[0] == ">":
            self._in_quote = True
            return
        fence = _FENCE.match(line)
        if fence is not None and not (fence[1][0] == "`" and "`" in fence[2]):
            self._fence = fence[1]
        if _LIST_ITEM.match(line):
            self._in_list = True
        elif line[0] not in " \t":
            self._in_list = False
        self._in_diff = bool(_DIFF.match(line)) or (self._in_diff and line[0] in _DIFF_LINE)

    def _element_after(self, line: str) -> str:
        """Return the element, or the comment, that is open behind a line."""
        element = self._element
        if element:
            closer = "-->" if element == _COMMENT else f"</{element}>"
            at = line.lower().find(closer)
            if at < 0:
                return element
            line = line[at + len(closer) :]
        elif (begin := _ELEMENT.match(line)) is not None:
            name = begin[1].lower()
            return "" if f"</{name}>" in line.lower() else name
        comment = line.rfind("<!--")
        is_open = comment >= 0 and "-->" not in line[comment:] and not _has_open_code(line[:comment])
        return _COMMENT if is_open else ""


def _has_open_code(start: str) -> bool:
    """Whether inline code was begun in a line and not ended."""
    open_run = 0
    for run in _CODE_RUN.finditer(start):
        size = len(run[0])
        if not open_run:
            open_run = size
        elif size == open_run:
            open_run = 0
    return open_run > 0


def _has_open_quotation(start: str) -> bool:
    """Whether a quotation mark was opened in a line and not closed."""
    if start.count('"') % 2:
        return True
    if "„" in start:  # “ closes it
        return start.rfind("„") > max(start.rfind("“"), start.rfind("”"))
    return any(start.rfind(mark) > start.rfind(closing) for mark, closing in _PAIRS.items())
