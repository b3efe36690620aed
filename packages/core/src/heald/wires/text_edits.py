"""Reads files that a model writes into its text, for models that are bad at calling tools.

A file is a line with its path and a fenced block below it, with the whole content or with search/replace parts. The
reader is incremental: the content of a whole file is passed on line by line. Everything else is text.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from heald.core.json import encode_text
from heald.core.lazy import lazy_pattern
from heald.core.messages import assistant, user_message

INSTRUCTIONS = """\
You create and change files. Answer a request in two steps:
1. Explain in one sentence what must change.
2. Write each file that must be created or changed: its path alone on a line, then a fenced block with the complete \
new content of the file. The block replaces the file, so repeat all lines that stay as they are and leave nothing out.
Files that you do not write stay as they are. If nothing must change, answer in words."""
FILES_HEADING = "These are files of the workspace:"
_PLURAL = """\
plural.py
```
def plural(word):
    return word + "{}"


def capital(word):
    return word.upper()
```"""
EXAMPLE = (
    user_message(f"{FILES_HEADING}\n\n{_PLURAL.format('z')}\n\nplural in plural.py adds the wrong ending. Fix it."),
    assistant(f"plural adds z where it must add s.\n\n{_PLURAL.format('s')}"),
)
"""A request and its answer before the conversation: a small model follows them more surely than any description."""
_PARTS_INSTRUCTIONS = """\
Of a long file you may write only the changes, with lines exactly as they stand in the file:

plural.py
```
<<<<<<< SEARCH
    return word + "z"
=======
    return word + "s"
>>>>>>> REPLACE
```"""
_LONG = 6_000
"""From this many characters on a model may write only the changes of a file: small models are bad at it."""


class TextFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files that a model may write as text."""

    write_tool: str = "write_file"
    edit_tool: str = "edit_file"
    attached: str = ""
    """The files of the request, as the model sees them."""
    sizes: Mapping[str, int] = {}
    """The sizes of the attached files, in characters."""
    texts: Mapping[str, str] = {}
    """The attached files."""
    workspace_paths: frozenset[str] = frozenset()
    """The paths of the workspace."""

    @property
    def instructions(self) -> str:
        """How files are written, for the model."""
        is_long = any(size >= _LONG for size in self.sizes.values())
        return f"{INSTRUCTIONS}\n\n{_PARTS_INSTRUCTIONS}" if is_long else INSTRUCTIONS

    @property
    def format_size(self) -> int:
        """The characters of the instructions and the example."""
        return len(self.instructions) + sum(len(message.text) for message in EXAMPLE)


class FilePiece(msgspec.Struct, frozen=True):
    """A part of a written file: it begins, grows or ends, or it is a set of search/replace parts."""

    step: Literal["begin", "grow", "end", "edits"]
    text: str
    """The path of a file that begins, the escaped text that it grows by, or the arguments of an edit."""


