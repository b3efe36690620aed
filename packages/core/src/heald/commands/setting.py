"""The value of a setting and the place that set it: the environment, or a `heald.toml`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from heald.commands.request_settings import parse_table
from heald.config.document import ConfigDocument
from heald.config.keys import Key, convert_value
from heald.config.paths import working_folder
from heald.config.secrets import is_secret
from heald.core.errors import ConfigurationError
from heald.providers.config import check_variable

DEFAULT = "default"


class Setting(msgspec.Struct, frozen=True):
    """The value of a key and the place that set it."""

    key: str
    value: Any
    origin: str = DEFAULT
    """A flag, a variable, or a file and its line."""
    strength: int = 0
    folder: Path | None = None
    """The folder of the project's file that set it."""


def find_values(
    name: str, key: Key, documents: Sequence[ConfigDocument], environ: Mapping[str, str]
) -> Iterator[Setting]:
    """Yield the values of a key in files and in the environment, the weakest first."""
    for at, document in enumerate(documents):
        for step, path in enumerate(((), (key.table,))):
            is_read = key.counts_at_top if not path else bool(key.table)
            if is_read and key.name in document.table(*path):
                value = _read_document(document, path, key)
                folder = document.path.parent if document.place == "project" else None
                yield Setting(name, value, document.where(*path, key.name), 10 * (at + 1) + step, folder)
    for step, variable in enumerate(key.variables()):
        if environ.get(variable, "").strip():
            yield Setting(name, _parse_variable(variable, environ[variable], key), variable, 50 + step)


def _read_document(document: ConfigDocument, path: tuple[str, ...], key: Key) -> Any:
    value = document.table(*path)[key.name]
    if document.place == "project" and key.name == "api_key_env":
        check_variable(document, (*path, key.name), value, "an address of its own")
    folder = document.path.parent
    if document.place == "project" and key.is_path and folder != working_folder():
        if isinstance(value, list):
            return [str(folder / name) for name in cast("list[str]", value)]
        return str(folder / cast("str", value))
    return value


def _parse_variable(variable: str, text: str, key: Key) -> Any:
    if is_secret(text):
        raise ConfigurationError(f"{variable} holds what looks like a secret; keys have variables of their own.")
    value: Any = text.strip()
    if key.is_table:
        return parse_table(key, [value], variable)
    if key.is_list:
        separator = ";" if key.name in ("rule", "mcp_server") else ","
        value = [part.strip() for part in value.split(separator) if part.strip()]
    try:
        return convert_value(key, value, strict=False)
    except ValueError as error:
        raise ConfigurationError(f"The environment variable {variable} {error}.") from None


def option_value(key: Key, value: Any) -> Any:
    """Convert names to a list, whether they were repeated or separated by commas."""
    if not key.is_names:
        return value
    texts = cast("list[str]", value if isinstance(value, list) else [value])
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    # An empty name is a mistake, such as a variable that is not set: it does not stand for the default model.
    return names if names or not texts or key.name != "model" else [""]
