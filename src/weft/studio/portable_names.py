"""Decides which files of a project travel: not secrets, not a repository, not names that some system cannot hold."""

import re
import unicodedata

from weft.tools.secrets import is_secret_file

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_FORBIDDEN = frozenset('<>:"|?*\\')
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})


def is_reserved(name: str) -> bool:
    """Whether a name is a device on Windows."""
    return _RESERVED.fullmatch(name) is not None


def reason_to_stay(path: str) -> str | None:
    """Why a file is neither exported nor imported; None if it is."""
    names = [_plain(name) for name in path.split("/")]
    if any(name.casefold() in _REPOSITORIES for name in names):
        return "it belongs to a repository"
    if is_secret_file("/".join(names)):
        return "it may hold secrets"
    for name in names:
        if is_reserved(name) or name != name.rstrip(". ") or any(char in _FORBIDDEN or char < " " for char in name):
            return "some systems cannot hold its name"
    return None


def _plain(name: str) -> str:
    """The name as file systems may compare it: composed, without characters that are not shown."""
    return "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
