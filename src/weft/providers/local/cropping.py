"""The calls that have a tool cut pictures out of the target, where there is such a tool and it takes boxes."""

from typing import Any

from weft.core.json import JsonObject, as_object
from weft.core.tools import ToolDefinition
from weft.providers.local.asked import Asked
from weft.providers.scripted import Call
from weft.vision import Page

TOOL = "extract_assets"
_MOST = 40
"""Pictures of one call."""


def crop_calls(asked: Asked, page: Page) -> list[Call]:
    """The calls for all pictures of the page; none if there are no pictures, or the tool cannot be asked for them."""
    tool = next((each for each in asked.tools if each.name == TOOL), None)
    if tool is None or not page.assets or asked.made(TOOL) or asked.stack == "svg" or not _takes_boxes(tool):
        return []
    seen = page.seen
    wanted: list[JsonObject] = []
    for picture in seen.pictures:
        x, y = int(picture.rect.x), int(picture.rect.y)
        box = (x, y, max(round(picture.rect.right) - x, 1), max(round(picture.rect.bottom) - y, 1))
        wanted.append({"name": picture.name, "box": [side * seen.ratio for side in box]})
    chunks = [wanted[at : at + _MOST] for at in range(0, len(wanted), _MOST)]
    return [Call(TOOL, {"assets": chunk, "seen_width": seen.width * seen.ratio}) for chunk in chunks]


def cropped(asked: Asked, page: Page) -> set[str]:
    """The pictures of the page that the tool says it has saved."""
    said = "\n".join(each.result.text for each in asked.made(TOOL) if each.ok)
    return {path for path, _ in page.assets if path in said}


def _takes_boxes(tool: ToolDefinition) -> bool:
    schema = tool.input_schema
    arguments = as_object(schema.get("properties"))
    given = as_object(arguments.get("assets"))
    options: list[Any] = [given, *(given.get("anyOf") or [])]
    lists = [as_object(each) for each in options if as_object(each).get("type") == "array"]
    item = as_object(lists[0].get("items")) if lists else given
    if isinstance(reference := item.get("$ref"), str):
        item = as_object(as_object(schema.get("$defs")).get(reference.rpartition("/")[2]))
    return "seen_width" in arguments and {"name", "box"} <= as_object(item.get("properties")).keys()
