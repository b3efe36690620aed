"""Previews an edited file while the arguments of the call still arrive."""

from collections.abc import Iterable, Iterator

from heald.tools.definitions import Growth
from heald.tools.files.access import MAX_TEXT
from heald.tools.files.text_matches import Match, find_all
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.base import Workspace


class EditPreview:
    """Previews the edited file while the arguments of an `edit_file` call stream in."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._path: list[str] = []
        self._held: list[Growth] = []  # received before the path
        self._text: str | None = None  # the file after the completed edits
        self._shown = 0  # characters of `_text` that were published
        self._index = 0
        self._old: list[str] = []
        self._new: list[str] = []
        self._match: Match | None = None
        self._grown: list[str] = []  # the new text as published
        self._carriage = ""  # a final CR that an LF may follow
        self._stopped = False

    def grow(self, growths: Iterable[Growth]) -> Iterable[tuple[str, str]]:
        for growth in growths:
            if growth[0] == ("path",):
                self._path.append(growth[1])
            elif not self._path:
                self._held.append(growth)
            else:
                yield from self._named(self._consume(growth))

    def end(self) -> Iterable[tuple[str, str]]:
        if not self._path:
            return
        yield from self._named(self._consume(None))
        yield from self._named(self._finish())
        if self._text is not None and not self._stopped:
            yield from self._named(iter([self._text[self._shown :]]))

    def _named(self, texts: Iterator[str]) -> Iterator[tuple[str, str]]:
        path = "".join(self._path)
        return ((path, text) for text in texts if text)

    def _consume(self, growth: Growth | None) -> Iterator[str]:
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
            if index != self._index:  # an edit without any text was skipped
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
        """Show the file up to the old text, which is complete now."""
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
        """Complete the current edit and apply it to the text."""
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
