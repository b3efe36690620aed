"""A project with its versions and variants, as immutable data."""

from typing import Literal

import msgspec

from heald.core.errors import ErrorInfo, NotFound
from heald.core.turn import Usage
from heald_studio.projects.lock import Lock
from heald_studio.projects.queued_change import QueuedChange
from heald_studio.projects.variant_ref import VariantRef as VariantRef

VersionKind = Literal["create", "import", "update", "edit", "restore"]
VariantStatus = Literal["queued", "running", "completed", "failed", "cancelled", "limit"]
FINAL_STATUSES: frozenset[VariantStatus] = frozenset({"completed", "failed", "cancelled", "limit"})


class NoSuchVersion(NotFound):
    """The project has no version of that id, or the version no variant of that number."""


class ProjectState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a project that an action changes. None and empty leave a part as it is."""

    title: str | None = None
    current: str | None = None
    """The id of the current version."""
    tries: dict[str, str] = {}
    """The session of the chosen try, by version and index of the variant, joined by a dot."""
    removed: dict[str, bool] = {}
    """Whether a variant is removed, named in the same way."""
    locks: dict[str, bool] = {}
    """Whether a lock holds, by its id."""
    design: str | None = None
    """The blob with the text of the design system; empty for the text that the project began with."""


class ProjectAction(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a person did to a project and can undo."""

    id: str
    text: str
    """What was done, such as: change “Make it blue”."""
    before: ProjectState
    after: ProjectState


class TargetPicture(msgspec.Struct, frozen=True):
    """A picture of the design to build. Its bytes are a blob of the project."""

    blob: str
    width: int
    height: int
    label: str = ""
    ratio: int = 1
    """Its pixels for each CSS pixel."""


class VariantScore(msgspec.Struct, frozen=True):
    """The similarity of a variant and its target, each value from 0 to 1, where 1 is equal."""

    block: float
    text: float
    position: float
    colour: float
    ssim: float
    overall: float
    style: float | None = None
    """Bold and italic text."""
    shapes: float | None = None
    """What is not text; None in a project that was scored before it was measured."""
    changed: float | None = None
    """The share of the area that changed; 0 is the best."""


class SitePage(msgspec.Struct, frozen=True):
    """A page of a project: the path of its file, and its title."""

    path: str
    title: str = ""


class VariantTry(msgspec.Struct, frozen=True, kw_only=True):
    """One try at the request of a variant, in a session of its own, and what became of it."""

    session: str
    model: str
    number: int = 1
    """Of the try, counted from 1."""
    status: VariantStatus = "queued"
    exchange: str | None = None
    started: float | None = None
    ended: float | None = None
    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    score: VariantScore | None = None
    draft_score: VariantScore | None = None
    """Of the draft that it began with; None if it began with none."""
    error: ErrorInfo | None = None
    note: str | None = None
    """What is unusual about its outcome, such as the limit that cut it off."""
    has_page: bool = True
    """Whether its files hold a page. It is known once the variant is done."""
    pages: list[SitePage] = []
    """Its pages, the first one first. They are known once the variant is done."""

    @property
    def is_done(self) -> bool:
        return self.status in FINAL_STATUSES


_TRY_FIELDS = VariantTry.__struct_fields__


