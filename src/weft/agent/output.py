"""A typed value from an answer."""

from typing import Any

from weft.core.errors import WeftError
from weft.core.json import parse_strict
from weft.tools.shape import Shape


class OutputError(WeftError):
    """The model did not give the output that was asked for."""

    code = "malformed_response"


def read_output(text: str, shape: Shape) -> Any:
    """The value in an answer that should be nothing but JSON. ValueError says what is wrong with it."""
    body = _without_fence(text.strip())
    if not body:
        raise ValueError("it is empty")
    try:
        value = parse_strict(body)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from None
    return shape.convert(value)


def _without_fence(text: str) -> str:
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text.partition("\n")[2].removesuffix("```").strip()
