"""Names what is left of Heald's former name: files, folders and variables that are not read any more."""

import os
from collections.abc import Mapping
from pathlib import Path

from heald.config.paths import display_path, project_file, working_folder

_OLD = "weft"
_OLD_FILE = f"{_OLD}.toml"
_OLD_FOLDER = f".{_OLD}"
_OLD_PREFIX = f"{_OLD.upper()}_"


def find_old_names(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence for each file, folder and variable of the former name: what it is and how to rename it."""
    environ = os.environ if environ is None else environ
    return [*_old_files(environ), *_old_folders(environ), *_old_variables(environ)]


def _old_files(environ: Mapping[str, str]) -> list[str]:
    sentences: list[str] = []
    settings = Path(environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"))
    project = project_file(name=_OLD_FILE)
    if project is not None and project.parent != settings / _OLD:
        sentences.append(f"{display_path(project)} is not read any more; rename it to heald.toml.")
    if (settings / _OLD).is_dir():
        new = display_path(settings / "heald")
        renaming = f"rename it to {new}" if not (settings / "heald").exists() else f"move what you need to {new}"
        also = f", and {_OLD_FILE} in it to heald.toml" if (settings / _OLD / _OLD_FILE).exists() else ""
        sentences.append(f"{display_path(settings / _OLD)} is not read any more; {renaming}{also}.")
    return sentences


def _old_folders(environ: Mapping[str, str]) -> list[str]:
    sentences: list[str] = []
    here = working_folder()
    if here is not None and (here / _OLD_FOLDER).is_dir():
        sentences.append(f"{_OLD_FOLDER} is not read any more; rename it to .heald.")
    data = Path(environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"))
    if (data / _OLD).is_dir():
        new = display_path(data / "heald")
        advice = f"rename it to {new}" if not (data / "heald").exists() else f"use it with --data {data / _OLD}"
        sentences.append(f"The sessions in {display_path(data / _OLD)} are not read any more; {advice}.")
    return sentences


def _old_variables(environ: Mapping[str, str]) -> list[str]:
    return [
        f"The environment variable {name} is not read any more; rename it to HEALD_{name.removeprefix(_OLD_PREFIX)}."
        for name in sorted(environ)
        if name.startswith(_OLD_PREFIX)
    ]
