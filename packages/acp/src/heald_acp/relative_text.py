"""Paths in a temporary folder as paths of the project: nobody but the agent can use the others."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import ResultPart, Text
from heald.providers.tool_host import Outcome


def relative_arguments(arguments: JsonObject, root: str) -> JsonObject:
    """Return the arguments of a call with paths below `root` as relative ones. An empty root hides nothing."""
    return cast(JsonObject, _relative(arguments, root)) if root else arguments


def relative_outcome(outcome: Outcome, root: str) -> Outcome:
    """Return the outcome of a call with paths below `root` as relative ones."""
    if not root:
        return outcome
    content = outcome.content
    if isinstance(content, str):
        return Outcome(content.replace(f"{root}/", ""), outcome.is_error)
    return Outcome([_relative_part(part, root) for part in content], outcome.is_error)


def add_notes(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    """Return an outcome whose text ends with notes."""
    if not notes:
        return outcome
    content = [Text(outcome.content)] if isinstance(outcome.content, str) else outcome.content
    return Outcome([*content, Text("\n" + "\n".join(notes))], outcome.is_error)


def _relative_part(part: ResultPart, root: str) -> ResultPart:
    return msgspec.structs.replace(part, text=part.text.replace(f"{root}/", "")) if isinstance(part, Text) else part


def _relative(value: Any, root: str) -> Any:
    match value:
        case str() if value == root:
            return "."
        case str():
            return value.replace(f"{root}/", "")
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {key.replace(f"{root}/", ""): _relative(item, root) for key, item in items}
        case list():
            return [_relative(item, root) for item in cast("list[Any]", value)]
        case _:
            return value
