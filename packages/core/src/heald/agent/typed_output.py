"""The typed output of an exchange: a value that an answer holds as JSON."""

from contextlib import suppress
from typing import Any, cast

from msgspec import UNSET

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import JsonObject, parse_strict
from heald.core.markdown import fenced_blocks
from heald.tools.json_schema import compile_schema
from heald.tools.schema_fault import SchemaFault
from heald.tools.type_schema import TypeSchema
from heald.tools.validation import repair
from heald.wires.output_schema import WRAPPED

CORRECTIONS = 2
"""How often a model may correct output that does not fit the requested type."""


class OutputError(HealdError):
    """The answer of the model is not of the requested type."""

    code = "malformed_response"


class TypedOutput:
    """The value of an answer that was requested with a type."""

    def __init__(self, shape: TypeSchema) -> None:
        self.value: Any = UNSET
        """The value; UNSET until there is one."""
        self._shape = shape
        self._corrections = 0

    def read(self, text: str) -> str | None:
        """Read the value of an answer. Returns why it does not fit, and raises OutputError if that is so too often."""
        try:
            self.value = read_output(text, self._shape)
        except ValueError as error:
            self._corrections += 1
            if self._corrections > CORRECTIONS:
                raise OutputError(f"The model's answer is not of the type that was asked for: {error}.") from None
            return str(error)
        return None


def read_output(text: str, shape: TypeSchema) -> Any:
    """Read the value of a JSON answer. Raises ValueError with the problem."""
    body = _without_fence(text.strip())
    if not body:
        raise ValueError("it is empty")
    try:
        value = _parse_answer(body)
    except ValueError as error:
        raise ValueError(f"it is not JSON ({error})") from None
    return _convert(value, shape)


def _parse_answer(text: str) -> Any:
    """Parse the answer, or the last fenced block of it that is JSON: a model without a grammar explains itself."""
    try:
        return parse_strict(text)
    except ValueError:
        for block in reversed(fenced_blocks(text)):
            with suppress(ValueError):
                return parse_strict(block)
        raise


def _convert(value: Any, shape: TypeSchema) -> Any:
    """Convert a JSON answer. Accepts null for an optional member, and a value that is wrapped because it is not an
    object."""
    if isinstance(value, dict) and value.keys() == {WRAPPED} and shape.schema.get("type") != "object":
        value = cast(JsonObject, value)[WRAPPED]
    try:
        return shape.convert(value)
    except ValueError:
        repaired = repair(value, shape.schema)
        if repaired == value:
            raise
        return shape.convert(repaired)


class SchemaShape(TypeSchema):
    """Requested output that only a JSON Schema describes. Its values are plain JSON."""

    def __init__(self, schema: JsonObject) -> None:
        try:
            self._compiled = compile_schema(schema)
        except SchemaFault as error:
            raise ConfigurationError(f"The schema of the output is not a JSON Schema: {error}") from None
        self.kind = Any
        self.schema = schema

    def convert(self, value: Any) -> Any:
        problems = self._compiled.problems(value, 1)
        if problems:
            raise ValueError(f"{problems[0].where or 'the value'}: {problems[0].message}".rstrip("."))
        return value


def output_shape(output: Any) -> TypeSchema | None:
    """Return the shape of the type that was given as `output`, if one was."""
    return output if output is None or isinstance(output, TypeSchema) else TypeSchema(output, "The output")


def _without_fence(text: str) -> str:
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text.partition("\n")[2].removesuffix("```").strip()
