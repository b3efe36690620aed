"""The address of a server behind a proxy."""

from urllib.parse import urlsplit

import msgspec
from starlette.types import Scope

from heald.core.errors import ConfigurationError


class PublicAddress(msgspec.Struct, frozen=True):
    """Where browsers find a server behind a proxy: its origin, and the path that everything of it is below.

    The proxy may pass the whole path on or remove the prefix, and it may pass any of the server's names as Host.
    """

    origin: str
    """As browsers send it, such as `https://example.org`."""
    prefix: str = ""
    """A path without a slash at its end, such as `/heald`; empty if the server has the whole origin."""

    @property
    def url(self) -> str:
        return f"{self.origin}{self.prefix}"

    @property
    def is_secure(self) -> bool:
        return self.origin.startswith("https://")

    def place(self, scope: Scope) -> None:
        """Put a request below the prefix, whether the proxy removed the prefix or not."""
        path: str = scope["path"]
        if not self.prefix:
            return
        scope["root_path"] = self.prefix
        if path != self.prefix and not path.startswith(f"{self.prefix}/"):
            scope["path"] = f"{self.prefix}{path}"


def parse_public_url(url: str) -> PublicAddress:
    """Parse the address. Raises `ConfigurationError` if it is none."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    is_plain = not parts.query and not parts.fragment and not parts.username and "//" not in path
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise ConfigurationError(f"{url!r} is not an address of a server; write it as https://example.org/heald.")
    default = {"http": ":80", "https": ":443"}[parts.scheme]
    return PublicAddress(f"{parts.scheme}://{parts.netloc.lower().removesuffix(default)}", path)
