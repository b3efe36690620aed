"""The history of a project in a prompt, reduced to a number of characters.

The prompt holds the current files in full, so an earlier answer is shown as a diff. If there is no room, the oldest
messages lose their pictures first, then their diffs, then they are dropped; the first request always stays.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from heald.core.messages import Image, Message, Text
from heald.tools.workspace.diff import unified_diff
from heald_studio.page_text import extract_html
from heald_studio.projects.project import Project, TargetPicture, VariantRef, Version, find_variant, find_version
from heald_studio.prompt.request import HistoryMessage, Shot

PICTURE_CHARACTERS = 6_000  # the size of a picture, in characters
_MAX_DIFF = 20_000
FilesOf = Callable[[str], Awaitable[Mapping[str, bytes]]]  # the files of a session
ImageOf = Callable[[Project, TargetPicture], Awaitable[Image]]  # a picture of a project
_DONE: dict[str, str] = {
    "create": "I built it.",
    "import": "The person brought this page.",
    "update": "I changed it.",
    "edit": "The person changed the files by hand.",
    "restore": "The person went back to this state.",
}


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """One message and its shorter forms."""

    role: str
    text: str
    shots: tuple[Shot, ...] = ()
    changes: str = ""
    summary: str = ""

    @property
    def size(self) -> int:
        return len(self.text) + len(self.changes or self.summary) + PICTURE_CHARACTERS * len(self.shots)


def latest_files(history: Sequence[HistoryMessage], entry: str) -> dict[str, str]:
    """Return the files after the last answer."""
    for past in reversed(history):
        if past.role == "assistant" and (files := _files_after(past, entry)):
            return files
    return {}


def history_messages(history: Sequence[HistoryMessage], entry: str, room: int) -> list[Message]:
    """Convert the history to messages with alternating roles, in at most `room` characters if possible."""
    parts = _reducible_parts(history, entry)
    for reduce in (_without_pictures, _without_changes):
        for at, part in enumerate(parts[:-1]):
            if sum(candidate.size for candidate in parts) <= room:
                break
            parts[at] = reduce(part)
    while len(parts) > 2 and sum(part.size for part in parts) > room:
        del parts[1]
    return _messages(parts)


def _reducible_parts(history: Sequence[HistoryMessage], entry: str) -> list[_Part]:
    parts: list[_Part] = []
    before: dict[str, str] = {}
    for past in history:
        files = _files_after(past, entry) if past.role == "assistant" else None
        if files is None:
            parts.append(_Part(role=past.role, text=past.text, shots=past.shots))
            continue
        text = "" if past.files is None else past.text
        changes, summary = _changes(before, files)
        parts.append(_Part(role=past.role, text=text, changes=changes, summary=summary))
        before = files
    return parts


def _files_after(past: HistoryMessage, entry: str) -> dict[str, str] | None:
    """Return the files after an answer; a page that was answered as text counts as a file."""
    if past.files is not None:
        return past.files
    page = extract_html(past.text)
    return {entry: page} if page else None


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, str]:
    """Return the diffs and a summary in one line. A new file is only named."""
    full: list[str] = []
    names: list[str] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None and new is not None:
            names.append(f"made {path} ({new.count(chr(10)) + 1} lines)")
            full.append(f"({names[-1]})")
            continue
        names.append(f"deleted {path}" if new is None else f"changed {path}")
        diff = unified_diff(path, (old or "").encode(), None if new is None else new.encode())
        full.append(diff if len(diff) <= _MAX_DIFF else f"(changed {path}: too much of it to show)")
    if not names:
        return "", ""
    return "\n".join(full), f"({'; '.join(names)})"


def _without_pictures(part: _Part) -> _Part:
    if not part.shots:
        return part
    note = f"\n({len(part.shots)} pictures were here)" if len(part.shots) > 1 else "\n(a picture was here)"
    return msgspec.structs.replace(part, shots=(), text=(part.text + note).strip())


def _without_changes(part: _Part) -> _Part:
    return msgspec.structs.replace(part, changes="")


def shot_content(shots: Sequence[Shot]) -> list[Text | Image]:
    """Convert pictures to content of a message, each after its label."""
    content: list[Text | Image] = []
    for shot in shots:
        content += [Text(f"{shot.label}:")] if shot.label else []
        content.append(shot.image)
    return content


def _messages(parts: Sequence[_Part]) -> list[Message]:
    """Join messages of the same role, and drop empty ones."""
    messages: list[Message] = []
    for part in parts:
        content = shot_content(part.shots)
        text = "\n\n".join(paragraph for paragraph in (part.text, part.changes or part.summary) if paragraph)
        content += [Text(text)] if text else []
        if not content:
            content = [Text("(nothing was said)")]
        role = "assistant" if part.role == "assistant" else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role=role, content=[*messages[-1].content, *content])
        else:
            messages.append(Message(role=role, content=list(content)))
    return messages


async def project_history(
    project: Project, base: VariantRef, files: FilesOf, image: ImageOf
) -> tuple[HistoryMessage, ...]:
    """Read the requests and answers of all versions that led to a variant."""
    steps: list[tuple[Version, VariantRef]] = []
    here: VariantRef | None = base
    while here is not None:
        version = find_version(project, here)
        steps.append((version, here))
        here = version.base
    past: list[HistoryMessage] = []
    for version, at in reversed(steps):
        if version.kind in ("create", "update"):
            shots = tuple([Shot(await image(project, it), it.label) for it in version.pictures])
            past.append(HistoryMessage(role="user", text=version.text, shots=shots))
        made = await files(find_variant(project, at).session)
        texts = {path: text for path, data in made.items() if (text := decode_text(data)) is not None}
        past.append(HistoryMessage(role="assistant", text=_DONE[version.kind], files=texts))
    return tuple(past)


def decode_text(data: bytes) -> str | None:
    """Decode the text of a file; None if it is not UTF-8 text."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
