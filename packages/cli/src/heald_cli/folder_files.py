"""The folders with commands, skills, agents and hooks: `.heald`, and those of other programs, `.agents` and `.claude`.

Those of a project come with it, so they have no effect until the user trusts them as they are. So do those of other
programs in the home folder: they were not written for Heald.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from heald.config.paths import config_home
from heald.config.trust import TrustState, state_of
from heald.core.digest import sha256

if TYPE_CHECKING:
    from heald.tools.claude_hooks import ClaudeHook

HEALD, SHARED, CLAUDE = ".heald", ".agents", ".claude"
COMMANDS, SKILLS, AGENTS = "commands", "skills", "agents"
SKILL = "SKILL.md"
_FOLDERS = (CLAUDE, SHARED, HEALD)
"""All folders. Of two files with one name, that of the later folder counts."""
_SETTINGS = ("settings.json", "settings.local.json")
_PATTERNS = {
    CLAUDE: (f"{COMMANDS}/**/*.md", f"{SKILLS}/*/{SKILL}", f"{AGENTS}/*.md"),
    SHARED: (f"{SKILLS}/*/{SKILL}",),
}
_OWN_PATTERNS = (f"{COMMANDS}/*.md", f"{SKILLS}/*/{SKILL}", f"{AGENTS}/*.md")
_MAX_FILES = 200
_MAX_SETTINGS_BYTES = 1_000_000


def find_project_folders(folder: str | Path | None) -> list[Path]:
    """Return the folders of a project that have commands, skills, agents or hooks. A link to outside is none."""
    if not folder:
        return []
    top = Path(folder).resolve()
    return [place for name in _FOLDERS if _is_used(place := top / name, top)]


def usable_folders(folder: str | Path | None) -> list[Path]:
    """Return the folders that count for a project: the user's own, then those that the user trusts."""
    home = Path.home()
    others = [place for name in (CLAUDE, SHARED) if _is_used(place := home / name, home)]
    places = dict.fromkeys([*others, *find_project_folders(folder)])
    return [config_home(), *(place for place in places if project_folder_state(place) == "trusted")]


def folder_files(place: Path) -> list[Path]:
    """Return the commands, skills with all of their files, and agents of a folder. Links must stay in the folders of
    the same project."""
    tops = [(place.parent / name).resolve() for name in _FOLDERS] if place.name in _FOLDERS else [place.resolve()]
    paths: dict[Path, None] = {}
    for pattern in _PATTERNS.get(place.name, _OWN_PATTERNS):
        for path in sorted(place.glob(pattern)):
            paths |= dict.fromkeys(_skill_files(path) if path.name == SKILL else [path])
    return [path for path in paths if path.is_file() and any(path.resolve().is_relative_to(top) for top in tops)][
        :_MAX_FILES
    ]


def folder_hooks(place: Path) -> "list[ClaudeHook]":
    """Return the hooks in the settings of a `.claude` folder."""
    if place.name != CLAUDE or not any((place / name).is_file() for name in _SETTINGS):
        return []
    from heald.tools.claude_hooks import parse_claude_hooks  # few projects have hooks

    hooks: list[ClaudeHook] = []
    for name in _SETTINGS:
        path = place / name
        if path.is_file() and path.resolve().is_relative_to(place.resolve()):
            with path.open("rb") as file:
                hooks += parse_claude_hooks(file.read(_MAX_SETTINGS_BYTES))
    return hooks


def read_project_folder(place: Path) -> bytes:
    """Return what the user trusts: the texts of a folder, the digests of other files of skills, and its hooks with the
    digests of their scripts. Other settings of a program may change without a question."""
    parts: list[bytes] = []
    for path in folder_files(place):
        content = path.read_bytes()
        parts.append(f"== {path.relative_to(place).as_posix()}\n".encode("utf-8", "surrogateescape"))
        parts.append(content if path.suffix == ".md" else sha256(content).hexdigest().encode())
        parts.append(b"\n")
    for hook in folder_hooks(place):
        parts.append(f"== {hook.moment} {hook.matcher} {hook.seconds}\n{hook.command}\n".encode("utf-8", "replace"))
        parts += [
            f"{os.path.relpath(script, place)} {digest}\n".encode("utf-8", "surrogateescape")
            for script, digest in hook.find_scripts(str(place.parent)).items()
        ]
    return b"".join(parts)


def project_folder_state(place: Path) -> TrustState:
    """The user's decision about a folder as it is now."""
    return state_of(place, read_project_folder(place))


def _is_used(place: Path, top: Path) -> bool:
    if not place.is_dir() or not place.resolve().is_relative_to(top.resolve()):
        return False
    return bool(folder_files(place) or folder_hooks(place))


def _skill_files(skill: Path) -> Iterator[Path]:
    """Yield the text of a skill and then its other files."""
    yield skill
    for folder, folders, names in os.walk(skill.parent):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (path for name in sorted(names) if (path := Path(folder, name)) != skill and name[0] != ".")
