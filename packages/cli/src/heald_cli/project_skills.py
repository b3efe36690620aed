"""Skills: know-how that a model reads when a task needs it, as `skills/NAME/SKILL.md`."""

from collections.abc import Sequence
from pathlib import Path

from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald_cli.folder_files import SKILL, SKILLS, folder_files, usable_folders
from heald_cli.markdown_files import MAX_SKILL_CHARACTERS, MarkdownFile, read_markdown, unique_files


def load_skills(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's skills and the trusted ones of a project, which win by name."""
    skills: list[MarkdownFile] = []
    for place in usable_folders(folder):
        paths = folder_files(place)
        for path in paths:
            if path.name == SKILL and path.parent.parent == place / SKILLS:
                files = (other.relative_to(path.parent) for other in paths if other.is_relative_to(path.parent))
                names = tuple(file.as_posix() for file in files if file.name != SKILL)
                skills.append(read_markdown(path, path.parent.name, names))
    return unique_files(skills)


def describe_skills(skills: Sequence[MarkdownFile]) -> str:
    """Describe skills for the instructions of a model; empty if there are none."""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills if skill.is_for_models]
    if not lines:
        return ""
    return "\n".join(["Skills that you can read with read_skill when a task needs one:", *lines])


def skill_tool(skills: Sequence[MarkdownFile]) -> Tool:
    """Return the tool by which a model reads a skill."""
    by_name = {skill.name: skill for skill in skills if skill.is_for_models}

    @tool(effect="none", summary=lambda arguments: str(arguments.get("name", "")), idempotent=True)
    async def read_skill(name: str, file: str = "") -> str:
        """Read a skill: instructions for one kind of task.

        Args:
            name: The name of the skill.
            file: A file that comes with the skill. Leave it out for the skill itself.
        """
        skill = by_name.get(name)
        if skill is None:
            raise ToolFault(f"There is no skill {name[:60]!r}; there are: {', '.join(by_name)}.", "not_found")
        if file:
            return _read_skill_file(skill, file)
        files = f"\n\nFiles of this skill, for read_skill: {', '.join(skill.files)}" if skill.files else ""
        return f"{skill.text}{files}"

    return read_skill


def _read_skill_file(skill: MarkdownFile, name: str) -> str:
    if name not in skill.files:
        names = ", ".join(skill.files) or "none"
        raise ToolFault(f"The skill {skill.name!r} has no file {name[:80]!r}; there are: {names}.", "not_found")
    content = (skill.place.parent / name).read_bytes()[: 4 * MAX_SKILL_CHARACTERS]
    if b"\0" in content:
        raise ToolFault(f"{name} is not a text.", "not_text")
    return content.decode("utf-8", "replace")[:MAX_SKILL_CHARACTERS]
