"""Finds the configuration files that count: those of the user, and those of the project that the user trusts."""

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from heald.config.document import ConfigDocument, parse_document, read_content
from heald.config.paths import MCP_FILE, display_path, project_file, user_file
from heald.config.trust import TrustState, state_of

_log = logging.getLogger("heald.config")
_reported: set[Path] = set()


class Ignored(msgspec.Struct, frozen=True):
    """A project's file that is not trusted."""

    path: Path
    state: TrustState

    def __str__(self) -> str:
        reasons = {
            "changed": "has changed since you trusted it",
            "refused": "is refused",
            "unknown": "is not trusted",
        }
        reason = reasons.get(self.state, "is not trusted")
        return f"{display_path(self.path)} {reason} and has no effect; `heald trust` shows it and asks."


class SourceFile(msgspec.Struct, frozen=True):
    """A file that counts, as it was read."""

    path: Path
    content: bytes


class Sources(msgspec.Struct, frozen=True):
    documents: Sequence[ConfigDocument]
    ignored: Ignored | None = None
    server_file: SourceFile | None = None
    """The project's `.mcp.json`. `heald.config.mcp_servers` reads the servers in it."""
    ignored_servers: Ignored | None = None


def sources() -> Sources:
    """Read the files, the weaker first. Raises ConfigurationError if one is wrong."""
    documents: list[ConfigDocument] = []
    ignored: Ignored | None = None
    path = project_file()
    content = read_content(path) if path is not None else None
    if path is not None and content is not None:
        state = state_of(path, content)
        if state == "trusted":
            documents.append(parse_document(path, "project", content))
        else:
            ignored = Ignored(path, state)
    content = read_content(user_file())
    if content is not None:
        documents.append(parse_document(user_file(), "user", content))
    server_file, ignored_servers = _find_server_file()
    return Sources(documents, ignored, server_file, ignored_servers)


def _find_server_file() -> tuple[SourceFile | None, Ignored | None]:
    path = project_file(name=MCP_FILE)
    content = read_content(path) if path is not None else None
    if path is None or content is None:
        return None, None
    state = state_of(path, content)
    return (SourceFile(path, content), None) if state == "trusted" else (None, Ignored(path, state))


def mark_reported(path: Path) -> None:
    """Do not log anything about this file: it is printed."""
    _reported.add(path)


def active_documents() -> Sequence[ConfigDocument]:
    """The documents of `sources`, for programs: what has no effect is logged once."""
    now = sources()
    if now.ignored is not None and now.ignored.state != "refused" and now.ignored.path not in _reported:
        _reported.add(now.ignored.path)
        _log.warning("%s", now.ignored)
    for document in now.documents:
        if document.notes and document.path not in _reported:
            _reported.add(document.path)
            _log.warning("%s", " ".join(document.notes))
    return now.documents
