"""What the studio's API takes and gives."""

from typing import Annotated, Literal

import msgspec

from weft.core.errors import ErrorInfo
from weft.core.usage import Usage
from weft.server.studio.tickets import Tickets
from weft.server.views import Body, Name, Title
from weft.studio.projects.project import Base, Kind, Marks, Project, Status, Target, Version
from weft.studio.stacks.stack import stack

Words = Annotated[str, msgspec.Meta(max_length=200_000)]


class Source(Body, frozen=True, kw_only=True):
    """A file that a person gives: as a data: address, or at an address of the web."""

    data: str | None = None
    url: Annotated[str, msgspec.Meta(max_length=4000)] | None = None


class Selected(Body, frozen=True, kw_only=True):
    """An element that a person chose in the preview."""

    html: Words
    path: Words = ""
    index: int = 0
    count: int = 0
    file: Name = ""
    line: int = 0


class PromptBody(Body, frozen=True, kw_only=True):
    text: Words = ""
    images: Annotated[list[Source], msgspec.Meta(max_length=20)] = []
    videos: Annotated[list[Source], msgspec.Meta(max_length=1)] = []
    url: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    """A page to be built after: it is captured first."""
    html: str | None = None
    """A page to be changed."""
    selected: Selected | None = None


class NewProject(Body, frozen=True, kw_only=True):
    prompt: PromptBody
    stack: Name = "html_tailwind"
    models: Annotated[list[Name], msgspec.Meta(max_length=12)] = []
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None
    design_system: Words = ""
    title: Title = ""


class BaseBody(Body, frozen=True, kw_only=True):
    version: Name
    variant: Annotated[int, msgspec.Meta(ge=0, le=100)]

    def base(self) -> Base:
        return Base(self.version, self.variant)


class Update(Body, frozen=True, kw_only=True, tag="update", tag_field="kind"):
    base: BaseBody
    prompt: PromptBody
    models: Annotated[list[Name], msgspec.Meta(max_length=12)] = []
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None


class Edit(Body, frozen=True, kw_only=True, tag="edit", tag_field="kind"):
    base: BaseBody
    files: Annotated[dict[str, str | None], msgspec.Meta(min_length=1, max_length=500)]


class Restore(Body, frozen=True, kw_only=True, tag="restore", tag_field="kind"):
    base: BaseBody


NewVersion = Update | Edit | Restore


class ProjectChange(Body, frozen=True, kw_only=True):
    title: Title


class DiffQuery(msgspec.Struct, frozen=True, kw_only=True):
    against: Name
    """Another variant, as version.index."""


class ExportQuery(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["zip", "html"] = "zip"


class VariantView(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    session: str
    model: str
    status: Status
    exchange: str | None
    started: float | None
    ended: float | None
    turns: int
    usage: Usage
    cost_usd: float | None
    score: Marks | None
    error: ErrorInfo | None
    entry: str | None
    """Its page; None while there is none."""
    preview: str
    """Where its page is, for a frame."""


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    number: int
    kind: Kind
    base: Base | None
    text: str
    created: float
    chosen: int
    pictures: list[Target]
    variants: list[VariantView]


class ProjectView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    stack: str
    created: float
    updated: float
    targets: list[Target]
    versions: list[VersionView]


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
    score: Marks
    differences: list[DifferenceView]
    heatmap: str
    """Where the picture of the difference is."""


class StackView(msgspec.Struct, frozen=True):
    name: str
    label: str


class ModelOffer(msgspec.Struct, frozen=True):
    name: str
    label: str
    available: bool = True


class Defaults(msgspec.Struct, frozen=True):
    stack: str
    variants_create: int
    variants_update: int
    models: list[str]
    """What builds where the person names none, in this order."""


class Example(msgspec.Struct, frozen=True):
    """Something to ask for: a sentence, or a picture to build from."""

    name: str
    title: str
    thumbnail: str | None = None
    """Where the picture is."""


class StudioView(msgspec.Struct, frozen=True):
    stacks: list[StackView]
    models: list[ModelOffer]
    defaults: Defaults
    has_keys: bool
    chromium: bool
    design_systems: list[str]
    examples: list[Example]


class ScreenshotQuery(msgspec.Struct, frozen=True, kw_only=True):
    width: Annotated[int, msgspec.Meta(ge=240, le=2560)] = 1280


def project_view(project: Project, tickets: Tickets, holder: bytes | None) -> ProjectView:
    return ProjectView(
        id=project.id,
        title=project.title,
        stack=project.stack,
        created=project.created,
        updated=project.updated,
        targets=project.targets,
        versions=[version_view(project, version, tickets, holder) for version in project.versions],
    )


def version_view(project: Project, version: Version, tickets: Tickets, holder: bytes | None) -> VersionView:
    entry = stack(project.stack).entry
    variants = [
        VariantView(
            index=variant.index,
            session=variant.session,
            model=variant.model,
            status=variant.status,
            exchange=variant.exchange,
            started=variant.started,
            ended=variant.ended,
            turns=variant.turns,
            usage=variant.usage,
            cost_usd=variant.cost_usd,
            score=variant.score,
            error=variant.error,
            entry=entry if variant.exchange is not None or variant.is_done else None,
            preview=tickets.address(holder, project.id, Base(version.id, variant.index)),
        )
        for variant in version.variants
    ]
    return VersionView(
        id=version.id,
        number=version.number,
        kind=version.kind,
        base=version.base,
        text=version.text,
        created=version.created,
        chosen=version.chosen,
        pictures=version.pictures,
        variants=variants,
    )
