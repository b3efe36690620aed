"""The fenced code blocks of a Markdown text."""

from heald.core.lazy import lazy_pattern

FENCE = lazy_pattern(r"[ \t]*(`{3,}|~{3,})")
"""The beginning of a line that opens or closes a block."""


def fenced_blocks(text: str) -> list[str]:
    """Return the contents of the fenced code blocks of a text."""
    blocks: list[str] = []
    fence = ""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if not fence and mark is not None:
            fence, lines = mark[1], []
        elif fence and mark is not None and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            blocks.append("".join(lines))
            fence = ""
        elif fence:
            lines.append(line)
    return blocks
