"""Reads files that a model writes into its text, for models that are bad at calling tools.

A file is a line with its path and a fenced block below it, with the whole content, with search/replace parts, or with a
unified diff. The reader is incremental: the content of a whole file is passed on line by line. Blocks inside a file are
counted, so that its own fences do not end it. All else is text, and so are parts and diffs that are not complete.
"""

import re
import sys
from collections.abc import Mapping
from typing import Literal

import msgspec

from heald.core.json import encode_text
from heald.core.lazy import lazy_pattern
from heald.core.messages import Message, assistant, user_message
from heald.wires.fence import Fence, find_closing_lines, holds_fences, opens_block, read_fence
from heald.wires.text_diff import DIFF_LANGUAGES, begins_diff, read_diff

INSTRUCTIONS = """\
You create and change files. Answer a request in two steps:
1. Explain in one sentence what must change.
2. Write each file that must be created or changed: its path alone on a line, then a fenced block with the complete \
new content of the file. The block replaces the file, so repeat all lines that stay as they are and leave nothing out.
Files that you do not write stay as they are. If nothing must change, answer in words."""
ANSWER_INSTRUCTIONS = """\
Answer the question in words. No file is changed now: you may quote lines of the files."""
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
    patch_tool: str = ""
    """The tool that applies a unified diff; empty if there is none."""
    may_write: bool = True
    """Whether the model may write files. If not, it sees them and answers in words."""
    attached: str = ""
    """The files of the request, as the model sees them."""
    sizes: Mapping[str, int] = {}
    """The sizes of the attached files, in characters."""
    texts: Mapping[str, str] = {}
    """The attached files."""
    emptied: Mapping[str, str] = {}
    """The attached files of which the model sees no bodies of functions, as it sees them. It repeated what they
    hold."""
    hides_answer: bool = False
    """Whether the model does not see its last answer, because it would repeat it."""
    workspace_paths: frozenset[str] = frozenset()
    """The paths of the workspace."""

    def spelled_path(self, path: str) -> str:
        """A path as the workspace spells it: a file in other capitals is the one that is there."""
        if path in self.workspace_paths:
            return path
        alike = [other for other in self.workspace_paths if other.casefold() == path.casefold()]
        return alike[0] if len(alike) == 1 else path

    @property
    def instructions(self) -> str:
        """How files are written, for the model."""
        if not self.may_write:
            return ANSWER_INSTRUCTIONS
        is_long = any(size >= _LONG for size in self.sizes.values())
        return f"{INSTRUCTIONS}\n\n{_PARTS_INSTRUCTIONS}" if is_long else INSTRUCTIONS

    @property
    def format_size(self) -> int:
        """The characters of the instructions and the example."""
        return len(self.instructions) + sum(len(message.text) for message in self.example)

    @property
    def example(self) -> tuple[Message, ...]:
        """A request and its answer, for a model that may write files."""
        return EXAMPLE if self.may_write else ()

    @property
    def call_names(self) -> dict[str, list[str]]:
        """The arguments of the tools that write files, by which a call is recognised that is written as text."""
        names = {self.write_tool: ["path", "content"], self.edit_tool: ["path", "edits", "old_text", "new_text"]}
        return {**names, self.patch_tool: ["patch"]} if self.patch_tool else names


class FilePiece(msgspec.Struct, frozen=True):
    """A part of a written file: it begins, grows, ends or is cut off, or it is a set of search/replace parts or a
    diff."""

    step: Literal["begin", "grow", "end", "cut", "edits", "patch"]
    text: str
    """The path of a file that begins, the escaped text that it grows by, or the arguments of an edit or a patch."""


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
_MARKDOWN = ("md", "markdown", "mdx", "qmd", "rmd")


