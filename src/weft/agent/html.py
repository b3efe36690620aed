"""The page in an answer, for models that wrote it as text instead of calling a tool."""

import re

from weft.core.ids import new_id
from weft.core.tools import ToolCall
from weft.tools.runtime import ToolRuntime

_PAGE = "index.html"
_BEGIN = re.compile(r"<!doctype html\b|<html\b", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MARKUP = re.compile(r"<(?:head|body|main|div|section|svg)\b", re.IGNORECASE)
_END = "</html>"


def page_call(text: str, runtime: ToolRuntime) -> ToolCall | None:
    """The call that a model should have made: where files can be written, none was, and its answer is a page."""
    if not runtime.workspace.is_project or "create_file" not in runtime.registry or runtime.workspace.files():
        return None
    page = html_in(text)
    if page is None:
        return None
    return ToolCall(id=new_id("final"), name="create_file", input={"path": _PAGE, "content": page})


def html_in(text: str) -> str | None:
    """The page in a text: a document, whole or cut off at the end, or a fenced block of markup."""
    begin = _BEGIN.search(text)
    if begin is None:
        blocks = [block for block in _fenced(text) if _MARKUP.search(block)]
        return max(blocks, key=len).strip() + "\n" if blocks else None
    end = text.lower().rfind(_END)
    if end > begin.start():
        return text[begin.start() : end + len(_END)] + "\n"
    rest = text[begin.start() :].splitlines(keepends=True)
    closing = next((number for number, line in enumerate(rest) if _FENCE.match(line)), len(rest))
    return "".join(rest[:closing]).strip() + "\n"


def _fenced(text: str) -> list[str]:
    """The blocks between fences, as markdown has them."""
    blocks: list[str] = []
    fence = ""
    inside: list[str] = []
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if not fence and found is not None:
            fence, inside = found[1], []
        elif fence and found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            blocks.append("".join(inside))
            fence = ""
        elif fence:
            inside.append(line)
    return blocks
