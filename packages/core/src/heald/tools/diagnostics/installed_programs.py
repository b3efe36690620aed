"""Finds programs that the user has installed, and the folders that they need in the sandbox."""

import os
import shutil
from functools import cache


@cache
def find_program(name: str) -> str | None:
    """Return the path of an installed program; None if there is none. It is looked up once."""
    return shutil.which(name)


@cache
def program_folders(path: str) -> tuple[str, ...]:
    """Return the folders that a program is installed in: its own, its environment's and its interpreter's.

    A folder that holds more than the program, such as the home folder, is never among them.
    """
    folders = dict.fromkeys([os.path.dirname(path), *_folders_of(os.path.realpath(path))])
    interpreter = _interpreter_of(path)
    if interpreter is not None:
        for place in (interpreter, os.path.realpath(interpreter)):
            folders |= dict.fromkeys([os.path.dirname(place), *_folders_of(place)])
    home = os.path.realpath(os.path.expanduser("~"))
    return tuple(folder for folder in folders if _is_narrow(folder, home))


def _folders_of(path: str) -> list[str]:
    """The environment of a program: that of Python, or the packages of Node."""
    folder = os.path.dirname(path)
    parts = path.split(os.sep)
    if "node_modules" in parts:
        return [os.sep.join(parts[: parts.index("node_modules") + 1])]
    above = os.path.dirname(folder)
    is_environment = os.path.basename(folder) == "bin" and (
        os.path.exists(os.path.join(above, "pyvenv.cfg")) or os.path.basename(path).startswith(("python", "node"))
    )
    return [above if is_environment else folder]


def _interpreter_of(path: str) -> str | None:
    """The program that a script names in its first line."""
    try:
        with open(path, "rb") as file:
            first = file.readline(500)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].decode("utf-8", "replace").split()
    if not words:
        return None
    if os.path.basename(words[0]) == "env":
        return find_program(words[-1]) if len(words) > 1 else None
    return words[0]


def _is_narrow(folder: str, home: str) -> bool:
    wide = (home, os.path.join(home, ".local"), os.path.join(home, ".config"), os.sep, "/root", "/home", "/etc", "/tmp")
    return folder not in wide and not home.startswith(f"{folder}{os.sep}") and not folder.startswith(("/proc", "/sys"))
