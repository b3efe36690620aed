"""Parses stack files, and checks stacks.

A stack file holds settings between two lines of `+++`, then the rules for the prompt, then one section for each file
that a project starts with (`# File: path`, its content in a fence).
"""

import re
import tomllib
from typing import cast, get_args

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.tools.workspace.paths import PathFault, normalize_path
from heald_studio.stacks.stack import PreviewKind, Stack

_NAME = lazy_pattern(r"[a-z][a-z0-9_]{0,40}")
_HEAD = lazy_pattern(r"\+\+\+\n(?P<head>.*?)\n\+\+\+\n(?P<body>.*)", re.DOTALL)
_FILE = lazy_pattern(
    r"^# File: (?P<path>\S.*?)[ ]*\n+(?P<fence>`{3,})[^\n]*\n(?P<content>.*?)^(?P=fence)[ ]*$", re.M | re.S
)


def parse_stack(name: str, text: str, source: str = "") -> Stack:
    """Parse the text of a stack file. Raises ConfigurationError that names the `source` and what is wrong with it."""
    source = source or f"The stack {name}"
    _check_name(name)
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
    stack = Stack(
        name=name,
        label=label,
        entry=entry,
        preview=cast(PreviewKind, preview),
        rules=f"{_FILE.sub('', parts['body']).strip()}\n",
        scaffold={section["path"]: section["content"] for section in _FILE.finditer(parts["body"])},
    )
    return check_stack(stack, source)


def check_stack(stack: Stack, source: str) -> Stack:
    """Return a stack with normalised paths. Raises ConfigurationError that names the `source` of an invalid one."""
    _check_name(stack.name)
    if stack.preview not in get_args(PreviewKind):
        choices = ", ".join(get_args(PreviewKind))
        raise ConfigurationError(f"{source} has no preview {stack.preview!r}; choose {choices}.")
    scaffold = {_check_path(source, path): content for path, content in stack.scaffold.items()}
    return msgspec.structs.replace(stack, entry=_check_path(source, stack.entry), scaffold=scaffold)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"A stack cannot be called {name[:60]!r}; name its file with small letters, digits and underscores."
        )


def _check_path(source: str, path: str) -> str:
    try:
        return normalize_path(path)
    except PathFault as fault:
        raise ConfigurationError(f"{source} names a file that cannot be in a project: {fault}") from None
