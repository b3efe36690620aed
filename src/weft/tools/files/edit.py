"""`edit_file`: replaces exact texts of a file, all of them or none, and previews the edited file.

The new text is literal. In a file with CRLF line endings an old text with LF also matches, and the new text gets the
line endings of the text that it replaces. If an old text is not found, the fault lists the most similar lines.
"""

import time
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Annotated

import msgspec

from weft.core.json import JsonObject, as_objects
from weft.tools.context import ToolContext
from weft.tools.definitions import Growth
from weft.tools.files.access import MAX_EDITS, MAX_TEXT, count_changes, path_subject, publish_changes, writes_path
from weft.tools.function_tools import tool
from weft.tools.results import NO_CHANGE, ToolFault, ToolOutput
from weft.tools.workspace.base import Workspace

_SECONDS = 0.5
_MAX_LINES = 50_000
_MAX_COMPARED = 1_500
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 800
_CANDIDATES = 3
_ALIKE = 0.5


def describe_nearest(text: str, wanted: str) -> str:
    """Return a message with the most similar places, or with advice if there are none."""
    found = candidates(text, wanted)
    if not found:
        return " Nothing in it is alike; read the file and copy the text to replace exactly."
    parts = ["\nThe nearest candidates, to copy from exactly:"]
    for first, last, alike in found:
        lines = text.split("\n")[first - 1 : last]
        shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
        parts.append(f"--- lines {first}-{last} ({alike:.0%} alike)\n{shown}")
    return "\n".join(parts)


def candidates(text: str, wanted: str) -> list[tuple[int, int, float]]:
    """Return first line, last line and similarity of the places most similar to a text, best first."""
    deadline = time.monotonic() + _SECONDS
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES]
    wanted_lines = wanted.replace("\r\n", "\n").strip("\n").split("\n")
    anchor = max(range(len(wanted_lines)), key=lambda index: len(wanted_lines[index].strip()))
    grams = _trigrams(wanted_lines[anchor])
    if not grams:
        return []
    scored: list[tuple[float, int]] = []
    for index, line in enumerate(lines):
        if index % 256 == 0 and time.monotonic() > deadline:
            break
        own = _trigrams(line)
        common = len(grams & own)
        if common:
            scored.append((2 * common / (len(grams) + len(own)), index))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    found: dict[int, tuple[int, int, float]] = {}
    for _, index in scored[: 4 * _CANDIDATES]:
        if found and time.monotonic() > deadline:
            break
        first = max(0, index - anchor)
        last = min(len(lines), first + len(wanted_lines))
        alike = _likeness("\n".join(lines[first:last]), "\n".join(wanted_lines))
        if alike >= _ALIKE:
            found[first] = (first + 1, last, alike)
    return sorted(found.values(), key=lambda item: (-item[2], item[0]))[:_CANDIDATES]


def _trigrams(line: str) -> set[str]:
    line = " ".join(line[:_MAX_COMPARED].split())
    return {line[at : at + 3] for at in range(max(1, len(line) - 2))} if line else set()


def _likeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first[:_MAX_COMPARED], second[:_MAX_COMPARED], autojunk=True).ratio()


_MAX_NAMED_LINES = 10


class Match(msgspec.Struct, frozen=True):
    """An occurrence of an old text in a file, as character positions."""

    start: int
    end: int
    crlf: bool
    """Whether the new text gets CRLF line endings."""

    def fitted(self, new_text: str) -> str:
        return new_text.replace("\r\n", "\n").replace("\n", "\r\n") if self.crlf else new_text


def find_all(text: str, old_text: str, limit: int = 10_000) -> list[Match]:
    """Return the non-overlapping occurrences of a text, at most `limit`."""
    if "\r\n" not in text:
        return [Match(at, at + len(old_text), False) for at in _places(text, old_text, limit)]
    plain, old_plain = text.replace("\r\n", "\n"), old_text.replace("\r\n", "\n")
    crlf_rules = 2 * text.count("\r\n") >= text.count("\n")
    matches: list[Match] = []
    at = plain_at = 0  # the same position in both texts
    for place in _places(plain, old_plain, limit):
        start = _advance(text, at, place - plain_at)
        end = _advance(text, start, len(old_plain))
        found = text[start:end]
        matches.append(Match(start, end, "\r\n" in found if "\n" in found else crlf_rules))
        at, plain_at = end, place + len(old_plain)
    return matches


