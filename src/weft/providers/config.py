"""Providers that people name themselves, and instructions for every agent, from `weft.toml`.

    [agent]
    instructions = "Answer in English."
    instructions_file = "house-rules.md"

    [providers.mine]
    wire = "chat"
    base_url = "https://models.example.com/v1"
    api_key_env = "MINE_API_KEY"

The project's file counts if the user trusts it, then the user's own. Keys never stand in either, only the name of the
environment variable that holds one.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weft.config.places import project_file, shown, user_file
from weft.core.errors import ConfigurationError
from weft.providers.model import Endpoint
from weft.providers.presets import PRESETS
from weft.wires.quirks import Quirks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft.config.reading import Document

_OTHERS = ("AWS_", "AZURE_", "GCP_", "GOOGLE_", "GITHUB_", "GH_", "GITLAB_", "NPM_", "PYPI_", "SSH_", "KUBE", "WEFT_")
"""How variables begin that hold keys of other services."""


def configured_providers() -> dict[str, Endpoint]:
    """The providers of all files that are obeyed; a stronger file wins."""
    return {name: _endpoint(document, name) for document in _documents() for name in document.table("providers")}


def configured_instructions() -> list[str]:
    """The instructions of all files that are obeyed, in their order."""
    found: list[str] = []
    for document in _documents():
        said = document.table("agent")
        found += [said["instructions"]] if said.get("instructions") else []
        if said.get("instructions_file"):
            found.append(_text_of(document, said["instructions_file"]))
    return found


def check_variable(document: "Document", path: tuple[str, ...], name: str, whose: str) -> None:
    """A project may use a key of its own. It may not turn one of the user's to an address of its choice."""
    known = {variable for preset in PRESETS.values() for variable in preset.key_envs}
    if name in known or name.startswith(_OTHERS):
        raise ConfigurationError(
            f"{document.where(*path)}: a project's file may not use {name} for {whose}; "
            f"write this into {shown(user_file())}, or name a variable of its own."
        )


def ignored_file() -> str:
    """A sentence about a project's file that is not obeyed, or nothing."""
    if project_file() is None:
        return ""
    from weft.config.sources import sources

    untrusted = sources().ignored is not None
    return " The weft.toml of this project is not trusted and does nothing; `weft trust` asks." if untrusted else ""


def _documents() -> "Sequence[Document]":
    if not os.path.exists(user_file()) and project_file() is None:
        return ()
    from weft.config.sources import obeyed

    return obeyed()


def _endpoint(document: "Document", name: str) -> Endpoint:
    entry = document.table("providers", name)
    variable = entry.get("api_key_env")
    if document.place == "project":
        path = ("providers", name)
        if name in PRESETS:
            raise ConfigurationError(
                f"{document.where(*path)}: a project's file may not change the provider {name!r}, which has your key; "
                f"give it another name, or write this into {shown(user_file())}."
            )
        if variable:
            check_variable(document, (*path, "api_key_env"), variable, repr(name))
    return Endpoint(
        provider=name,
        wire=entry["wire"],
        base_url=entry["base_url"],
        auth=entry.get("auth"),
        key_envs=(variable,) if variable else (),
        key_required=variable is not None,
        headers=entry.get("headers", {}),
        quirks=msgspec.convert(entry.get("quirks", {}), Quirks),
    )


def _text_of(document: "Document", name: str) -> str:
    file: Path = document.path.parent / name
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        where = document.where("agent", "instructions_file")
        raise ConfigurationError(f"{where}: [agent] names {name}, which cannot be read as text.") from None
