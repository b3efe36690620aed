"""Stacks: the languages and libraries of a project, each described by one file.

A stack file holds settings between two lines of `+++`, then the rules for the prompt, then one section for each file
that a project starts with (`# File: path`, its content in a fence). The built-in stacks are in `studio/stacks`; a
folder of your own adds stacks and replaces built-in ones of the same name.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal, cast, get_args

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern
from weft.tools.workspace.base import PathFault, normalize_path

PreviewKind = Literal["page", "svg", "vite"]
"""The kind of its files: pages, a drawing, or modules that a bundler would join."""

_NAME = lazy_pattern(r"[a-z][a-z0-9_]{0,40}")
_HEAD = lazy_pattern(r"\+\+\+\n(?P<head>.*?)\n\+\+\+\n(?P<body>.*)", re.DOTALL)
_FILE = lazy_pattern(
    r"^# File: (?P<path>\S.*?)[ ]*\n+(?P<fence>`{3,})[^\n]*\n(?P<content>.*?)^(?P=fence)[ ]*$", re.M | re.S
)
_MAX_BYTES = 256_000
_ORDER = ("html_tailwind", "html_css", "react_tailwind", "vue_tailwind", "bootstrap", "ionic_tailwind", "svg")
"""The built-in stacks that are offered first, in this order."""
_STACK_MARKS = (
    ("ionic_tailwind", lazy_pattern(r"@ionic/core|<ion-app\b", re.I)),
    ("vue_tailwind", lazy_pattern(r"vue(?:@3)?(?:/dist/vue|\.global)|unpkg\.com/vue|npm/vue@", re.I)),
    ("react_tailwind", lazy_pattern(r"text/babel|react-dom(?:@|\.)", re.I)),
    ("bootstrap", lazy_pattern(r"bootstrap(?:@\d|\.min|\.bundle)", re.I)),
    ("html_tailwind", lazy_pattern(r"cdn\.tailwindcss\.com|@tailwindcss/browser", re.I)),
)


class Stack(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    label: str
    """The name that the page shows."""
    entry: str
    """The file that a preview starts from. A project of one file consists of it."""
    preview: PreviewKind = "page"
    rules: str
    """Rules for the model, as they stand in the prompt."""
    scaffold: dict[str, str]
    """The files that a project starts with."""

    @property
    def is_single_file(self) -> bool:
        return len(self.scaffold) <= 1


def load_stacks(folder: Path | None = None) -> dict[str, Stack]:
    """Load all stacks by name: the built-in ones, overridden by those of a folder. Raises ConfigurationError."""
    if folder is None:
        return _builtin_stacks()
    return _builtin_stacks() | {file.stem: _read_stack(file) for file in list_own_files(folder, "stacks")}


def find_stack(name: str, folder: Path | None = None) -> Stack:
    known = load_stacks(folder)
    found = known.get(name)
    if found is None:
        raise ConfigurationError(f"There is no stack {name[:60]!r}; choose one of {', '.join(known)}.")
    return found


def parse_stack(name: str, text: str, source: str = "") -> Stack:
    """Parse the text of a stack file. Raises ConfigurationError that names the `source` and what is wrong with it."""
    source = source or f"The stack {name}"
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"A stack cannot be called {name[:60]!r}; name its file with small letters, digits and underscores."
        )
    parts = _HEAD.fullmatch(text.replace("\r\n", "\n"))
    if parts is None:
        raise ConfigurationError(f"{source} has no settings; begin the file with them between two lines of '+++'.")
    try:
        head = tomllib.loads(parts["head"])
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{source} has settings that cannot be read as TOML: {error}.") from None
    entry, label, preview = (head.get(key) for key in ("entry", "label", "preview"))
    if not isinstance(entry, str) or not isinstance(label, str):
        raise ConfigurationError(f"{source} needs a label and an entry in its settings; write both as quoted texts.")
    if preview not in get_args(PreviewKind):
        raise ConfigurationError(f"{source} has no preview {preview!r}; choose {', '.join(get_args(PreviewKind))}.")
    scaffold = {_check_path(source, found["path"]): found["content"] for found in _FILE.finditer(parts["body"])}
    return Stack(
        name=name,
        label=label,
        entry=_check_path(source, entry),
        preview=cast(PreviewKind, preview),
        rules=f"{_FILE.sub('', parts['body']).strip()}\n",
        scaffold=scaffold,
    )


def list_own_files(folder: Path, kind: str) -> list[Path]:
    """List the Markdown files of a user's folder, except README. Raises ConfigurationError if there are none."""
    try:
        files = [file for file in folder.iterdir() if file.suffix == ".md" and file.stem.lower() != "readme"]
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} for {kind} cannot be read: {error.strerror}; create it or name another."
        ) from None
    if not files:
        raise ConfigurationError(f"The folder {folder} for {kind} has no .md file; put one there or name another.")
    return sorted(files)


def read_own_file(file: Path) -> str:
    """Read a text file of a user's folder. Raises ConfigurationError."""
    try:
        if not file.is_file():
            raise ConfigurationError(f"{file} is no regular file; remove it or replace it by one.")
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigurationError(f"{file} is larger than {_MAX_BYTES:,} bytes; shorten it.")
        return data.decode()
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}; check its permissions.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text; save it as UTF-8.") from None


def _read_stack(file: Path) -> Stack:
    return _parse_cached(file.stem, read_own_file(file), str(file))


_parse_cached = lru_cache(maxsize=64)(parse_stack)


@cache
def _builtin_stacks() -> dict[str, Stack]:
    folder = resources.files("weft.studio") / "stacks"
    names = [file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md")]
    ordered = [*_ORDER, *sorted(set(names) - set(_ORDER))]
    return {name: parse_stack(name, (folder / f"{name}.md").read_text("utf-8")) for name in ordered}


def _check_path(source: str, path: str) -> str:
    try:
        return normalize_path(path)
    except PathFault as fault:
        raise ConfigurationError(f"{source} names a file that cannot be in a project: {fault}") from None


def guess_stack(page: str) -> str:
    """Guess the stack of an imported page by the libraries that it loads."""
    if page.lstrip()[:2_000].lower().startswith(("<svg", "<?xml")) and "<html" not in page[:2_000].lower():
        return "svg"
    return next((name for name, mark in _STACK_MARKS if mark.search(page)), "html_css")
