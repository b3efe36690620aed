"""What is wrong with a schema itself."""

from collections.abc import Iterable

from weft.schema.wording import placed


class SchemaFault(ValueError):
    """This is no JSON Schema, or not one that can be used here. One sentence with the place in the schema."""

    def __init__(self, place: Iterable[str | int], reason: str) -> None:
        where = placed(place)
        super().__init__(f"{where}: {reason}" if where else f"{reason[:1].upper()}{reason[1:]}")