class TextEdits:
    """Splits a streamed text into text and files."""

    def __init__(self, files: TextFiles) -> None:
        self._files = files
        self._line = ""  # the beginning of a line
        self._held: list[str] = []  # a line that may name the file of the next block
        self._path: str | None = None
        self._mentioned: str | None = None  # the only file of the workspace in the words before a block
        self._fence: Fence | None = None  # of the open block
        self._has_crlf = False  # the lines of the open block end with CRLF
        self._inner: Fence | None = None  # of an open block inside the file
        self._language = ""
        self._head: list[str] = []  # the lines above the content of an open block
        self._block: list[str] = []  # lines of an open block that is not passed on
        self._other_fence: list[str] = []  # a fence in the file, and blank lines, that may end the text
        self._last_line = ""  # of the open file, without blank lines
        self._ending: list[str] | None = None  # from a fence on that ends the file or opens a block inside it
        self._in_part = False  # between the marks of a search/replace part
        self._kind: Literal["", "new", "whole", "parts", "diff", "unnamed"] = ""

    def feed(self, text: str) -> list[str | FilePiece]:
        *lines, self._line = (self._line + text).split("\n")
        out: list[str | FilePiece] = []
        for line in lines:
            self._read_line(line, out)
        return out

    def close(self) -> list[str | FilePiece]:
        """Return the rest. A block that was not ended is a file that was cut off: its call stays incomplete, unless the
        file ends as it did before or with a fence of the wrong kind."""
        out: list[str | FilePiece] = []
        if self._line:
            self._read_line(self._line, out, last=True)
        self._line = ""
        if self._ending is not None:
            self._end_counted(out)
        if self._kind == "whole" and (self._ends_as_before or self._other_fence):
            out.append(FilePiece("end", ""))
            self._reset()
        elif self._kind in ("parts", "diff"):
            self._pass_on_block(out)
        elif self._kind in ("unnamed", "new"):
            self._end_unnamed(out, closed=False)
        out += self._held
        self._held = []
        return out

    @property
    def _ends_as_before(self) -> bool:
        """Whether the last line of the open file is the last one of the file that it replaces."""
        before = self._files.texts.get(self._path or "", "").rstrip()
        return bool(before) and before.splitlines()[-1].strip() == self._last_line.strip()

    def _read_line(self, line: str, out: list[str | FilePiece], *, last: bool = False) -> None:
        end = "" if last else "\n"
        if self._fence is not None:
            self._read_block_line(line, out, self._fence, last)
            return
        fence = opens_block(line)
        if fence is not None:
            self._has_crlf = line.endswith("\r")
            self._open_block(fence, line + end, out)
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
        match = _PATH.match(line.rstrip("\r"))
        if match is None:
            return None
        path = self._files.spelled_path(_without_placeholder(match["path"].strip()))
        is_name = "." in path.rpartition("/")[2].strip(".") and not path.endswith(".")
        return path if path in self._files.workspace_paths or is_name else None

    def _mention_of(self, line: str) -> str | None:
        words = {word.strip(".").removeprefix("./") for word in _WORD.findall(line)}
        mentioned = words & self._files.workspace_paths
        return mentioned.pop() if len(mentioned) == 1 else None

    def _open_block(self, fence: Fence, line: str, out: list[str | FilePiece]) -> None:
        self._fence, self._inner, self._last_line = fence, None, ""
        self._head, self._block, self._other_fence = [], [], []
        language, _, rest = fence.info.replace(":", " ", 1).partition(" ")
        self._language = language.lower()
        named = self._path_of(rest) if rest else self._path_of(language) if "." in language else None
        path = self._path or named
        if path is not None or self._language in DIFF_LANGUAGES:
            self._path, self._kind = path, "diff" if self._language in DIFF_LANGUAGES else "new"
            self._head, self._held = [*self._held, line], []
            return
        out += self._held
        self._held, self._kind = [], "unnamed"
        self._block = [line]

    def _read_block_line(self, line: str, out: list[str | FilePiece], opener: Fence, last: bool) -> None:
        if self._ending is not None:
            self._read_possible_end(line, out, last)
            return
        content = self._content_of(line, opener)
        if self._kind in ("parts", "diff"):
            self._read_held_line(content, out, opener)
            return
        fence = read_fence(line)
        if fence is not None and self._inner is not None:
            self._inner = None if fence.closes(self._inner) else self._inner
        elif fence is not None and fence.closes(opener):
            self._add_other_fence(out)
            if self._counts_fences:
                self._ending = [line + ("" if last else "\n")]
            else:
                self._close_block(out, line)
            return
        elif fence is not None and fence.info and self._begins_other_file:
            path = self._last_path
            out.append(FilePiece("cut", ""))  # the model has not ended the file
            self._reset()
            self._path = path
            self._open_block(fence, line + "\n", out)
            return
        elif fence is not None and not fence.info and self._kind == "whole":
            self._add_other_fence(out)
            self._other_fence = [content]  # the model may end the file with another fence than it began with
            return
        elif fence is not None and (fence.info or self._counts_fences):
            self._inner = fence
        if self._other_fence and not content.strip():
            self._other_fence.append(content)
            return
        self._add_other_fence(out)
        self._add_line(content, out, "" if last else "\n")

    def _add_other_fence(self, out: list[str | FilePiece]) -> None:
        """Add a fence that does not end the file, because something follows it."""
        lines, self._other_fence = self._other_fence, []
        if lines and self._counts_fences and self._inner is None:
            self._inner = read_fence(lines[0])
        for line in lines:
            self._add_line(line, out, "\n")

    @property
    def _last_path(self) -> str:
        return self._last_line.strip().strip("`*:#").strip()

    @property
    def _begins_other_file(self) -> bool:
        """Whether the last line of the open file names another one, so that a fence begins that."""
        return (
            self._kind == "whole" and self._last_path != self._path and self._last_path in self._files.workspace_paths
        )

    def _content_of(self, line: str, opener: Fence) -> str:
        """A line of the open block, without the indentation of its fence."""
        if self._has_crlf:
            line = line.removesuffix("\r")
        return line[min(opener.indentation, len(line) - len(line.lstrip(" "))) :] if opener.indentation else line

    @property
    def _counts_fences(self) -> bool:
        """Whether the open block is a file that may hold blocks itself."""
        path = self._path or (self._only_file(sys.maxsize) if self._kind == "unnamed" else None)
        suffix = self._language if path is None else path.rpartition(".")[2].lower()
        return suffix in _MARKDOWN or holds_fences(self._files.texts.get(path or "", ""))

    def _read_possible_end(self, line: str, out: list[str | FilePiece], last: bool) -> None:
        """Hold a line behind a fence that may end the file. The next file decides, or the end of the text."""
        assert self._ending is not None
        if opens_block(line) is not None:
            at = len(self._ending) - 1
            while at > 0 and not self._ending[at].strip():
                at -= 1
            if at > 0 and self._path_of(self._ending[at].rstrip("\n")) is not None:
                following, self._ending = self._ending[at:], self._ending[:at]
                self._end_counted(out)
                for held in [*following, line + ("" if last else "\n")]:
                    self._read_line(held.rstrip("\n"), out, last=not held.endswith("\n"))
                return
        self._ending.append(line + ("" if last else "\n"))

    def _end_counted(self, out: list[str | FilePiece]) -> None:
        """Decide which of the held fences ends the file."""
        opener, lines = self._fence, self._ending or []
        assert opener is not None
        self._ending = None
        closing = find_closing_lines(lines, opener)
        if len(closing) > 1:
            closing = self._choose_closing(lines, closing)
        end = closing[0] if closing else len(lines)
        for line in lines[:end]:
            self._add_line(self._content_of(line.rstrip("\n"), opener), out, "\n")
        if not closing:
            return
        self._close_block(out, lines[end].rstrip("\n"))
        for line in lines[end + 1 :]:
            self._read_line(line.rstrip("\n"), out, last=not line.endswith("\n"))

    def _choose_closing(self, lines: list[str], closing: list[int]) -> list[int]:
        """Of several fences that may end a file: the one behind its last line of before, else the last one."""
        before = self._files.texts.get(self._path or "", "").rstrip().splitlines()
        if before:
            last_lines = [
                next((line for line in reversed(lines[:at]) if line.strip()), self._last_line) for at in closing
            ]
            fitting = [at for at, line in zip(closing, last_lines, strict=True) if line.strip() == before[-1].strip()]
            if len(fitting) == 1:
                return fitting
        return closing[-1:]

    def _add_line(self, line: str, out: list[str | FilePiece], end: str) -> None:
        """Add a line to the open file or block."""
        if line.strip():
            self._last_line = line
        if self._kind == "unnamed":
            self._read_unnamed(line, out, end)
            return
        if self._kind == "new":
            if _SEARCH.match(line.strip()) or begins_diff(line):
                self._kind = "parts" if _SEARCH.match(line.strip()) else "diff"
                self._block, self._in_part = [line], self._kind == "parts"
                return
            self._kind = "whole"
            out.append(FilePiece("begin", self._path or ""))
            if self._is_comment_of_path(line):
                return
        out.append(FilePiece("grow", _escape(line + "\n")))

    def _is_comment_of_path(self, line: str) -> bool:
        """Whether a first line only names the file, and the file did not begin with it before."""
        before = self._files.texts.get(self._path or "", "")
        return self._path_in_comment(line) == self._path and before.partition("\n")[0].strip() != line.strip()

    def _close_block(self, out: list[str | FilePiece], line: str) -> None:
        match self._kind:
            case "whole":
                out.append(FilePiece("end", ""))
            case "new":
                out += [FilePiece("begin", self._path or ""), FilePiece("end", "")]
            case _:
                self._block.append(line + "\n")
                self._end_unnamed(out, closed=True)
                return
        self._reset()

    def _read_held_line(self, line: str, out: list[str | FilePiece], opener: Fence) -> None:
        """Read a line of search/replace parts or of a diff. Fences in them are lines of the file."""
        fence = read_fence(line)
        is_end = fence is not None and fence.closes(opener)
        if self._kind == "parts":
            if is_end and not self._in_part:
                self._end_parts(out)
                return
            self._in_part = (self._in_part or bool(_SEARCH.match(line.strip()))) and not _REPLACE.match(line.strip())
        elif is_end and not line.startswith(" "):
            self._end_diff(out, line)
            return
        self._block.append(line)

    def _read_unnamed(self, line: str, out: list[str | FilePiece], end: str) -> None:
        if len(self._block) == 1:
            path = self._path_in_comment(line)
            if path is not None and (path in self._files.workspace_paths or "." in path.rpartition("/")[2]):
                self._path, self._kind = path, "whole"
                out.append(FilePiece("begin", path))
                return
            if begins_diff(line):
                self._kind, self._head, self._block = "diff", self._block, [line]
                return
        self._block.append(line + end)

    def _path_in_comment(self, line: str) -> str | None:
        comment = _COMMENT.match(line)
        return self._files.spelled_path(_without_placeholder(comment["path"])) if comment is not None else None

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
            self._pass_on_block(out)
        self._reset()

    def _end_diff(self, out: list[str | FilePiece], line: str) -> None:
        patch = read_diff(self._block, self._path) if self._files.patch_tool else None
        if patch is not None:
            out.append(FilePiece("patch", encode_text({"patch": patch})))
        else:
            self._pass_on_block(out)
            out.append(f"{line}\n")
        self._reset()

    def _pass_on_block(self, out: list[str | FilePiece]) -> None:
        """Pass on a block that holds no file as text."""
        out += self._head
        out += [f"{line}\n" for line in self._block]

    def _reset(self) -> None:
        self._fence = self._inner = self._ending = self._path = self._mentioned = None
        self._kind, self._block, self._in_part = "", [], False


def _read_parts(lines: list[str]) -> list[dict[str, str]]:
    """Return the search/replace parts of a block; none if one is not complete."""
    edits: list[dict[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    state = ""
    for line in lines:
        if _SEARCH.match(line.strip()):
            if state:
                return []
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
    return edits if not state else []


def _without_placeholder(path: str) -> str:
    """A path without the folders that stand for any folder in examples."""
    return path.removeprefix("./").removeprefix("/path/to/").removeprefix("path/to/")


def _escape(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return encode_text(text)[1:-1]