class Variant(VariantTry, frozen=True, kw_only=True):
    """One of several agents that work on the request of a version. Its fields are those of its chosen try."""

    index: int
    """Counted from 0."""
    other_tries: list[VariantTry] = []
    """The tries that are not chosen."""
    earlier: list[str] = []
    """The sessions of replaced attempts, in projects of older versions."""
    removed: bool = False
    """Whether a person removed it. Its sessions stay, so that it can be brought back."""

    @property
    def tries(self) -> "list[Variant]":
        """The variant with each of its tries as the chosen one, the first one first."""
        others = [self.choose_try(other.session) for other in self.other_tries]
        return sorted([self, *others], key=lambda variant: variant.number)

    def choose_try(self, session: str) -> "Variant":
        """Return the variant with the try of a session as the chosen one; unchanged if it has no such try."""
        chosen = next((other for other in self.other_tries if other.session == session), None)
        if chosen is None:
            return self
        others = [other for other in self.other_tries if other.session != session]
        here = VariantTry(**{name: getattr(self, name) for name in _TRY_FIELDS})
        fields = {name: getattr(chosen, name) for name in _TRY_FIELDS}
        return msgspec.structs.replace(self, **fields, other_tries=[*others, here])


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
    draft: str = ""
    """The session in which the converter builds the page that its variants begin with; empty if there is none."""
    chosen: int = 0
    queued: str = ""
    """The id of the waiting change that made it; empty if it was sent at once."""


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
    """The text of the design system that it began with."""
    design: str = ""
    """The blob with the text of the design system, once a person has changed it."""
    named: bool = True
    """Whether a person or a request named it; otherwise the first page that is built names it."""
    current: str = ""
    """The id of the version that the project is at; empty for the newest."""
    actions: list[ProjectAction] = []
    """What was done, in order; those that were undone come last."""
    undone: int = 0
    """How many of the last actions are undone."""
    queue: list[QueuedChange] = []
    """The changes that wait for a variant, in their order."""
    locks: list[Lock] = []
    """What no later version may change, with the locks that were removed."""

    @property
    def current_version(self) -> Version | None:
        """The version that the project is at; None before the first one."""
        return self.version(self.current) or (self.versions[-1] if self.versions else None)

    def version(self, name: str) -> Version | None:
        return next((version for version in self.versions if version.id == name), None)

    def with_version(self, changed: Version) -> "Project":
        """Return the project with a new or changed version."""
        versions = [changed if version.id == changed.id else version for version in self.versions]
        if changed.id not in {version.id for version in self.versions}:
            versions.append(changed)
        return msgspec.structs.replace(self, versions=versions)


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


def locks_of(project: Project, base: VariantRef | None) -> list[Lock]:
    """Return the locks that hold for a version made from a variant: those of the variants that it came from."""
    line: set[tuple[str, int]] = set()
    while base is not None and (base.version, base.variant) not in line:
        line.add((base.version, base.variant))
        version = project.version(base.version)
        base = version.base if version is not None else None
    return [lock for lock in project.locks if lock.is_active and (lock.version, lock.variant) in line]


def find_try(variant: Variant, number: int) -> Variant:
    """Return the variant with one of its tries as the chosen one. Raises NoSuchVersion."""
    chosen = next((other for other in variant.tries if other.number == number), None)
    if chosen is None:
        raise NoSuchVersion(f"The variant has no try {number}; it has {len(variant.tries)}.")
    return chosen


def newest_page(project: Project) -> VariantRef | None:
    """Return the variant whose page the project shows: of the current version, or of the one that it was made from.

    In a version it is the chosen variant, or another one that has a finished page.
    """
    for version in [*_line_of(project), *reversed(project.versions)]:
        present = [variant for variant in version.variants if not variant.removed]
        ranked = sorted(present, key=lambda variant: variant.index != version.chosen)
        finished = next((variant for variant in ranked if finished_try(variant) is not None), None)
        if finished is not None:
            return VariantRef(version.id, finished.index)
    return None


def _line_of(project: Project) -> list[Version]:
    """Return the current version and those that it was made from, the current one first."""
    line: list[Version] = []
    version = project.current_version
    while version is not None:
        line.append(version)
        version = project.version(version.base.version) if version.base is not None else None
    return line


def finished_try(variant: Variant) -> Variant | None:
    """Return the variant with the try that has a finished page as the chosen one: the chosen one, or the last other."""
    ranked = [variant, *(other for other in reversed(variant.tries) if other.session != variant.session)]
    return next((other for other in ranked if other.status == "completed" and other.has_page), None)
