"""Files of markdown that a user writes for agents, in the project's `.heald` folder or in the settings folder.

Those of a project come with its folder, so they have no effect until the user trusts them as they are.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from heald.config.paths import config_home
from heald.config.trust import TrustState, state_of
from heald.core.lazy import lazy_pattern

FOLDER = ".heald"
SKILL = "SKILL.md"
_MAX_FILES = 200
MAX_SKILL_CHARACTERS = 50_000
"""The most that the model gets of a command or skill."""
_NAME = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,60}", re.I)
_HEAD = lazy_pattern(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n", re.S | re.M)
_PLACEHOLDER = lazy_pattern(r"\$(ARGUMENTS|[1-9])")


class MarkdownFile(msgspec.Struct, frozen=True):
    """A command or a skill: its name, what it is for, and its text."""

    name: str
    description: str
    text: str
    place: Path

    def expand(self, arguments: str) -> str:
        """Return the text with the arguments in their places, or after it if it has no place for them."""
        words = arguments.split()
        values = {"ARGUMENTS": arguments, **{str(at): word for at, word in enumerate(words[:9], 1)}}
        text, count = _PLACEHOLDER.subn(lambda placeholder: values.get(placeholder[1], ""), self.text)
        return text if count or not arguments else f"{text}\n\n{arguments}"


def find_project_folder(folder: str | Path | None) -> Path | None:
    """Return the `.heald` folder of a project, if it has commands or skills. A link to outside does not count."""
    if not folder:
        return None
    top = Path(folder).resolve()
    place = top / FOLDER
    if not place.is_dir() or not place.resolve().is_relative_to(top):
        return None
    return place if markdown_files(place) else None


def read_project_folder(folder: Path) -> bytes:
    """Return the texts of all commands and skills of a folder: what the user trusts."""
    parts: list[bytes] = []
    for path in markdown_files(folder):
        parts.append(f"== {path.relative_to(folder).as_posix()}\n".encode())
        parts.append(path.read_bytes())
        parts.append(b"\n")
    return b"".join(parts)


def project_folder_state(folder: Path) -> TrustState:
    """The user's decision about the commands and skills as they are now."""
    return state_of(folder, read_project_folder(folder))


def usable_files(folder: str | Path | None) -> list[Path]:
    project = find_project_folder(folder)
    trusted = [project] if project is not None and project_folder_state(project) == "trusted" else []
    return [path for place in (config_home(), *trusted) for path in markdown_files(place)]


def markdown_files(place: Path) -> list[Path]:
    """The commands and skills of a folder that lie in it, not behind a link to outside."""
    top = place.resolve()
    paths = [*sorted((place / "commands").glob("*.md")), *sorted((place / "skills").glob(f"*/{SKILL}"))]
    return [path for path in paths if path.is_file() and path.resolve().is_relative_to(top)][:_MAX_FILES]


def unique_files(files: Sequence[MarkdownFile]) -> list[MarkdownFile]:
    return list({file.name: file for file in files if _NAME.fullmatch(file.name)}.values())


def read_markdown(path: Path, name: str) -> MarkdownFile:
    text = path.read_bytes()[: 4 * MAX_SKILL_CHARACTERS].decode("utf-8", "replace")[:MAX_SKILL_CHARACTERS]
    head = _HEAD.match(text)
    body = text[head.end() :] if head is not None else text
    lines = [str(line) for line in head[1].splitlines()] if head is not None else []
    fields = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}
    first = next((line.strip("# \t") for line in body.splitlines() if line.strip()), "")
    description = " ".join(fields.get("description", "").strip("\"'").split()) or first
    return MarkdownFile(name, description[:200], body.strip(), path)
