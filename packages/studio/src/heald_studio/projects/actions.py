"""What was done to a project: each action is recorded, undone and done again. Nothing is deleted by that.

A version that is undone stays in the project, as does a variant that was removed and a page that another try replaced;
only what is current or chosen changes.
"""

import msgspec

from heald.core.errors import HealdError
from heald.core.ids import new_id
from heald_studio.projects.project import Project, ProjectAction, ProjectState, Variant, Version

_MAX_TEXT = 80


class CannotUndo(HealdError):
    """There is nothing to undo or to do again, or something else than the client expects."""

    code = "invalid_request"


def record(project: Project, text: str, before: ProjectState, after: ProjectState) -> Project:
    """Return the project with an action that changed it. What was undone before can no longer be done again."""
    done = _with_actions(project)
    action = ProjectAction(id=new_id("act"), text=text, before=before, after=after)
    actions = [*done.actions[: len(done.actions) - done.undone], action]
    return msgspec.structs.replace(_applied(done, after), actions=actions, undone=0)


def record_version(project: Project, version: Version, text: str, before: str | None = None) -> Project:
    """Return the project with a version that an action added, as the current one.

    Undoing the action goes back to the version `before`, by default to the one that was current. A first version is no
    action.
    """
    project = _with_actions(project)
    previous = project.version(before or "") or project.current_version
    added = project.with_version(version)
    if previous is None:
        return msgspec.structs.replace(added, current=version.id)
    return record(added, text, ProjectState(current=previous.id), ProjectState(current=version.id))


def undo(project: Project, action: str = "") -> Project:
    """Return the project without its last action; `action` is the id of the one that is expected. Raises CannotUndo."""
    project = _with_actions(project)
    last = _expect(next_undo(project), action, "undo")
    return msgspec.structs.replace(_applied(project, last.before), undone=project.undone + 1)


def redo(project: Project, action: str = "") -> Project:
    """Return the project with the action that was undone last. Raises CannotUndo."""
    project = _with_actions(project)
    last = _expect(next_redo(project), action, "redo")
    return msgspec.structs.replace(_applied(project, last.after), undone=project.undone - 1)


def next_undo(project: Project) -> ProjectAction | None:
    """Return the action that undoing undoes; None if there is none."""
    actions = _with_actions(project).actions
    at = len(actions) - project.undone
    return actions[at - 1] if at > 0 else None


def next_redo(project: Project) -> ProjectAction | None:
    """Return the action that is done again next; None if there is none."""
    return project.actions[len(project.actions) - project.undone] if project.undone else None


def without_try(project: Project, session: str) -> Project:
    """Return the project without the part of its actions that chose a try which came to nothing."""
    actions: list[ProjectAction] = []
    undone = project.undone
    for number, action in enumerate(project.actions):
        tries = {place: chosen for place, chosen in action.after.tries.items() if chosen != session}
        if tries == action.after.tries:
            actions.append(action)
        elif tries:
            after = msgspec.structs.replace(action.after, tries=tries)
            remaining = {place: chosen for place, chosen in action.before.tries.items() if place in tries}
            before = msgspec.structs.replace(action.before, tries=remaining)
            actions.append(msgspec.structs.replace(action, before=before, after=after))
        elif number >= len(project.actions) - project.undone:
            undone -= 1
    return msgspec.structs.replace(project, actions=actions, undone=undone)


def place_of(version: str, variant: Variant) -> str:
    """Return the name of a variant in the state of a project."""
    return f"{version}.{variant.index}"


def quote(text: str) -> str:
    """Return the words of a person in one line, shortened, for the text of an action."""
    words = " ".join(text.split())
    return f"“{words[: _MAX_TEXT - 1]}…”" if len(words) > _MAX_TEXT else f"“{words}”"


def describe_version(version: Version) -> str:
    """Return the text of the action that added a version, for versions that were stored without one."""
    match version.kind:
        case "update":
            return f"change {quote(version.text)}" if version.text.strip() else "change by a picture"
        case "restore":
            return "restore an earlier version"
        case "edit":
            return "edit by hand"
        case "create" | "import":
            return "add a version"


def _expect(action: ProjectAction | None, name: str, verb: str) -> ProjectAction:
    if action is None:
        raise CannotUndo(f"There is nothing to {verb}.")
    if name not in ("", action.id):
        raise CannotUndo(f"The project was changed meanwhile; look at it before you {verb}.")
    return action


def _with_actions(project: Project) -> Project:
    """Return the project with an action for each version, if it is one of an older version that recorded none."""
    if project.current or not project.versions:
        return project
    actions = [
        ProjectAction(
            id=f"act_{version.id}",
            text=describe_version(version),
            before=ProjectState(current=previous.id),
            after=ProjectState(current=version.id),
        )
        for previous, version in zip(project.versions, project.versions[1:], strict=False)
    ]
    return msgspec.structs.replace(project, actions=[*actions, *project.actions], current=project.versions[-1].id)


def _applied(project: Project, state: ProjectState) -> Project:
    """Return the project with the parts that a state names as they are there."""
    versions = [_apply_to_version(version, state) for version in project.versions]
    return msgspec.structs.replace(
        project,
        versions=versions,
        title=project.title if state.title is None else state.title,
        named=project.named or state.title is not None,
        current=project.current if state.current is None else state.current,
        design=project.design if state.design is None else state.design,
        locks=[
            msgspec.structs.replace(lock, is_active=state.locks.get(lock.id, lock.is_active)) for lock in project.locks
        ],
    )


def _apply_to_version(version: Version, state: ProjectState) -> Version:
    variants: list[Variant] = []
    for variant in version.variants:
        place = place_of(version.id, variant)
        removed = state.removed.get(place, variant.removed)
        chosen = variant.choose_try(state.tries.get(place, variant.session))
        variants.append(msgspec.structs.replace(chosen, removed=removed))
    present = [variant.index for variant in variants if not variant.removed]
    chosen_index = version.chosen if version.chosen in present or not present else present[0]
    return msgspec.structs.replace(version, variants=variants, chosen=chosen_index)
