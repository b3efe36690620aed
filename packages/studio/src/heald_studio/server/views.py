"""Response types of the studio's API."""

from typing import Literal

import msgspec

from heald.core.errors import ErrorInfo
from heald.core.turn import Usage
from heald.providers.model_names import Speed
from heald_studio.projects.lock import LockKind
from heald_studio.projects.project import (
    SitePage,
    TargetPicture,
    VariantRef,
    VariantScore,
    VariantStatus,
    VersionKind,
)
from heald_studio.projects.queued_change import QueueStatus


class TryView(msgspec.Struct, frozen=True, kw_only=True):
    """One try at the request of a variant."""

    number: int
    """Counted from 1."""
    session: str
    model: str
    status: VariantStatus


class ActionView(msgspec.Struct, frozen=True, kw_only=True):
    """An action that can be undone or done again."""

    id: str
    text: str
    """What was done, such as: change “Make it blue”."""
    version: str
    """The id of the version that shows the result of undoing it, or of doing it again; empty if any does."""


class VariantView(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    session: str
    model: str
    status: VariantStatus
    exchange: str | None
    started: float | None
    ended: float | None
    turns: int
    usage: Usage
    cost_usd: float | None
    score: VariantScore | None
    draft_score: VariantScore | None
    """Of the draft that it began with; None if it began with none."""
    error: ErrorInfo | None
    note: str | None
    """What is unusual about its outcome, such as the limit that cut it off."""
    entry: str | None
    """The path of its page; None while there is none."""
    pages: list[SitePage]
    """Its pages, the first one first; empty until it is done. Below its preview each has the address of its path."""
    preview: str
    """The address of its preview, for a frame."""
    number: int
    """Of the try that is shown, counted from 1."""
    tries: list[TryView]
    """All of its tries, the first one first."""
    removed: bool
    """Whether a person removed it; it can be brought back by undoing that."""


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    number: int
    kind: VersionKind
    base: VariantRef | None
    text: str
    created: float
    chosen: int
    draft: str
    """The session in which the converter builds the page that its variants begin with; empty if there is none."""
    queued: str
    """The id of the waiting change that made it; empty if it was sent at once."""
    pictures: list[TargetPicture]
    variants: list[VariantView]


class LockView(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a design that stays as it is in one variant, in every version that is made from that one."""

    id: str
    kind: LockKind
    label: str
    """What it locks, such as: the text “$29 a month”."""
    version: str
    variant: int
    page: str
    """The file of the page that shows it; empty for the first page."""
    path: str
    text: str
    file: str
    author: Literal["person", "model"]
    created: float


class QueuedChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A change that waits for a variant."""

    id: str
    text: str
    base: VariantRef
    status: QueueStatus
    """waiting: for its turn. sending: on its way. failed: those behind it wait until it is sent again or removed."""
    reason: str
    """Why it failed."""


class ProjectView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    stack: str
    created: float
    updated: float
    targets: list[TargetPicture]
    versions: list[VersionView]
    current: str
    """The id of the version that the project is at; empty before the first one."""
    undo: ActionView | None
    """What undoing undoes next."""
    redo: ActionView | None
    """What can be done again next."""
    queue: list[QueuedChangeView]
    """The changes that wait for a variant, in their order."""
    locks: list[LockView]
    """What no later version may change."""


class ProjectChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A project, now and after every change."""

    type: Literal["project_changed"]
    project: ProjectView


class ProjectsView(msgspec.Struct, frozen=True):
    projects: list[ProjectView]
    next: str | None


class StudioFile(msgspec.Struct, frozen=True):
    path: str
    size: int
    text: bool


class StudioFiles(msgspec.Struct, frozen=True):
    files: list[StudioFile]


class DifferenceView(msgspec.Struct, frozen=True):
    kind: str
    box: tuple[int, int, int, int]
    sentence: str


class ScoreView(msgspec.Struct, frozen=True):
    score: VariantScore
    differences: list[DifferenceView]
    heatmap: str
    """The address of the heat map."""


class StackView(msgspec.Struct, frozen=True):
    name: str
    label: str


class ModelOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A model that builds pages, with the facts that a person chooses it by. None means unknown."""

    name: str
    label: str
    provider: str = ""
    available: bool = True
    is_general: bool = True
    """Whether it is meant for general work, not for sound, search or moderation."""
    text: bool = True
    """Whether it builds from words. A model that does not builds from pictures only."""
    vision: bool | None = None
    stacks: list[str] | None = None
    """The stacks that it can write; None if it can write all of them."""
    context_window: int | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    speed: Speed = "medium"


class Defaults(msgspec.Struct, frozen=True):
    stack: str
    variants_create: int
    variants_update: int
    models: list[str]
    """The models that build where the client names none, in this order. Those that build from pictures only are used
    for new pages from pictures, the others for words."""


class Example(msgspec.Struct, frozen=True):
    """An example: a sentence, or a picture to build from."""

    name: str
    title: str
    thumbnail: str | None = None
    """The address of the picture."""


class GalleryItem(msgspec.Struct, frozen=True, kw_only=True):
    """A finished project that can be opened and changed without a key."""

    name: str
    title: str
    description: str
    stack: str
    thumbnail: str
    """The address of its picture."""


class StudioView(msgspec.Struct, frozen=True):
    stacks: list[StackView]
    models: list[ModelOffer]
    defaults: Defaults
    has_keys: bool
    chromium: bool
    figma: Literal["", "environment", "keyring", "file"]
    """Where the token is to read designs of Figma with; empty if there is none."""
    design_systems: list[str]
    examples: list[Example]
    gallery: list[GalleryItem]
