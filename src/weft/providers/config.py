"""What people set in `weft.toml`: providers of their own, and instructions for every agent.

    [agent]
    instructions = "Answer in English."
    instructions_file = "house-rules.md"

    [providers.mine]
    wire = "chat"
    base_url = "https://models.example.com/v1"
    api_key_env = "MINE_API_KEY"

A file in the working folder is read first, then the user's own. Keys never stand in it, only the name of the
environment variable that holds one.
"""

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import msgspec

from weft.core.errors import ConfigurationError
from weft.providers.model import Auth, Endpoint
from weft.providers.presets import PRESETS
from weft.wires.quirks import Quirks
from weft.wires.registry import WIRES

FILE = "weft.toml"
_OTHERS = ("AWS_", "AZURE_", "GCP_", "GOOGLE_", "GITHUB_", "GH_", "GITLAB_", "NPM_", "PYPI_", "SSH_", "KUBE")
"""How variables begin that hold keys of other services."""


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    wire: str
    base_url: str
    api_key_env: str | None = None
    auth: Auth | None = None
    headers: dict[str, str] = {}
    quirks: Quirks | None = None


class _Instructions(msgspec.Struct):
    instructions: str = ""
    instructions_file: str = ""


def config_files() -> list[Path]:
    """The files that are read, in order of growing strength."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return [home / "weft" / FILE, Path(FILE)]


def configured_providers(files: list[Path] | None = None) -> dict[str, Endpoint]:
    """The providers of all files; a later file wins."""
    found: dict[str, Endpoint] = {}
    for path in config_files() if files is None else files:
        for name, entry in _table(path, "providers", "[providers.mine]").items():
            endpoint = _endpoint(path, name, entry)
            if _is_of_the_folder(path):
                _check_foreign(path, endpoint)
            found[name] = endpoint
    return found


def _is_of_the_folder(path: Path) -> bool:
    """Not the user's own: it may have come with a folder that somebody else wrote."""
    return not path.is_absolute()


def _check_foreign(path: Path, endpoint: Endpoint) -> None:
    """A folder may add providers. It may not turn a known one, or its key, to an address of its choice."""
    if endpoint.provider in PRESETS:
        raise ConfigurationError(
            f"{path}: a file in the working folder may not change the provider {endpoint.provider!r}, which has your "
            f"key; give it another name, or write this into {config_files()[0]}."
        )
    known = {name for preset in PRESETS.values() for name in preset.key_envs}
    taken = [name for name in endpoint.key_envs if name in known or name.startswith(_OTHERS)]
    if taken:
        raise ConfigurationError(
            f"{path}: a file in the working folder may not use {taken[0]} for {endpoint.provider!r}; "
            f"write this into {config_files()[0]}, or name a variable of its own."
        )


def configured_instructions(files: list[Path] | None = None) -> list[str]:
    """The instructions of all files, in their order; a file that is named is found beside the one that names it."""
    found: list[str] = []
    for path in config_files() if files is None else files:
        table = _table(path, "agent", "[agent]")
        for key in table:
            if key not in _Instructions.__struct_fields__:
                raise ConfigurationError(f"{path}: [agent] has an unknown key {key!r}{_hint(key, _Instructions)}")
        try:
            said = msgspec.convert(table, _Instructions)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"{path}: [agent]: {error}.") from None
        found += [said.instructions] if said.instructions else []
        if said.instructions_file:
            found.append(_text_of(_beside(path, said.instructions_file), path))
    return found


def _beside(path: Path, name: str) -> Path:
    """A file that the configuration names. A folder's own names none outside the folder, not through a link either."""
    file = path.parent / name
    if _is_of_the_folder(path) and not file.resolve().is_relative_to(path.parent.resolve()):
        raise ConfigurationError(f"{path}: [agent] names {name}, which is not in the same folder.")
    return file


def _text_of(file: Path, named_in: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{named_in}: [agent] names {file}, which cannot be read as text.") from None


def _table(path: Path, name: str, example: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from None
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {name!r} must be tables such as {example}.")
    return cast("dict[str, Any]", table)


def _hint(key: str, known: type[msgspec.Struct]) -> str:
    near = get_close_matches(key, known.__struct_fields__, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known.__struct_fields__)}."


def _endpoint(path: Path, name: str, entry: Any) -> Endpoint:
    where = f"{path}: [providers.{name}]"
    if isinstance(entry, dict):
        for key in cast("dict[str, Any]", entry):
            if key not in _Entry.__struct_fields__:
                raise ConfigurationError(f"{where} has an unknown key {key!r}{_hint(key, _Entry)}")
    try:
        read = msgspec.convert(entry, _Entry)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{where}: {error}.") from None
    if read.wire not in WIRES:
        raise ConfigurationError(f"{where}: there is no wire {read.wire!r}; choose one of {', '.join(WIRES)}.")
    return Endpoint(
        provider=name,
        wire=read.wire,
        base_url=read.base_url,
        auth=read.auth,
        key_envs=(read.api_key_env,) if read.api_key_env else (),
        key_required=read.api_key_env is not None,
        headers=read.headers,
        quirks=read.quirks or Quirks(),
    )
