"""Builds the views of a project: the state that a client receives, with the addresses of previews."""

from typing import Any

import msgspec

from heald_server.access.caller import Caller
from heald_server.http.operations import ApiCall, caller_of
from heald_studio.projects.actions import next_redo, next_undo
from heald_studio.projects.lock import Lock
from heald_studio.projects.project import Project, ProjectAction, ProjectState, VariantRef, Version
from heald_studio.projects.queued_change import QueuedChange
from heald_studio.server.preview_tickets import PreviewTickets
from heald_studio.server.views import (
    ActionView,
    LockView,
    ProjectView,
    QueuedChangeView,
    TryView,
    VariantView,
    VersionView,
)
from heald_studio.studio import Studio

_BUILT_FIELDS = frozenset(
    {"versions", "variants", "tries", "current", "queue", "locks"}
)  # fields of views that are not copied


class ProjectViews:
    """The views of the projects of one studio."""

    def __init__(self, studio: Studio, tickets: PreviewTickets) -> None:
        self._studio = studio
        self._tickets = tickets

    def project(self, call: ApiCall, project: Project) -> ProjectView:
        """Return the view of a project for a request."""
        return self.project_for(caller_of(call.request), project)

    def project_for(self, caller: Caller, project: Project) -> ProjectView:
        """Return the view of a project for a client."""
        entry = self._studio.entry_of(project)
        versions = [self._version_view(caller, project, version, entry) for version in project.versions]
        current = project.current_version
        undone, redone = next_undo(project), next_redo(project)
        return ProjectView(
            **_common_fields(project, ProjectView),
            versions=versions,
            current=current.id if current is not None else "",
            undo=_action_view(undone, undone.before) if undone is not None else None,
            redo=_action_view(redone, redone.after) if redone is not None else None,
            queue=[queued_view(change) for change in project.queue],
            locks=[lock_view(lock) for lock in project.locks if lock.is_active],
        )

    async def version(self, call: ApiCall, version: Version) -> VersionView:
        """Return the view of a version of the project that the path of a request names."""
        project = await self._studio.projects.get(call.owner, call.path["project"])
        return self._version_view(caller_of(call.request), project, version, self._studio.entry_of(project))

    def _version_view(self, caller: Caller, project: Project, version: Version, entry: str) -> VersionView:
        variants = [
            VariantView(
                **_common_fields(variant, VariantView),
                entry=entry if variant.has_page and (variant.exchange is not None or variant.is_done) else None,
                preview=self._tickets.address(
                    caller, project.id, VariantRef(version.id, variant.index), variant.number
                ),
                tries=[TryView(**_common_fields(attempt, TryView)) for attempt in variant.tries],
            )
            for variant in version.variants
        ]
        return VersionView(**_common_fields(version, VersionView), variants=variants)


def lock_view(lock: Lock) -> LockView:
    """Return the view of a lock."""
    return LockView(**_common_fields(lock, LockView), label=lock.label)


def queued_view(change: QueuedChange) -> QueuedChangeView:
    """Return the view of a change that waits."""
    return QueuedChangeView(**_common_fields(change, QueuedChangeView))


def _action_view(action: ProjectAction, state: ProjectState) -> ActionView:
    """Return the view of an action that brings back a state."""
    places = [*state.tries, *state.removed]
    version = state.current or (places[0].rpartition(".")[0] if places else "")
    return ActionView(id=action.id, text=action.text, version=version)


def _common_fields(source: msgspec.Struct, view: type[msgspec.Struct]) -> dict[str, Any]:
    names = set(source.__struct_fields__) & set(view.__struct_fields__) - _BUILT_FIELDS
    return {name: getattr(source, name) for name in names}
