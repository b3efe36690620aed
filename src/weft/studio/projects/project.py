"""A project, its versions and their variants, as data. What was made once is never taken away."""

from typing import Any, Literal

import msgspec

from weft.core.errors import ErrorInfo, NotFound
from weft.core.usage import Usage

Kind = Literal["create", "update", "edit", "restore"]
Status = Literal["queued", "running", "completed", "failed", "cancelled", "limit"]
DONE: frozenset[Status] = frozenset({"completed", "failed", "cancelled", "limit"})


class NoSuchVersion(NotFound):
    """The project has none of that name, or the version no variant of that number."""


class Base(msgspec.Struct, frozen=True):
    """The variant of a version that another goes on from."""

    version: str
    variant: int


class Target(msgspec.Struct, frozen=True):
    """A picture of what shall be built. Its bytes are a blob of the project."""

    blob: str
    width: int
    height: int
    label: str = ""


class Marks(msgspec.Struct, frozen=True):
    """How close a variant comes to the target: each from 0 to 1."""

    block: float
    text: float
    position: float
    colour: float
    ssim: float
    overall: float


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One agent at the request of its version, in a session of its own."""

    index: int
    """Counted from 0."""
    session: str
    model: str
    status: Status = "queued"
    exchange: str | None = None
    started: float | None = None
    ended: float | None = None
    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    score: Marks | None = None
    error: ErrorInfo | None = None

    @property
    def is_done(self) -> bool:
        return self.status in DONE


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a project after a request."""

    id: str
    number: int
    kind: Kind
    created: float
    text: str = ""
    base: Base | None = None
    pictures: list[Target] = []
    """Those that came with this request."""
    variants: list[Variant] = []
    options: list[str] = []
    """Blobs with the code of variants that a client kept."""
    request: str = ""
    """The blob with what its variants were asked; empty where there was nothing to ask."""
    chosen: int = 0


class Project(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    stack: str
    created: float
    updated: float
    targets: list[Target] = []
    versions: list[Version] = []
    design_system: str = ""

    def version(self, name: str) -> Version | None:
        return next((version for version in self.versions if version.id == name), None)

    def with_version(self, changed: Version) -> "Project":
        """The project with a version that is new, or that has changed."""
        kept = [changed if version.id == changed.id else version for version in self.versions]
        if changed.id not in {version.id for version in self.versions}:
            kept.append(changed)
        return msgspec.structs.replace(self, versions=kept)


def with_variant(version: Version, index: int, **changes: Any) -> Version:
    """The version with one of its variants changed."""
    variants = [
        msgspec.structs.replace(variant, **changes) if variant.index == index else variant
        for variant in version.variants
    ]
    return msgspec.structs.replace(version, variants=variants)


def version_of(project: Project, base: Base) -> Version:
    """The version that is meant. Raises NoSuchVersion if there is none."""
    version = project.version(base.version)
    if version is None:
        raise NoSuchVersion(f"The project has no version {base.version[:60]!r}.")
    return version


def variant_of(project: Project, base: Base) -> Variant:
    version = version_of(project, base)
    found = next((variant for variant in version.variants if variant.index == base.variant), None)
    if found is None:
        raise NoSuchVersion(f"The version has no variant {base.variant}; it has {len(version.variants)}.")
    return found