_FENCE = lazy_pattern(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_PATH = lazy_pattern(
    r"[ \t]*(?:#{1,6}[ \t]+|[-*][ \t]+|\d+\.[ \t]+)?(?:\*\*|__)?(?:(?:new |updated )?file(?:name)?[ \t]*:[ \t]*)?"
    r"[`\"'(]*(?P<path>[\w@~+./-]+)[`\"')]*(?:\*\*|__)?[ \t]*:?(?:\*\*)?[ \t]*$",
    re.I,
)
_COMMENT = lazy_pattern(
    r"[ \t]*(?:#|//|--|;|/\*|<!--)[ \t]*(?:file(?:name)?[ \t]*:[ \t]*)?(?P<path>[\w@~+./-]+)[ \t]*(?:\*/|-->)?$", re.I
)
_WORD = lazy_pattern(r"[\w@~+./-]+")
_SEARCH, _DIVIDE, _REPLACE = (
    lazy_pattern(r"<{5,}\s*SEARCH"),
    lazy_pattern(r"={5,}\s*$"),
    lazy_pattern(r">{5,}\s*REPLACE"),
)
_EXTENSIONS = {
    **dict.fromkeys(("python", "py"), ("py",)),
    **dict.fromkeys(("javascript", "js"), ("js", "mjs", "cjs")),
    **dict.fromkeys(("typescript", "ts"), ("ts",)),
    **{name: (name,) for name in ("html", "css", "json", "toml", "sql", "go", "c", "java", "txt", "xml", "svg", "md")},
    **dict.fromkeys(("bash", "sh", "shell"), ("sh",)),
    **dict.fromkeys(("yaml", "yml"), ("yaml", "yml")),
    "rust": ("rs",),
    "markdown": ("md",),
    "cpp": ("cpp", "cc", "h"),
}
_LEAST_SHARE = 0.5
"""A block without a path replaces the only file of a request if it has at least this share of its length."""


class TextEdits:
    """Splits a streamed text into text and files."""

    def __init__(self, files: TextFiles) -> None:
        self._files = files
        self._line = ""  # the beginning of a line
        self._held: list[str] = []  # a line that may name the file of the next block
        self._path: str | None = None
        self._mentioned: str | None = None  # the only file of the workspace in the words before a block
        self._fence = ""  # of the open block
        self._language = ""
        self._block: list[str] = []  # lines of an open block that is not passed on
        self._kind: Literal["", "new", "whole", "parts", "unnamed", "text"] = ""

    def feed(self, text: str) -> list[str | FilePiece]:
        *lines, self._line = (self._line + text).split("\n")
        out: list[str | FilePiece] = []
        for line in lines:
            self._read_line(line, out)
        return out

    def close(self) -> list[str | FilePiece]:
        """Return the rest. A block that was not ended is a file that was cut off: its call stays incomplete."""
        out: list[str | FilePiece] = []
        if self._line:
            self._read_line(self._line, out, last=True)
        if self._kind == "parts":
            self._end_parts(out)
        elif self._kind in ("unnamed", "new"):
            self._end_unnamed(out, closed=False)
        out += self._held
        return out

    def _read_line(self, line: str, out: list[str | FilePiece], *, last: bool = False) -> None:
        end = "" if last else "\n"
        if self._fence:
            self._read_block_line(line, out, end)
            return
        fence = _FENCE.match(line)
        if fence is not None:
            self._open_block(fence[1], fence[2].strip(), line + end, out)
            return
        if not line.strip() and self._path is not None and len(self._held) < 3:
            self._held.append(line + end)
            return
        out += self._held
        self._held, self._path = [], self._path_of(line)
        if self._path is not None:
            self._held = [line + end]
            return
        out.append(line + end)
        if line.strip():
            self._mentioned = self._mention_of(line)

    def _path_of(self, line: str) -> str | None:
        match = _PATH.match(line)
        if match is None:
            return None
        path = _without_placeholder(match["path"].strip())
        is_name = "." in path.rpartition("/")[2].strip(".") and not path.endswith(".")
        return path if path in self._files.workspace_paths or is_name else None

    def _mention_of(self, line: str) -> str | None:
        words = {word.strip(".").removeprefix("./") for word in _WORD.findall(line)}
        mentioned = words & self._files.workspace_paths
        return mentioned.pop() if len(mentioned) == 1 else None

    def _open_block(self, fence: str, info: str, line: str, out: list[str | FilePiece]) -> None:
        self._fence, self._block = fence, []
        language, _, rest = info.replace(":", " ", 1).partition(" ")
        self._language = language.lower()
        named = self._path_of(rest) if rest else self._path_of(language) if "." in language else None
        path = self._path or named
        if path is not None:
            self._path, self._kind, self._held = path, "new", []
            return
        out += self._held
        self._held, self._kind = [], "unnamed"
        self._block = [line]

    def _read_block_line(self, line: str, out: list[str | FilePiece], end: str) -> None:
        closes = line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0])
        match self._kind:
            case "new" if not closes:
                if _SEARCH.match(line.strip()):
                    self._kind, self._block = "parts", [line]
                    return
                self._kind = "whole"
                out.append(FilePiece("begin", self._path or ""))
                if self._path_in_comment(line) != self._path:
                    out.append(FilePiece("grow", _escape(line + "\n")))
            case "whole" if not closes:
                out.append(FilePiece("grow", _escape(line + "\n")))
            case "whole":
                out.append(FilePiece("end", ""))
                self._reset()
            case "new":
                out += [FilePiece("begin", self._path or ""), FilePiece("end", "")]
                self._reset()
            case "parts":
                if closes:
                    self._end_parts(out)
                else:
                    self._block.append(line)
            case _:
                self._read_unnamed(line, out, closes, end)

    def _read_unnamed(self, line: str, out: list[str | FilePiece], closes: bool, end: str) -> None:
        if len(self._block) == 1 and not closes:
            path = self._path_in_comment(line)
            if path is not None and (path in self._files.workspace_paths or "." in path.rpartition("/")[2]):
                self._path, self._kind = path, "whole"
                out.append(FilePiece("begin", path))
                return
        self._block.append(line + end)
        if closes:
            self._end_unnamed(out, closed=True)

    def _path_in_comment(self, line: str) -> str | None:
        comment = _COMMENT.match(line)
        return _without_placeholder(comment["path"]) if comment is not None else None

    def _end_unnamed(self, out: list[str | FilePiece], *, closed: bool) -> None:
        """End a block without a path: it is the file that the words before it name, the only one, or text."""
        body = "".join(self._block[1:-1] if closed else self._block[1:])
        path = self._only_file(len(body)) if closed else None
        if path is None:
            out += self._block
        elif _SEARCH.match(body.lstrip()):
            self._path, self._block = path, body.splitlines()
            self._end_parts(out)
            return
        else:
            out += [FilePiece("begin", path), FilePiece("grow", _escape(body)), FilePiece("end", "")]
        self._reset()

    def _only_file(self, size: int) -> str | None:
        fitting = _EXTENSIONS.get(self._language, ())
        mentioned = self._mentioned
        candidates = [mentioned] if mentioned and mentioned in self._files.sizes else list(self._files.sizes)
        paths = [
            path
            for path in candidates
            if not self._language or path.rpartition(".")[2].lower() in fitting or not fitting
        ]
        if len(paths) != 1 or self._language in ("bash", "sh", "shell", "console", "diff", "text"):
            return None
        return paths[0] if size >= self._files.sizes[paths[0]] * _LEAST_SHARE else None

    def _end_parts(self, out: list[str | FilePiece]) -> None:
        edits = _read_parts(self._block)
        if edits:
            out.append(FilePiece("edits", encode_text({"path": self._path, "edits": edits})))
        else:
            out.append("\n".join(self._block) + "\n")
        self._reset()

    def _reset(self) -> None:
        self._fence, self._path, self._mentioned, self._kind, self._block = "", None, None, "", []


def _read_parts(lines: list[str]) -> list[dict[str, str]]:
    edits: list[dict[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    state = ""
    for line in lines:
        if _SEARCH.match(line.strip()):
            old, new, state = [], [], "old"
        elif state == "old" and _DIVIDE.match(line.strip()):
            state = "new"
        elif state == "new" and _REPLACE.match(line.strip()):
            edits.append({"old_text": "\n".join(old), "new_text": "\n".join(new)})
            state = ""
        elif state == "old":
            old.append(line)
        elif state == "new":
            new.append(line)
    return edits


def _without_placeholder(path: str) -> str:
    """A path without the folders that stand for any folder in examples."""
    return path.removeprefix("./").removeprefix("/path/to/").removeprefix("path/to/")


def _escape(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return encode_text(text)[1:-1]


# --- the conversation of a model that writes files as text -------------------------------------------------------
