"""The error for a JSON Schema that cannot be used."""

from heald.tools.quoted_values import format_path
from heald.tools.schema_problem import Path


class SchemaFault(ValueError):
    """A schema cannot be used. The message is one sentence with the path in the schema."""

    def __init__(self, place: Path, reason: str) -> None:
        where = format_path(place)
        super().__init__(f"{where}: {reason}" if where else f"{reason[:1].upper()}{reason[1:]}")
