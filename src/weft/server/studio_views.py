"""Request and response types of the studio's API."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from weft.core.errors import ErrorInfo
from weft.core.turn import Usage
from weft.providers.model_names import Speed
from weft.server.guard import Caller
from weft.server.studio_previews import PreviewTickets
from weft.server.views import Body, Name, Title
from weft.studio.project import (
    Project,
    SitePage,
    TargetPicture,
    VariantRef,
    VariantScore,
    VariantStatus,
    Version,
    VersionKind,
)
from weft.tools.workspace.diff import unified_diff

Words = Annotated[str, msgspec.Meta(max_length=200_000)]


class SourceBody(Body, frozen=True, kw_only=True):
    """A file: a data: URL, or an address on the web."""

    data: str | None = None
    url: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    role: Literal["", "desktop", "mobile", "detail"] = ""
    """What a picture shows: the design on a desktop, on a phone, or a part of it."""
    page: Name = ""
    """The name of the page that a picture shows, such as “about”, if several pictures become several pages. The first
    one is index.html."""


class PictureBody(SourceBody, frozen=True, kw_only=True):
    """A picture that is about to be attached."""

    name: Title = ""
    """Of its file, for the message if it is refused."""


class CaptureOptions(Body, frozen=True, kw_only=True):
    """How a page on the web is captured."""

    width: Annotated[int, msgspec.Meta(ge=320, le=3840)] | None = None
    """Of the window; by default the page is captured twice, on a desktop and on a phone."""
    full_page: bool = True
    """Whether what is below the window is captured too."""


class SelectedBody(Body, frozen=True, kw_only=True):
    """An element that was selected in the preview."""

    html: Words
    path: Words = ""
    index: int = 0
    count: int = 0
    file: Name = ""
    line: int = 0


class PromptBody(Body, frozen=True, kw_only=True):
    text: Words = ""
    images: Annotated[list[SourceBody], msgspec.Meta(max_length=20)] = []
    videos: Annotated[list[SourceBody], msgspec.Meta(max_length=1)] = []
    url: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    """A page to build from; it is captured first."""
    capture: CaptureOptions | None = None
    figma: Annotated[str, msgspec.Meta(max_length=8_000_000)] | None = None
    """The link of a frame in Figma, or the text of a file that holds an answer of its REST API."""
    html: str | None = None
    """The source of a page to import: it becomes the first version as it is."""
    selected: SelectedBody | None = None


class NewProject(Body, frozen=True, kw_only=True):
    prompt: PromptBody
    stack: Name = ""
    """By default html_tailwind, or the stack that an imported page is written in."""
    models: Annotated[list[Name], msgspec.Meta(max_length=12)] = []
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None
    design_system: Words = ""
    title: Title = ""


class BaseBody(Body, frozen=True, kw_only=True):
    version: Name
    variant: Annotated[int, msgspec.Meta(ge=0, le=100)]

    def base(self) -> VariantRef:
        return VariantRef(self.version, self.variant)


class UpdateBody(Body, frozen=True, kw_only=True, tag="update", tag_field="kind"):
    base: BaseBody
    prompt: PromptBody
    models: Annotated[list[Name], msgspec.Meta(max_length=12)] = []
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None


class EditBody(Body, frozen=True, kw_only=True, tag="edit", tag_field="kind"):
    base: BaseBody
    files: Annotated[dict[str, str | None], msgspec.Meta(min_length=1, max_length=500)]


class RestoreBody(Body, frozen=True, kw_only=True, tag="restore", tag_field="kind"):
    base: BaseBody


class PushBody(Body, frozen=True, kw_only=True):
    remote: Name
    """The address of the remote, https or ssh, without a password."""
    branch: Name = ""
    """By default weft/ and the title of the project."""


class ElementBody(Body, frozen=True, kw_only=True, tag="element", tag_field="kind"):
    """Changes one element of the page in its source; no model is called."""

    base: BaseBody
    path: Words
    """The selector of the element, as the preview reports it."""
    text: Words | None = None
    before: Words = ""
    """The text that the element showed."""
    page: Name = ""
    """The file of the page that shows it; by default the first page."""
    style: Annotated[dict[str, Name], msgspec.Meta(max_length=40)] = {}
    attributes: Annotated[dict[Literal["src", "alt", "href"], Words], msgspec.Meta(max_length=3)] = {}


class PageBody(Body, frozen=True, kw_only=True, tag="page", tag_field="kind"):
    """Adds, renames or deletes a page; no model is called."""

    base: BaseBody
    action: Literal["add", "rename", "delete"]
    path: Name = ""
    """The page that is renamed or deleted. A new one has its frame: header, navigation and footer."""
    name: Name = ""
    """Of the new or renamed page, as a person writes it."""


NewVersion = UpdateBody | EditBody | RestoreBody | ElementBody | PageBody


class ProjectChange(Body, frozen=True, kw_only=True):
    title: Title


class DiffQuery(msgspec.Struct, frozen=True, kw_only=True):
    against: Name
    """Another variant, as version.index."""


class ExportQuery(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["zip", "html"] = "zip"
    page: Name = ""
    """Which page becomes the one file of the format html; by default the first."""


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
    error: ErrorInfo | None
    note: str | None
    """What is unusual about its outcome, such as the limit that cut it off."""
    entry: str | None
    """The path of its page; None while there is none."""
    pages: list[SitePage]
    """Its pages, the first one first; empty until it is done. Below its preview each has the address of its path."""
    preview: str
    """The address of its preview, for a frame."""


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    number: int
    kind: VersionKind
    base: VariantRef | None
    text: str
    created: float
    chosen: int
    pictures: list[TargetPicture]
    variants: list[VariantView]


class ProjectView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    stack: str
    created: float
    updated: float
    targets: list[TargetPicture]
    versions: list[VersionView]


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


class FileDiff(msgspec.Struct, frozen=True):
    path: str
    diff: str


class Diffs(msgspec.Struct, frozen=True):
    files: list[FileDiff]


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
    """A model that builds pages, with what a person wants to know before choosing it. None means unknown."""

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
    """The models that build where the client names none, in this order."""


class Example(msgspec.Struct, frozen=True):
    """An example: a sentence, or a picture to build from."""

    name: str
    title: str
    thumbnail: str | None = None
    """The address of the picture."""


class StudioView(msgspec.Struct, frozen=True):
    stacks: list[StackView]
    models: list[ModelOffer]
    defaults: Defaults
    has_keys: bool
    chromium: bool
    figma: Literal["", "environment", "keyring"]
    """Where the token is to read designs of Figma with; empty if there is none."""
    design_systems: list[str]
    examples: list[Example]


class ScreenshotQuery(msgspec.Struct, frozen=True, kw_only=True):
    width: Annotated[int, msgspec.Meta(ge=240, le=2560)] = 1280


def project_view(project: Project, entry: str, tickets: PreviewTickets, caller: Caller) -> ProjectView:
    versions = [version_view(project, version, entry, tickets, caller) for version in project.versions]
    return ProjectView(**_common_fields(project, ProjectView), versions=versions)


def version_view(
    project: Project, version: Version, entry: str, tickets: PreviewTickets, caller: Caller
) -> VersionView:
    variants = [
        VariantView(
            **_common_fields(variant, VariantView),
            entry=entry if variant.has_page and (variant.exchange is not None or variant.is_done) else None,
            preview=tickets.address(caller, project.id, VariantRef(version.id, variant.index)),
        )
        for variant in version.variants
    ]
    return VersionView(**_common_fields(version, VersionView), variants=variants)


def _common_fields(source: msgspec.Struct, view: type[msgspec.Struct]) -> dict[str, Any]:
    names = set(source.__struct_fields__) & set(view.__struct_fields__) - {"versions", "variants"}
    return {name: getattr(source, name) for name in names}


def diff_files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Diffs:
    """The diffs of the files that differ."""
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    return Diffs([FileDiff(path, unified_diff(path, before.get(path), after.get(path))) for path in changed])
