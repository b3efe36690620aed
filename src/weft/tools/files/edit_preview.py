"""The file that an edit will leave behind, shown while the model still writes the edit.

Once an edit's old text is complete and stands in the file exactly once, the file up to it is shown, then the new text
as it grows. Edits in the order of the file go on from there; at the end comes the rest. All that is shown is one
copy of what the tool will write. An edit that does not fit stops the showing: nothing shown before was wrong by
itself, but the rest never comes.
"""

from collections.abc import Iterable, Iterator

from weft.tools.files.replacing import Match, find_all
from weft.tools.files.sizes import MAX_TEXT
from weft.tools.outcome import ToolFault
from weft.tools.preview import Growth
from weft.tools.workspace.base import Workspace


class EditPreview:
    """Follows the arguments of one `edit_file` call."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._path: list[str] = []
        self._held: list[Growth] = []  # what came before the path
        self._text: str | None = None  # the file after the edits that are complete
        self._shown = 0  # characters of it
        self._index = 0
        self._old: list[str] = []
        self._new: list[str] = []
        self._match: Match | None = None
        self._grown: list[str] = []  # the new text as it is shown
        self._carriage = ""  # a CR at the end of what grew: an LF may follow
        self._stopped = False

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        for growth in growths:
            if growth[0] == ("path",):
                self._path.append(growth[1])
            elif not self._path:
                self._held.append(growth)
            else:
                yield from self._named(self._take(growth))

    def end(self) -> Iterable[tuple[str, str]]:
        if not self._path:
            return
        yield from self._named(self._take(None))
        yield from self._named(self._finish())
        if self._text is not None and not self._stopped:
            yield from self._named(iter([self._text[self._shown :]]))

    def _named(self, texts: Iterator[str]) -> Iterator[tuple[str, str]]:
        path = "".join(self._path)
        return ((path, text) for text in texts if text)

    def _take(self, growth: Growth | None) -> Iterator[str]:
        held, self._held = self._held, []
        if growth is not None:
            held.append(growth)
        for key, text in held:
            if not self._stopped:
                yield from self._grew(key, text)

    def _grew(self, key: tuple[str | int, ...], text: str) -> Iterator[str]:
        match key:
            case ("old_text" | "new_text" as field,):
                index = 0
            case ("edits", int() as index, "old_text" | "new_text" as field):
                pass
            case _:
                return
        if index != self._index:
            yield from self._finish()
            self._index += 1
            if index != self._index:  # one between them had no text at all
                self._stopped = True
        if self._stopped:
            return
        if field == "old_text":
            self._old.append(text)
        elif not self._old or self._new:
            self._new.append(text)
        else:
            yield from self._open()
            yield from self._replace(text)

    def _open(self) -> Iterator[str]:
        """The old text is complete: show the file up to it."""
        if self._match is not None or self._stopped:
            return
        text = self._current()
        old_text = "".join(self._old)
        matches = find_all(text, old_text, limit=2) if text is not None and old_text else []
        if text is None or len(matches) != 1 or matches[0].start < self._shown:
            self._stopped = True
            return
        self._match = matches[0]
        yield text[self._shown : self._match.start]

    def _replace(self, text: str) -> Iterator[str]:
        if self._match is None:
            return
        text = self._carriage + text
        self._carriage = "\r" if self._match.crlf and text.endswith("\r") else ""
        text = self._match.fitted(text.removesuffix("\r") if self._carriage else text)
        self._grown.append(text)
        yield text

    def _finish(self) -> Iterator[str]:
        """The edit is complete: the file is now what it leaves behind."""
        if not self._old:
            self._stopped = True
        yield from self._open()
        for text in self._new:
            yield from self._replace(text)
        if self._match is None or self._text is None:
            return
        if self._carriage:
            self._grown.append(self._carriage)
            yield self._carriage
        new_text = "".join(self._grown)
        self._text = self._text[: self._match.start] + new_text + self._text[self._match.end :]
        self._shown = self._match.start + len(new_text)
        self._old, self._new, self._grown, self._match, self._carriage = [], [], [], None, ""

    def _current(self) -> str | None:
        if self._text is None:
            try:
                self._text = self._workspace.read_text("".join(self._path), limit=MAX_TEXT, remember=False)
            except ToolFault:
                return None
        return self._text
