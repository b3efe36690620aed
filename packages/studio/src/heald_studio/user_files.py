"""Reads the Markdown files of a folder that a user names: stacks or prompts."""

from pathlib import Path

from heald.core.errors import ConfigurationError

_MAX_BYTES = 256_000


def list_user_files(folder: Path, kind: str) -> list[Path]:
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


def read_user_file(file: Path) -> str:
    """Read a text file of a user's folder. Raises ConfigurationError."""
    try:
        if not file.is_file():
            raise ConfigurationError(f"{file} is not a regular file; remove it or replace it by one.")
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ConfigurationError(f"{file} is larger than {_MAX_BYTES:,} bytes; shorten it.")
        return data.decode()
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}; check its permissions.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
