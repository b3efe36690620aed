"""Fields and bodies that the requests of several routes share."""

from typing import Annotated

import msgspec

Title = Annotated[str, msgspec.Meta(max_length=500)]
Name = Annotated[str, msgspec.Meta(max_length=200)]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Number = Annotated[int, msgspec.Meta(ge=0, le=10**6)]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    search: Name = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
    after: Name | None = None


class Empty(msgspec.Struct, frozen=True):
    """An empty object."""
