"""Links by which the owner of a project lets other users read it, or work in it.

A link holds a secret. Its address shows the newest page of the project to anyone. A request that carries the secret,
beside the user's own token, counts as the owner's, for this project and the sessions of its variants only. A link for
reading allows GET and HEAD. No link deletes a project or makes links. When a link is deleted, the streams that were
opened by it end, on every server of the store.
"""

import asyncio
import re
import secrets
from collections.abc import Callable, Sequence
from hashlib import sha256
from time import time
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.types import Scope

from heald.core.json import encode
from heald.sessions.shared_store import SharedStore
from heald.sessions.store_errors import NoSuchSession
from heald_server.access.caller import Caller
from heald_server.http.errors import ApiError

SHARES = "share"
"""The kind of the store's records that hold shares, each named by the digest of its secret."""
_PROJECT = re.compile(r"/projects/([^/]+)(/.*)?\Z")
_SESSION = re.compile(r"/sessions/([^/]+)(/.*)?\Z")
_READS = frozenset({"GET", "HEAD"})


class ProjectShare(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    owner: str
    writable: bool = False
    created: float = 0.0


_decoder = msgspec.json.Decoder(ProjectShare)


class ProjectShares:
    """The shares in a store, which all servers of the store have."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self._shares: dict[str, ProjectShare] = {}
        self._watchers: dict[str, dict[int, Callable[[], object]]] = {}
        self._watcher_count = 0
        self._changing = asyncio.Lock()  # a reload in the middle of a change would bring back what is being deleted

    async def reload(self) -> None:
        async with self._changing:
            records = await self._store.read_records(SHARES)
            self._shares = {name: _decoder.decode(data) for name, data in records.items()}
        for name in self._watchers.keys() - self._shares.keys():
            self._end(name)

    async def create(self, owner: str, project: str, *, writable: bool) -> tuple[str, str]:
        """Make a link. Returns its id and its secret, which is not stored."""
        secret = secrets.token_urlsafe(24)
        name = _digest(secret)
        share = ProjectShare(project=project, owner=owner, writable=writable, created=time())
        async with self._changing:
            await self._store.put_record(SHARES, name, encode(share))
            self._shares[name] = share
        return name, secret

    def find(self, secret: str) -> ProjectShare | None:
        """Return the link of a secret; None if there is none, or it was deleted."""
        return self._shares.get(_digest(secret))

    def get(self, name: str) -> ProjectShare | None:
        """Return the link of an id; None if there is none, or it was deleted."""
        return self._shares.get(name)

    def names(self, project: str) -> Sequence[str]:
        """Return the ids of the links of a project."""
        return [name for name, share in self._shares.items() if share.project == project]

    def watch(self, caller: Caller, end: Callable[[], object]) -> Callable[[], object]:
        """Call back when the link of a caller is deleted, immediately if it was. Returns a function that
        unsubscribes."""
        if not caller.link:
            return lambda: None
        if caller.link not in self._shares:
            end()
            return lambda: None
        self._watcher_count += 1
        number = self._watcher_count
        watchers = self._watchers.setdefault(caller.link, {})
        watchers[number] = end
        return lambda: watchers.pop(number, None)

    def _end(self, name: str) -> None:
        for end in [*self._watchers.pop(name, {}).values()]:
            end()

    def list(self, owner: str, project: str) -> dict[str, ProjectShare]:
        """Return the links of a project, by their ids."""
        shares = [
            (name, share) for name, share in self._shares.items() if (share.owner, share.project) == (owner, project)
        ]
        return dict(sorted(shares, key=lambda item: item[1].created))

    async def delete(self, owner: str, project: str, name: str) -> None:
        """Delete a link: its secret gives no access from then on. Raises `not_found` if there is none."""
        if name not in self.list(owner, project):
            raise ApiError("not_found", "The project has no such link; list its links to see which there are.")
        del self._shares[name]
        self._end(name)
        async with self._changing:
            self._shares.pop(name, None)
            await self._store.delete_record(SHARES, name)

    async def owner_for(self, secret: str, method: str, path: str) -> str:
        """Return the owner as whom a request with a link is answered. Raises `ApiError` if it is not allowed."""
        share = self.find(secret)
        if share is None:
            raise ApiError("not_found", "The link is not valid any more; ask the owner of the project for another one.")
        if not await self._covers(share, method, path):
            raise ApiError("forbidden", "The link does not allow this request.")
        return share.owner

    async def admit(self, caller: Caller, scope: Scope, path: str) -> Caller:
        """Return the caller of a request, as the owner of a project if the request carries the link of one."""
        secret = _accept_secret(scope)
        if not secret:
            return caller
        owner = await self.owner_for(secret, scope.get("method", ""), path)
        return msgspec.structs.replace(caller, owner=owner, link=_digest(secret), guest=caller.owner)

    async def _covers(self, share: ProjectShare, method: str, path: str) -> bool:
        if method not in _READS and not share.writable:
            return False
        if (match := _PROJECT.match(path)) is not None:
            rest = match[2] or ""
            is_owners = (method not in _READS and not rest.strip("/")) or rest.startswith("/shares")
            return match[1] == share.project and not is_owners
        if (match := _SESSION.match(path)) is not None and (match[2] or method in _READS):
            return await self._is_of_project(match[1], share.project)
        return False

    async def _is_of_project(self, session: str, project: str) -> bool:
        try:
            return (await self._store.info(session)).parent == project
        except NoSuchSession:
            return False


def _accept_secret(scope: Scope) -> str:
    """Return the secret of a link: in the header `X-Heald-Share`, or in the query, from which it is removed."""
    for name, value in scope["headers"]:
        if name == b"x-heald-share":
            return value.decode("latin-1")
    query = scope.get("query_string", b"")
    if b"share=" not in query:
        return ""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    secret = next((value for name, value in pairs if name == "share"), "")
    if secret:
        scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != "share"]).encode("latin-1")
    return secret


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
