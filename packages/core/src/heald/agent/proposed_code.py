"""Finds code that an answer proposes for a file of the workspace, but does not write as a file."""

import re
from collections.abc import Iterator

from heald.core.lazy import lazy_pattern
from heald.wires.text_edits import TextFiles

_FENCE = lazy_pattern(r"^ {0,3}(`{3,}|~{3,})", re.M)
_PATH = lazy_pattern(r"[\w@~+./-]*\.[A-Za-z]\w{0,9}\b")


def proposes_code(answer: str, files: TextFiles) -> bool:
    """Whether a sentence names a file, and the fenced block after it holds lines that no attached file has."""
    names = files.workspace_paths | {path.rpartition("/")[2] for path in files.workspace_paths}
    lines = {line.strip() for text in files.texts.values() for line in text.splitlines()}
    for sentence, block in _fenced_blocks(answer):
        if names.intersection(_PATH.findall(sentence)) and any(
            line.strip() not in lines for line in block.splitlines()
        ):
            return True
    return False


def is_cut_in_code(answer: str) -> bool:
    """Whether an answer ends inside a fenced block."""
    return len(_FENCE.findall(answer)) % 2 == 1


def _fenced_blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Yield each fenced block with the line of prose before it. The last one may lack its end."""
    sentence, fence, block = "", "", list[str]()
    for line in answer.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and line.strip().startswith(fence):
                yield sentence, "\n".join(block)
                sentence, fence = "", ""
            else:
                block.append(line)
        elif mark is not None:
            fence, block = mark[1], []
        elif line.strip():
            sentence = line
    if fence:
        yield sentence, "\n".join(block)
