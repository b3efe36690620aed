"""What was asked and built before a version, from the first request on, for the prompt of the next one."""

from collections.abc import Awaitable, Callable, Mapping

from weft.studio.input.pictures import Picture
from weft.studio.projects.project import Base, Project, Target, Version, variant_of, version_of
from weft.studio.prompts.request import Past, Shot

FilesOf = Callable[[str], Awaitable[Mapping[str, bytes]]]
"""The files of a session."""
PictureOf = Callable[[Project, Target], Awaitable[Picture]]

_DONE: dict[str, str] = {
    "create": "I built it.",
    "update": "I changed it.",
    "edit": "The person changed the files by hand.",
    "restore": "The person went back to this state.",
}


async def history_of(project: Project, base: Base, files: FilesOf, picture: PictureOf) -> tuple[Past, ...]:
    """Requests and answers along the way that led to a variant."""
    steps: list[tuple[Version, Base]] = []
    here: Base | None = base
    while here is not None:
        version = version_of(project, here)
        steps.append((version, here))
        here = version.base
    past: list[Past] = []
    for version, at in reversed(steps):
        if version.kind in ("create", "update"):
            shots = tuple([Shot((await picture(project, it)).image(), it.label) for it in version.pictures])
            past.append(Past(role="user", text=version.text, shots=shots))
        made = await files(variant_of(project, at).session)
        texts = {path: text for path, data in made.items() if (text := text_of(data)) is not None}
        past.append(Past(role="assistant", text=_DONE[version.kind], files=texts))
    return tuple(past)


def text_of(data: bytes) -> str | None:
    """The text of a file; None for what is none, such as a picture."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
