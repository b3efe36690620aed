"""A stack, read from its one file.

The file is text that people can read: settings between two lines of `+++`, then the rules that go into the prompt, then
one section for each file that a project starts with (`# File: path`, its content in a fence). A folder of such files
adds stacks or takes the place of ours.
"""

import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, cast, get_args

import msgspec

from weft.core.errors import ConfigurationError
from weft.tools.workspace.base import PathFault
from weft.tools.workspace.paths import normal

How = Literal["page", "svg", "vite"]
"""How files become a page: they are one, they are a drawing, or they are modules that a bundler would join."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_HEAD = re.compile(r"\+\+\+\n(?P<head>.*?)\n\+\+\+\n(?P<body>.*)", re.DOTALL)
_FILE = re.compile(
    r"^# File: (?P<path>\S.*?)[ ]*\n+(?P<fence>`{3,})[^\n]*\n(?P<content>.*?)^(?P=fence)[ ]*$", re.M | re.S
)
_MAX_BYTES = 256_000


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    label: str
    """For people."""
    entry: str
    """The file that a preview starts from, and the one to name where a project is one file."""
    preview: How = "page"
    rules: str
    """What a model has to keep to, as it stands in the prompt."""
    scaffold: dict[str, str]
    """The files that a project starts with."""

    @property
    def is_single_file(self) -> bool:
        return len(self.scaffold) <= 1


def stacks(folder: Path | None = None) -> dict[str, Stack]:
    """Every stack by its name: ours, and those of a folder, which win."""
    return _ours() if folder is None else _ours() | _read_folder(folder)


def stack(name: str, folder: Path | None = None) -> Stack:
    known = stacks(folder)
    found = known.get(name)
    if found is None:
        raise ConfigurationError(f"There is no stack {name[:60]!r}; choose one of {', '.join(known)}.")
    return found


def parse_stack(name: str, text: str) -> Stack:
    """A stack from the text of its file. Raises ConfigurationError that says what is wrong with it."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f"A stack cannot be called {name[:60]!r}; use small letters, digits and underscores.")
    parts = _HEAD.fullmatch(text.replace("\r\n", "\n"))
    if parts is None:
        raise ConfigurationError(f"The stack {name} has no settings; begin its file with them between lines of '+++'.")
    try:
        head = tomllib.loads(parts["head"])
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The settings of the stack {name} cannot be read: {error}.") from None
    entry, label, preview = (head.get(key) for key in ("entry", "label", "preview"))
    if not isinstance(entry, str) or not isinstance(label, str):
        raise ConfigurationError(f"The stack {name} needs a label and an entry in its settings.")
    if preview not in get_args(How):
        raise ConfigurationError(f"The stack {name} has no preview {preview!r}; choose {', '.join(get_args(How))}.")
    body = parts["body"]
    scaffold = {_path(name, found["path"]): found["content"] for found in _FILE.finditer(body)}
    rules = _FILE.sub("", body).strip()
    return Stack(
        name=name,
        label=label,
        entry=_path(name, entry),
        preview=cast(How, preview),
        rules=f"{rules}\n",
        scaffold=scaffold,
    )


@cache
def _ours() -> dict[str, Stack]:
    folder = resources.files("weft.studio.stacks") / "files"
    order = (
        "html_tailwind",
        "html_css",
        "react_tailwind",
        "vue_tailwind",
        "bootstrap",
        "ionic_tailwind",
        "svg",
        "react_vite",
    )
    return {name: parse_stack(name, (folder / f"{name}.md").read_text("utf-8")) for name in order}


def _read_folder(folder: Path) -> dict[str, Stack]:
    if not folder.is_dir():
        return {}
    found: dict[str, Stack] = {}
    for file in sorted(folder.glob("*.md")):
        if file.stat().st_size > _MAX_BYTES:
            raise ConfigurationError(f"The stack {file.stem} is larger than {_MAX_BYTES} bytes.")
        try:
            found[file.stem] = parse_stack(file.stem, file.read_text("utf-8"))
        except UnicodeDecodeError:
            raise ConfigurationError(f"The stack {file.stem} is not UTF-8 text.") from None
    return found


def _path(name: str, path: str) -> str:
    try:
        return normal(path)
    except PathFault as fault:
        raise ConfigurationError(f"The stack {name} names a file that cannot be: {fault}") from None
