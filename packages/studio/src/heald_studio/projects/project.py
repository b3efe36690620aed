"""A project with its versions and variants, as immutable data."""

from typing import Any, Literal

import msgspec

from heald.core.errors import ErrorInfo, NotFound
from heald.core.turn import Usage

VersionKind = Literal["create", "import", "update", "edit", "restore"]
VariantStatus = Literal["queued", "running", "completed", "failed", "cancelled", "limit"]
FINAL_STATUSES: frozenset[VariantStatus] = frozenset({"completed", "failed", "cancelled", "limit"})


class NoSuchVersion(NotFound):
    """The project has no version of that id, or the version no variant of that number."""


class VariantRef(msgspec.Struct, frozen=True):
    """Names a variant: its version and its index."""

    version: str
    variant: int


class TargetPicture(msgspec.Struct, frozen=True):
    """A picture of the design to build. Its bytes are a blob of the project."""

    blob: str
    width: int
    height: int
    label: str = ""
    ratio: int = 1
    """Its pixels for each CSS pixel."""


class VariantScore(msgspec.Struct, frozen=True):
    """The similarity of a variant and its target, each value from 0 to 1."""

    block: float
    text: float
    position: float
    colour: float
    ssim: float
    overall: float


class SitePage(msgspec.Struct, frozen=True):
    """A page of a project: the path of its file, and its title."""

    path: str
    title: str = ""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One of several agents that work on the request of a version, in a session of its own."""

    index: int
    """Counted from 0."""
    session: str
    model: str
    status: VariantStatus = "queued"
    exchange: str | None = None
    started: float | None = None
    ended: float | None = None
    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    score: VariantScore | None = None
    error: ErrorInfo | None = None
    note: str | None = None
    """What is unusual about its outcome, such as the limit that cut it off."""
    has_page: bool = True
    """Whether its files hold a page. It is known once the variant is done."""
    pages: list[SitePage] = []
    """Its pages, the first one first. They are known once the variant is done."""
    earlier: list[str] = []
    """The sessions of its earlier attempts, the first one first."""

    @property
    def is_done(self) -> bool:
        return self.status in FINAL_STATUSES


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a project after a request."""

    id: str
    number: int
    kind: VersionKind
    created: float
    text: str = ""
    base: VariantRef | None = None
    pictures: list[TargetPicture] = []
    """The pictures of this request."""
    variants: list[Variant] = []
    options: list[str] = []
    """Blobs with the code of variants that the client keeps."""
    request: str = ""
    """The blob with the message to its variants; empty if no model was called."""
    chosen: int = 0


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A design that is being built, with its versions."""

    id: str
    title: str
    stack: str
    created: float
    updated: float
    targets: list[TargetPicture] = []
    versions: list[Version] = []
    design_system: str = ""
    named: bool = True
    """Whether a person or a request named it; otherwise the first page that is built names it."""

    def version(self, name: str) -> Version | None:
        return next((version for version in self.versions if version.id == name), None)

    def with_version(self, changed: Version) -> "Project":
        """Return the project with a new or changed version."""
        versions = [changed if version.id == changed.id else version for version in self.versions]
        if changed.id not in {version.id for version in self.versions}:
            versions.append(changed)
        return msgspec.structs.replace(self, versions=versions)


def change_variant(version: Version, index: int, **changes: Any) -> Version:
    """Return the version with one of its variants changed."""
    variants = [
        msgspec.structs.replace(variant, **changes) if variant.index == index else variant
        for variant in version.variants
    ]
    return msgspec.structs.replace(version, variants=variants)


def find_version(project: Project, base: VariantRef) -> Version:
    """Find the version of a reference. Raises NoSuchVersion."""
    version = project.version(base.version)
    if version is None:
        raise NoSuchVersion(f"The project has no version {base.version[:60]!r}.")
    return version


def find_variant(project: Project, base: VariantRef) -> Variant:
    version = find_version(project, base)
    chosen = next((variant for variant in version.variants if variant.index == base.variant), None)
    if chosen is None:
        raise NoSuchVersion(f"The version has no variant {base.variant}; it has {len(version.variants)}.")
    return chosen


def newest_page(project: Project) -> VariantRef | None:
    """Return the variant of the newest version that has a page: the chosen one, or another that has one."""
    for version in reversed(project.versions):
        ranked = sorted(version.variants, key=lambda variant: variant.index != version.chosen)
        finished = next((variant for variant in ranked if variant.status == "completed" and variant.has_page), None)
        if finished is not None:
            return VariantRef(version.id, finished.index)
    return None
