"""The users of a server: their tokens and limits, from a TOML file.

[ann]
tokens = ["sha256:…"]          # digests, as `heald tokens add` prints them, or the tokens themselves
max_exchanges = 4
max_usd_per_day = 2.5
"""

import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec

from heald.core.errors import ConfigurationError
from heald_server.access.tokens import MIN_LENGTH

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Amount = Annotated[float, msgspec.Meta(gt=0)]


class User(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One owner of sessions. A limit that is not set is that of the server."""

    tokens: list[str] = []
    max_exchanges: _Count | None = None
    max_tokens_per_day: _Count | None = None
    max_usd_per_day: _Amount | None = None


class Users(msgspec.Struct, frozen=True, kw_only=True):
    users: Mapping[str, User] = {}

    @property
    def digests(self) -> dict[bytes, str]:
        """The owners, by the digests of their tokens."""
        return {_digest(token): owner for owner, user in self.users.items() for token in user.tokens}


def read_users(path: str) -> Users:
    """Read a file of users. Raises ConfigurationError that names what is wrong in it."""
    try:
        data: dict[str, Any] = tomllib.loads(Path(path).expanduser().read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"The users in {path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from None
    users: dict[str, User] = {}
    for owner, fields in data.items():
        try:
            users[owner] = msgspec.convert(fields, User)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"The user {owner!r} in {path} cannot be read: {error}.") from None
        for token in users[owner].tokens:
            if not _DIGEST.match(token) and len(token) < MIN_LENGTH:
                raise ConfigurationError(
                    f"A token of the user {owner!r} in {path} has fewer than {MIN_LENGTH} characters; "
                    "make one with `heald tokens add`."
                )
    return Users(users=users)


def _digest(token: str) -> bytes:
    if _DIGEST.match(token):
        return bytes.fromhex(token.removeprefix("sha256:"))
    return sha256(token.encode()).digest()
