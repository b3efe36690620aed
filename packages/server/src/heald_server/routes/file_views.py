"""Requests and responses of the routes for files."""

from typing import Annotated, Literal

import msgspec

from heald.tools.workspace.hunks import Hunk
from heald_server.routes.fields import Body, Digest, Number


class FileQuery(msgspec.Struct, frozen=True, kw_only=True):
    revision: Annotated[int, msgspec.Meta(ge=0, le=2**31)] | None = None


class FileView(msgspec.Struct, frozen=True):
    path: str
    size: int
    revision: int
    """0 for a file that this session has not changed."""


class FilesView(msgspec.Struct, frozen=True):
    files: list[FileView]
    cut: bool
    """There are more than are listed."""


class RevisionView(msgspec.Struct, frozen=True):
    revision: int
    hash: str | None
    size: int
    diff: str


class RevisionsView(msgspec.Struct, frozen=True):
    revisions: list[RevisionView]


class ChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the session changed."""

    path: str
    kind: Literal["created", "changed", "deleted"]
    base: str | None
    """The SHA-256 of the content before; null if there was no file."""
    hash: str | None
    """The SHA-256 of the content now; null if it is deleted."""
    problem: str
    """Why it cannot be compared; empty if it can."""


class ChangesView(msgspec.Struct, frozen=True):
    changes: list[ChangeView]


class HunksView(ChangeView, frozen=True, kw_only=True):
    hunks: list[Hunk] | None
    """The hunks, in order; null for a file that can only be accepted or reverted as a whole."""


class JudgementBody(Body, frozen=True, kw_only=True):
    """A decision on a change. `base` and `hash` identify the contents that were shown."""

    decision: Literal["accept", "revert"]
    base: Digest | None
    hash: Digest | None
    hunks: Annotated[list[Number], msgspec.Meta(min_length=1, max_length=10_000)] | None = None
    """Indexes of hunks, from 0; all hunks if omitted."""


class BlobView(msgspec.Struct, frozen=True):
    blob: str
