"""Reads providers and agent instructions from `heald.toml`.

    [agent]
    instructions = "Answer in English."
    instructions_file = "house-rules.md"

    [providers.mine]
    wire = "chat"
    base_url = "https://models.example.com/v1"
    api_key_env = "MINE_API_KEY"

The project's file counts if the user trusts it, then the user's own. Neither holds keys, only the names of environment
variables that do.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from heald.config.paths import display_path, has_config_files, project_file, user_file
from heald.core.errors import ConfigurationError
from heald.providers.endpoint import Endpoint
from heald.providers.registry import installed_providers
from heald.wires.request import Quirks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heald.config.document import ConfigDocument


_OTHERS = ("AWS_", "AZURE_", "GCP_", "GOOGLE_", "GITHUB_", "GH_", "GITLAB_", "NPM_", "PYPI_", "SSH_", "KUBE", "HEALD_")
"""Prefixes of variables that hold keys of other services."""


def configured_providers() -> dict[str, Endpoint]:
    """Read the providers of all files in effect; a stronger file wins."""
    return {name: _endpoint(document, name) for document in _documents() for name in document.table("providers")}


def configured_instructions() -> list[str]:
    """Read the instructions of all files in effect, in their order."""
    instructions: list[str] = []
    for document in _documents():
        table = document.table("agent")
        instructions += [table["instructions"]] if table.get("instructions") else []
        if table.get("instructions_file"):
            instructions.append(_text_of(document, table["instructions_file"]))
    return instructions


def is_foreign_key(variable: str) -> bool:
    """Whether an environment variable holds, or may hold, a key that the user has for another service."""
    key_variables = {name for endpoint in installed_providers().values() for name in endpoint.key_envs}
    return variable in key_variables or variable.startswith(_OTHERS)


def check_variable(document: "ConfigDocument", path: tuple[str, ...], name: str, whose: str) -> None:
    """Refuse a project's file that would send one of the user's keys to an address of its choice."""
    if is_foreign_key(name):
        raise ConfigurationError(
            f"{document.where(*path)}: a project's file may not use {name} for {whose}; "
            f"write this into {display_path(user_file())}, or name a variable of its own."
        )


def ignored_file() -> str:
    """Return a sentence about a project's file that is not trusted; empty if there is none."""
    if project_file() is None:
        return ""
    from heald.config.sources import sources

    untrusted = sources().ignored is not None
    return " The heald.toml of this project is not trusted and does nothing; `heald trust` asks." if untrusted else ""


def _documents() -> "Sequence[ConfigDocument]":
    if not has_config_files():
        return ()
    from heald.config.sources import active_documents

    return active_documents()


def _endpoint(document: "ConfigDocument", name: str) -> Endpoint:
    entry = document.table("providers", name)
    variable = entry.get("api_key_env")
    if document.place == "project":
        path = ("providers", name)
        if name in installed_providers():
            raise ConfigurationError(
                f"{document.where(*path)}: a project's file may not change the provider {name!r}, which has your key; "
                f"give it another name, or write this into {display_path(user_file())}."
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


def _text_of(document: "ConfigDocument", name: str) -> str:
    file: Path = document.path.parent / name
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        where = document.where("agent", "instructions_file")
        raise ConfigurationError(f"{where}: [agent] names {name}, which cannot be read as text.") from None
