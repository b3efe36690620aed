"""Names a variant of a project."""

import msgspec


class VariantRef(msgspec.Struct, frozen=True):
    """Names a variant: its version and its index."""

    version: str
    variant: int
