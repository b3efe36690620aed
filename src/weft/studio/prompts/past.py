"""What was asked and built before, made to fit: old files as the changes that led to the present ones.

The project as it is now goes into the prompt in full, so what came before is only needed as far as it explains it. An
answer that made files is told as what it changed. Where there is no room, the oldest loses most: its pictures, then
its changes, then it is left out; the first request stays, since all others build on it.
"""

from collections.abc import Mapping, Sequence

import msgspec

from weft.agent.html import html_in
from weft.core.content import Image, Text
from weft.core.messages import Message
from weft.studio.prompts.request import Past, Shot
from weft.tools.workspace.diff import unified

PICTURE = 6_000
"""What a picture counts, in characters."""
_MAX_DIFF = 20_000


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """One message, with what it can be reduced to."""

    role: str
    text: str
    shots: tuple[Shot, ...] = ()
    changes: str = ""
    summary: str = ""

    @property
    def size(self) -> int:
        return len(self.text) + len(self.changes or self.summary) + PICTURE * len(self.shots)


def present(history: Sequence[Past], entry: str) -> dict[str, str]:
    """The files as the last answer left them."""
    for past in reversed(history):
        if past.role == "assistant" and (files := _files(past, entry)):
            return files
    return {}


def told(history: Sequence[Past], entry: str, room: int) -> list[Message]:
    """The history as messages, roles in turn, within so many characters as far as that can be."""
    parts = _parts(history, entry)
    for reduce in (_without_pictures, _without_changes):
        for at, part in enumerate(parts[:-1]):
            if sum(each.size for each in parts) <= room:
                break
            parts[at] = reduce(part)
    while len(parts) > 2 and sum(part.size for part in parts) > room:
        del parts[1]
    return _messages(parts)


def _parts(history: Sequence[Past], entry: str) -> list[_Told]:
    parts: list[_Told] = []
    before: dict[str, str] = {}
    for past in history:
        files = _files(past, entry) if past.role == "assistant" else None
        if files is None:
            parts.append(_Told(role=past.role, text=past.text, shots=past.shots))
            continue
        text = "" if past.files is None else past.text
        changes, summary = _changes(before, files)
        parts.append(_Told(role=past.role, text=text, changes=changes, summary=summary))
        before = files
    return parts


def _files(past: Past, entry: str) -> dict[str, str] | None:
    """The project after an answer; a page that was answered as text is a project too."""
    if past.files is not None:
        return past.files
    page = html_in(past.text)
    return {entry: page} if page else None


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, str]:
    """The difference in full and in one line. A file that was made is only named: what became of it is shown later."""
    full: list[str] = []
    names: list[str] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None and new is not None:
            line = f"made {path} ({new.count(chr(10)) + 1} lines)"
            names.append(line)
            full.append(f"({line})")
            continue
        names.append(f"deleted {path}" if new is None else f"changed {path}")
        diff = unified(path, (old or "").encode(), None if new is None else new.encode())
        full.append(diff if len(diff) <= _MAX_DIFF else f"(changed {path}: too much of it to show)")
    if not names:
        return "", ""
    return "\n".join(full), f"({'; '.join(names)})"


def _without_pictures(part: _Told) -> _Told:
    if not part.shots:
        return part
    note = f"\n({len(part.shots)} pictures were here)" if len(part.shots) > 1 else "\n(a picture was here)"
    return msgspec.structs.replace(part, shots=(), text=(part.text + note).strip())


def _without_changes(part: _Told) -> _Told:
    return msgspec.structs.replace(part, changes="")


def _messages(parts: Sequence[_Told]) -> list[Message]:
    """Neighbours of one role become one message, and none is empty."""
    messages: list[Message] = []
    for part in parts:
        content: list[Text | Image] = []
        for shot in part.shots:
            content += [Text(f"{shot.label}:")] if shot.label else []
            content.append(shot.image)
        text = "\n\n".join(each for each in (part.text, part.changes or part.summary) if each)
        content += [Text(text)] if text else []
        if not content:
            content = [Text("(nothing was said)")]
        role = "assistant" if part.role == "assistant" else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role=role, content=[*messages[-1].content, *content])
        else:
            messages.append(Message(role=role, content=list(content)))
    return messages
