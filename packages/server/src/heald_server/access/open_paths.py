"""Paths of a server that can be requested without a token."""

from collections.abc import Iterable

from starlette.types import Scope

from heald_server.http.scope import route_path

_READS = ("GET", "HEAD")


class OpenPaths:
    """Public paths, and paths below which the address itself is a secret.

    A public path that ends with a slash stands for all paths below it, except `/` itself.
    """

    def __init__(self, public: Iterable[str] = (), secret: Iterable[str] = ()) -> None:
        public = list(public)
        self._public = frozenset(public)
        self._public_folders = tuple(path for path in public if path != "/" and path.endswith("/"))
        self._secret_folders = tuple(secret)

    def is_public(self, scope: Scope) -> bool:
        path = route_path(scope)
        return scope["type"] == "http" and (path in self._public or path.startswith(self._public_folders))

    def is_secret(self, scope: Scope) -> bool:
        """Whether the address of a request is its permission."""
        return scope["type"] == "http" and scope["method"] in _READS and self._secret_folder(scope) is not None

    def loggable_path(self, scope: Scope) -> str:
        """The path of a request, without the secret that it may hold."""
        folder = self._secret_folder(scope)
        return f"{scope.get('root_path', '')}{folder}…" if folder is not None else scope["path"]

    def _secret_folder(self, scope: Scope) -> str | None:
        path = route_path(scope)
        return next((folder for folder in self._secret_folders if path.startswith(folder)), None)
