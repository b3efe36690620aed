"""Pages in the text of an answer: a model that answers with a page instead of a call gets it written."""

import re
from collections.abc import Sequence

from heald.agent.strategy import Strategy
from heald.core.ids import new_id
from heald.core.lazy import lazy_pattern
from heald.core.markdown import FENCE, fenced_blocks
from heald.core.messages import ToolCall

_PAGE = "index.html"
_TOOL = "create_file"
_BEGIN = lazy_pattern(r"<!doctype html\b|<html\b", re.IGNORECASE)
_MARKUP = lazy_pattern(r"<(?:head|body|main|div|section|svg)\b", re.IGNORECASE)
_END = "</html>"


class PageText(Strategy):
    """Writes the page that the model answered as text, if the project has no files."""

    def read_text(self, text: str) -> Sequence[ToolCall]:
        runtime = self.conversation.runtime
        if not runtime.workspace.is_project or _TOOL not in runtime.registry or runtime.workspace.files():
            return ()
        page = extract_html(text)
        if page is None:
            return ()
        return [ToolCall(id=new_id("final"), name=_TOOL, input={"path": _PAGE, "content": page})]


def extract_html(text: str) -> str | None:
    """Return the page in a text: a document, complete or cut off, or a fenced block of markup."""
    begin = _BEGIN.search(text)
    if begin is None:
        blocks = [block for block in fenced_blocks(text) if _MARKUP.search(block)]
        return max(blocks, key=len).strip() + "\n" if blocks else None
    end = text.lower().rfind(_END)
    if end > begin.start():
        return text[begin.start() : end + len(_END)] + "\n"
    rest = text[begin.start() :].splitlines(keepends=True)
    closing = next((number for number, line in enumerate(rest) if FENCE.match(line)), len(rest))
    return "".join(rest[:closing]).strip() + "\n"
