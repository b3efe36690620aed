"""Remembers which hosts the commands of a folder may reach.

The decisions are stored beside the user's own `heald.toml`, readable by the user only. No file of a folder can add one.
"""

import os
from collections.abc import Collection

import msgspec

from heald.config.paths import config_home, write_private_file

HOSTS_FILE = "hosts.json"


def allowed_in(folder: str) -> frozenset[str]:
    """Return the hosts that a person allowed for a folder."""
    return frozenset(all_folders().get(os.path.realpath(folder), ()))


def allow_in(folder: str, hosts: Collection[str]) -> None:
    """Store hosts that a person allowed for a folder."""
    folders = all_folders()
    key = os.path.realpath(folder)
    _write(folders | {key: sorted({*folders.get(key, ()), *hosts})})


def forget_in(folder: str, hosts: Collection[str] = ()) -> list[str]:
    """Delete hosts of a folder, or all of them if none is named. Return those that were deleted."""
    folders = all_folders()
    key = os.path.realpath(folder)
    before = folders.pop(key, [])
    remaining = [host for host in before if hosts and host not in hosts]
    _write(folders | ({key: remaining} if remaining else {}))
    return [host for host in before if host not in remaining]


def all_folders() -> dict[str, list[str]]:
    """All decisions, by the real path of the folder. A damaged file counts as empty."""
    try:
        return msgspec.json.decode((config_home() / HOSTS_FILE).read_bytes(), type=dict[str, list[str]])
    except (OSError, msgspec.DecodeError):
        return {}


def _write(folders: dict[str, list[str]]) -> None:
    write_private_file(config_home() / HOSTS_FILE, msgspec.json.format(msgspec.json.encode(folders)), "The hosts")