def replace_text(text: str, old_text: str, new_text: str, *, count: int = 1, name: str = "The edit") -> str:
    """Replace all occurrences of a text. Raises ToolFault with advice if there are not exactly `count`."""
    if not old_text:
        raise ToolFault(f"{name} has an empty old_text; give the text to replace, or use write_file.", "invalid_edit")
    if old_text == new_text:
        raise ToolFault(f"{name} has the same old_text and new_text, so it would change nothing.", "invalid_edit")
    matches = find_all(text, old_text)
    if not matches:
        raise ToolFault(
            f"{name} does not match: its old_text is not in the file.{describe_nearest(text, old_text)}", "no_match"
        )
    if len(matches) != count:
        raise ToolFault(_miscounted(text, matches, count, name), "ambiguous_match")
    out: list[str] = []
    at = 0
    for match in matches:
        out += (text[at : match.start], match.fitted(new_text))
        at = match.end
    out.append(text[at:])
    return "".join(out)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _places(text: str, part: str, limit: int) -> list[int]:
    places: list[int] = []
    at = text.find(part)
    while at >= 0 and len(places) < limit:
        places.append(at)
        at = text.find(part, at + len(part))
    return places


def _advance(text: str, at: int, characters: int) -> int:
    """Return the position after `characters` characters, where CRLF counts as one."""
    end = at + characters
    while True:
        missing = characters - (end - at - text.count("\r\n", at, end))
        if not missing:
            break
        end += missing
    # do not stop between CR and LF
    return end + 1 if end > at and text[end - 1 : end + 1] == "\r\n" else end


def _miscounted(text: str, matches: list[Match], count: int, name: str) -> str:
    lines = [str(line_of(text, match.start)) for match in matches[:_MAX_NAMED_LINES]]
    more = f" and {len(matches) - len(lines)} more" if len(matches) > len(lines) else ""
    if len(matches) == 1:
        return f"{name} expects {count} places, but its old_text is there once, at line {lines[0]}; set count to 1."
    return (
        f"{name} is ambiguous: its old_text is there {len(matches)} times, at lines {', '.join(lines)}{more}, and "
        f"{count} {'was' if count == 1 else 'were'} asked for; add lines around it until it is the only one, "
        f"or set count to {len(matches)} to replace all."
    )


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


class Replacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text and what takes its place."""

    old_text: str
    new_text: str
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


def _summary(arguments: JsonObject) -> str:
    edits = len(as_objects(arguments.get("edits"))) or 1
    return f"Edit {arguments['path']} ({edits} place{'s' * (edits != 1)})"


@tool(
    effect="write",
    access=writes_path,
    subjects=path_subject,
    summary=_summary,
    preview=EditPreview,
)
def edit_file(
    path: str,
    ctx: ToolContext,
    edits: list[Replacement] | None = None,
    old_text: str | None = None,
    new_text: str | None = None,
) -> ToolOutput:
    """Replace exact texts in a file. Each old_text must stand in it exactly once, or as often as its count says.

    Edits are applied in order, from the top to the end; if one does not fit, none is applied.

    Args:
        path: The file's path, relative to the workspace.
        edits: What to replace by what.
        old_text: For a single edit, instead of edits.
    """
    edits = _edits(edits, old_text, new_text)
    place = ctx.workspace.normal(path)
    text = ctx.workspace.read_text(place, limit=MAX_TEXT, remember=False)
    for number, edit in enumerate(edits, 1):
        name = f"The edit of {place}" if len(edits) == 1 else f"Edit {number} of {len(edits)} of {place}"
        try:
            text = replace_text(text, edit.old_text, edit.new_text, count=edit.count, name=name)
        except ToolFault as fault:
            if len(edits) == 1:
                raise
            raise ToolFault(f"{fault}\nNo edit of this call was applied.", fault.kind) from None
    change = ctx.workspace.write(place, text, on_change=publish_changes(ctx))
    if change is None:
        return ToolOutput(content=f"The edits leave {place} as it was; nothing was changed.", summary=NO_CHANGE)
    counts = count_changes(change.diff)
    return ToolOutput(content=f"Edited {place} ({counts}).\n{change.diff}", summary=counts)


def _edits(edits: list[Replacement] | None, old_text: str | None, new_text: str | None) -> list[Replacement]:
    single = old_text is not None or new_text is not None
    if edits and single:
        raise ToolFault("Both edits and old_text or new_text were given; give edits alone.", "invalid_edit")
    if single:
        if old_text is None or new_text is None:
            raise ToolFault("An edit needs both old_text and new_text; give the missing one.", "invalid_edit")
        return [Replacement(old_text, new_text)]
    if not edits:
        raise ToolFault("No edit was given; list at least one with old_text and new_text.", "invalid_edit")
    if len(edits) > MAX_EDITS:
        raise ToolFault(f"{len(edits)} edits are too many; give at most {MAX_EDITS} in one call.", "invalid_edit")
    return edits
