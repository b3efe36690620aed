"""Files of markdown that a user writes for agents: commands and skills."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from heald.config.front_matter import parse_front_matter
from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

MAX_SKILL_CHARACTERS = 50_000
"""The most that the model gets of a command or skill."""
_MAX_DESCRIPTION = 1024
_NAME = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,60}", re.I)
_HEAD = lazy_pattern(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?\n", re.S | re.M)
_PLACEHOLDER = lazy_pattern(r"\$(ARGUMENTS|[1-9])")


class MarkdownFile(msgspec.Struct, frozen=True):
    """A command or a skill: its name, what it is for, and its text."""

    name: str
    description: str
    text: str
    place: Path
    files: tuple[str, ...] = ()
    """The other files of a skill, relative to its folder."""
    is_for_models: bool = True
    """Whether a model may read it by itself. If not, the user sends it."""

    def expand(self, arguments: str) -> str:
        """Return the text with the arguments in their places, or after it if it has no place for them."""
        words = arguments.split()
        values = {"ARGUMENTS": arguments, **{str(at): word for at, word in enumerate(words[:9], 1)}}
        text, count = _PLACEHOLDER.subn(lambda placeholder: values.get(placeholder[1], ""), self.text)
        return text if count or not arguments else f"{text}\n\n{arguments}"


def unique_files(files: Sequence[MarkdownFile]) -> list[MarkdownFile]:
    return list({file.name: file for file in files if _NAME.fullmatch(file.name)}.values())


def read_markdown(path: Path, name: str, files: tuple[str, ...] = ()) -> MarkdownFile:
    text = path.read_bytes()[: 4 * MAX_SKILL_CHARACTERS].decode("utf-8", "replace")[:MAX_SKILL_CHARACTERS]
    head = _HEAD.match(text)
    body = text[head.end() :] if head is not None else text
    fields = _read_fields(text, head[1]) if head is not None else {}
    first = next((line.strip("# \t") for line in body.splitlines() if line.strip()), "")
    description = " ".join(fields.get("description", "").split()) or first
    is_for_models = fields.get("disable-model-invocation", "").lower() != "true"
    return MarkdownFile(name, description[:_MAX_DESCRIPTION], body.strip(), path, files, is_for_models)


def _read_fields(text: str, head: str) -> dict[str, str]:
    """Return the texts of the front matter. Lines count by themselves where it has parts of YAML that Heald lacks."""
    try:
        fields = parse_front_matter(text, "").fields
    except ConfigurationError:
        pairs = (line.partition(":") for line in head.splitlines())
        return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}
    return {name: field.value for name, field in fields.items() if isinstance(field.value, str)}
