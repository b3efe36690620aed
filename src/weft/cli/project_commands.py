"""Commands and skills that a user writes as markdown, in the project's `.weft` folder or in the settings folder.

`commands/NAME.md` is a request with placeholders. `skills/NAME/SKILL.md` is know-how that the model reads when a task
needs it. Those of a project come with its folder, so they have no effect until the user trusts them as they are.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from weft.config.paths import config_home
from weft.config.sources import TrustState, state_of
from weft.core.lazy import lazy_pattern
from weft.tools.definitions import Tool
from weft.tools.function_tools import tool
from weft.tools.results import ToolFault

FOLDER = ".weft"
_SKILL = "SKILL.md"
_MAX_FILES = 200
_MAX_CHARACTERS = 50_000
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
        text, count = _PLACEHOLDER.subn(lambda found: values.get(found[1], ""), self.text)
        return text if count or not arguments else f"{text}\n\n{arguments}"


def find_project_folder(folder: str | Path | None) -> Path | None:
    """Return the `.weft` folder of a project, if it has commands or skills. A link to outside does not count."""
    if not folder:
        return None
    top = Path(folder).resolve()
    found = top / FOLDER
    if not found.is_dir() or not found.resolve().is_relative_to(top):
        return None
    return found if _markdown_files(found) else None


def read_project_folder(folder: Path) -> bytes:
    """Return the texts of all commands and skills of a folder: what the user trusts."""
    parts: list[bytes] = []
    for path in _markdown_files(folder):
        parts.append(f"== {path.relative_to(folder).as_posix()}\n".encode())
        parts.append(path.read_bytes())
        parts.append(b"\n")
    return b"".join(parts)


def project_folder_state(folder: Path) -> TrustState:
    """The user's decision about the commands and skills as they are now."""
    return state_of(folder, read_project_folder(folder))


def load_commands(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's commands and the trusted ones of a project, which win by name."""
    return _by_name([_load(path, path.stem) for path in _usable_files(folder) if path.name != _SKILL])


def load_skills(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's skills and the trusted ones of a project, which win by name."""
    return _by_name([_load(path, path.parent.name) for path in _usable_files(folder) if path.name == _SKILL])


def describe_skills(skills: Sequence[MarkdownFile]) -> str:
    """Describe skills for the instructions of a model; empty if there are none."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills]
    return "\n".join(["Skills that you can read with read_skill when a task needs one:", *lines])


def skill_tool(skills: Sequence[MarkdownFile]) -> Tool:
    """Return the tool by which a model reads a skill."""
    known = {skill.name: skill for skill in skills}

    @tool(effect="none", summary=lambda arguments: str(arguments.get("name", "")), idempotent=True)
    async def read_skill(name: str) -> str:
        """Read a skill: instructions for one kind of task.

        Args:
            name: The name of the skill.
        """
        skill = known.get(name)
        if skill is None:
            raise ToolFault(f"There is no skill {name[:60]!r}; there are: {', '.join(known)}.", "not_found")
        return skill.text

    return read_skill


def _usable_files(folder: str | Path | None) -> list[Path]:
    found = find_project_folder(folder)
    trusted = [found] if found is not None and project_folder_state(found) == "trusted" else []
    return [path for place in (config_home(), *trusted) for path in _markdown_files(place)]


def _markdown_files(place: Path) -> list[Path]:
    """The commands and skills of a folder that lie in it, not behind a link to outside."""
    top = place.resolve()
    found = [*sorted((place / "commands").glob("*.md")), *sorted((place / "skills").glob(f"*/{_SKILL}"))]
    return [path for path in found if path.is_file() and path.resolve().is_relative_to(top)][:_MAX_FILES]


def _by_name(files: Sequence[MarkdownFile]) -> list[MarkdownFile]:
    return list({file.name: file for file in files if _NAME.fullmatch(file.name)}.values())


def _load(path: Path, name: str) -> MarkdownFile:
    text = path.read_bytes()[: 4 * _MAX_CHARACTERS].decode("utf-8", "replace")[:_MAX_CHARACTERS]
    head = _HEAD.match(text)
    body = text[head.end() :] if head is not None else text
    lines = [str(line) for line in head[1].splitlines()] if head is not None else []
    fields = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}
    first = next((line.strip("# \t") for line in body.splitlines() if line.strip()), "")
    description = " ".join(fields.get("description", "").strip("\"'").split()) or first
    return MarkdownFile(name, description[:200], body.strip(), path)
