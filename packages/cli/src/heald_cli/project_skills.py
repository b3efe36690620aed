"""Skills: know-how that a model reads when a task needs it, as `skills/NAME/SKILL.md`."""

from collections.abc import Sequence
from pathlib import Path

from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald_cli.markdown_files import SKILL, MarkdownFile, read_markdown, unique_files, usable_files


def load_skills(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's skills and the trusted ones of a project, which win by name."""
    return unique_files([read_markdown(path, path.parent.name) for path in usable_files(folder) if path.name == SKILL])


def describe_skills(skills: Sequence[MarkdownFile]) -> str:
    """Describe skills for the instructions of a model; empty if there are none."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills]
    return "\n".join(["Skills that you can read with read_skill when a task needs one:", *lines])


def skill_tool(skills: Sequence[MarkdownFile]) -> Tool:
    """Return the tool by which a model reads a skill."""
    by_name = {skill.name: skill for skill in skills}

    @tool(effect="none", summary=lambda arguments: str(arguments.get("name", "")), idempotent=True)
    async def read_skill(name: str) -> str:
        """Read a skill: instructions for one kind of task.

        Args:
            name: The name of the skill.
        """
        skill = by_name.get(name)
        if skill is None:
            raise ToolFault(f"There is no skill {name[:60]!r}; there are: {', '.join(by_name)}.", "not_found")
        return skill.text

    return read_skill
