"""Remembers what a person decided about repositories, beside the user's own settings. No file of a repository can."""

import os

import msgspec

from heald.config.paths import config_home, write_private_file

_FILE = "repositories.json"


class RepositoryRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decisions about one repository."""

    agreed: str = ""
    """The digest of the commands that a person agreed to run in the sandbox."""
    bases: dict[str, str] = {}
    """The branch that each branch of a change began at."""


def read_record(folder: str) -> RepositoryRecord:
    return _read_all().get(os.path.realpath(folder), RepositoryRecord())


def write_record(folder: str, record: RepositoryRecord) -> None:
    """Store the decisions. Raises ConfigurationError."""
    records = _read_all() | {os.path.realpath(folder): record}
    write_private_file(config_home() / _FILE, msgspec.json.format(msgspec.json.encode(records)), "The decisions")


def _read_all() -> dict[str, RepositoryRecord]:
    """All records, by the real path of the folder. A damaged file counts as empty: a person is asked again."""
    try:
        return msgspec.json.decode((config_home() / _FILE).read_bytes(), type=dict[str, RepositoryRecord])
    except (OSError, msgspec.DecodeError):
        return {}
