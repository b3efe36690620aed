"""Request types of the studio's API: bodies and queries."""

from typing import Annotated, Literal

import msgspec

from heald_pictures.design_request import PictureKind
from heald_server.routes.fields import Body, Name, Title
from heald_studio.projects.project import (
    VariantRef,
)

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
    kind: PictureKind = ""
    """What a picture is, for the local converter: a screenshot of a page, a drawing by hand, or the photograph of a
    screen. By default that is found out."""
    scale: Annotated[int, msgspec.Meta(ge=1, le=8)] | None = None
    """Pixels for each CSS pixel. By default they are found out."""


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


class DocumentBody(Body, frozen=True, kw_only=True):
    """A document that the models read: a PDF, or a text such as a CSV file or a log."""

    name: Title
    data: str
    """A data: URL."""


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
    documents: Annotated[list[DocumentBody], msgspec.Meta(max_length=20)] = []
    """PDF and text files that the models read with the request."""


class NewProject(Body, frozen=True, kw_only=True):
    prompt: PromptBody
    stack: Name = ""
    """By default html_tailwind, or the stack that an imported page is written in."""
    models: Annotated[list[Name], msgspec.Meta(max_length=12)] = []
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None
    design_system: Words = ""
    draft: bool = False
    """Whether the local converter builds the page first, without a model, and the models only change what differs from
    the picture."""
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
    """By default the model that built the variant."""
    variants: Annotated[int, msgspec.Meta(ge=1, le=12)] | None = None
    """By default one for each model that is named, else as many as the changed version has, at most two."""


class EditBody(Body, frozen=True, kw_only=True, tag="edit", tag_field="kind"):
    base: BaseBody
    files: Annotated[dict[str, str | None], msgspec.Meta(min_length=1, max_length=500)]


class RestoreBody(Body, frozen=True, kw_only=True, tag="restore", tag_field="kind"):
    base: BaseBody


class PushBody(Body, frozen=True, kw_only=True):
    remote: Name
    """The address of the remote, https or ssh, without a password."""
    branch: Name = ""
    """By default heald/ and the title of the project."""


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


class RenderedBody(Body, frozen=True, kw_only=True):
    """An element as the preview reports it."""

    path: Words
    """Its selector, from the page down."""
    source: Words = ""
    """The place in the source that the preview names; empty if it names none."""
    template: Words = ""
    """The template of a component that `source` counts in."""


class MoveBody(Body, frozen=True, kw_only=True):
    """Where an element is moved to."""

    target: RenderedBody
    place: Literal["before", "after"]


class ElementChangeBody(Body, frozen=True, kw_only=True):
    """A change of one of several elements."""

    element: RenderedBody
    text: Words | None = None
    before: Words = ""
    """The text that the element showed."""
    style: Annotated[dict[str, Name], msgspec.Meta(max_length=40)] = {}
    rules: Annotated[dict[str, Name], msgspec.Meta(max_length=40)] = {}
    """The selector of the rule that sets a property for these elements only, which is then edited."""
    attributes: Annotated[dict[Literal["src", "alt", "href"], Words], msgspec.Meta(max_length=3)] = {}
    move: MoveBody | None = None


class ElementsBody(Body, frozen=True, kw_only=True, tag="elements", tag_field="kind"):
    """Changes elements of a page together in their source; no model is called."""

    base: BaseBody
    changes: Annotated[list[ElementChangeBody], msgspec.Meta(min_length=1, max_length=200)]
    page: Name = ""
    """The file of the page that shows them; by default the first page."""
    width: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1280
    """The width of the window that the change was made in."""
    below: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    """The change holds in windows narrower than this; 0 is every width."""


class PageBody(Body, frozen=True, kw_only=True, tag="page", tag_field="kind"):
    """Adds, renames or deletes a page; no model is called."""

    base: BaseBody
    action: Literal["add", "rename", "delete"]
    path: Name = ""
    """The page that is renamed or deleted. A new one has its frame: header, navigation and footer."""
    name: Name = ""
    """Of the new or renamed page, as a person writes it."""


class LockBody(Body, frozen=True, kw_only=True):
    """Locks a part of a variant: versions made from it that alter the part are refused."""

    base: BaseBody
    kind: Literal["element", "file", "text", "style"]
    path: Words = ""
    """The selector of the element, as the preview reports it."""
    text: Words = ""
    """The words, for a text without a path."""
    page: Name = ""
    """The file of the page that shows it; by default the first page."""
    file: Name = ""
    """The path of the file, for a file."""


NewVersion = UpdateBody | EditBody | RestoreBody | ElementBody | ElementsBody | PageBody


class ProjectChange(Body, frozen=True, kw_only=True):
    title: Title


class UndoBody(Body, frozen=True, kw_only=True):
    action: Name = ""
    """The id of the action that is meant; another one is refused. By default whichever is next."""


class DiffQuery(msgspec.Struct, frozen=True, kw_only=True):
    against: Name
    """Another variant, as version.index."""


class ExportQuery(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["zip", "html"] = "zip"
    page: Name = ""
    """Which page becomes the one file of the format html; by default the first."""


class ScreenshotQuery(msgspec.Struct, frozen=True, kw_only=True):
    width: Annotated[int, msgspec.Meta(ge=240, le=2560)] = 1280
