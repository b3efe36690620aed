"""Signs in to MCP servers by OAuth: the user's browser opens the page of the server and returns to a local address.

The MCP package does the protocol. Tokens appear in no log and no message. They are renewed, and stored for each URL in
the keyring of the system, else in files of mode 0600: another server under the same name gets no token of it. Without
somebody who opens the page, a server that asks for a sign-in is a fault that names the command to run.
"""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from weft.config.paths import config_home, write_private_file
from weft.core.errors import ConfigurationError, WeftError
from weft.tools.mcp.config import McpServer

SERVICE = "weft-mcp"
"""The service name in the keyring."""


class StoredSignIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a sign-in, as the MCP package represents its parts in JSON."""

    tokens: dict[str, Any] | None = None
    expires: float | None = None
    """The time at which the access token ends, in seconds since 1970."""
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    """The description of the authorization server."""
    resource: dict[str, Any] | None = None
    """The description of the protected server."""


class TokenStore:
    """Reads and writes what is stored for one URL."""

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self._name = sha256(url.encode()).hexdigest()[:32]
        self._folder = folder or config_home() / "mcp-tokens"

    def read(self) -> StoredSignIn:
        for text in (self._read_keyring(), self._read_file()):
            if text:
                with suppress(msgspec.DecodeError):
                    return msgspec.json.decode(text, type=StoredSignIn)
        return StoredSignIn()

    def write(self, stored: StoredSignIn) -> None:
        content = msgspec.json.encode(stored)
        if not self._write_keyring(content.decode()):
            write_private_file(self._path, content, "Tokens")

    def delete(self) -> bool:
        """Delete what is stored; whether there was something."""
        found = bool(self._read_keyring())
        with suppress(Exception):
            _keyring().delete_password(SERVICE, self._name)
        if self._path.exists():
            self._path.unlink()
            found = True
        return found

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._name}.json"

    def _read_file(self) -> str:
        try:
            return self._path.read_text()
        except (OSError, UnicodeDecodeError):
            return ""

    def _read_keyring(self) -> str:
        try:
            return _keyring().get_password(SERVICE, self._name) or ""
        except Exception:  # a keyring has exceptions of its own, and those of the bus behind it
            return ""

    def _write_keyring(self, text: str) -> bool:
        try:
            _keyring().set_password(SERVICE, self._name, text)
            return _keyring().get_password(SERVICE, self._name) == text
        except Exception:
            return False


def _keyring() -> Any:
    if find_spec("keyring") is None:
        raise ConfigurationError("The package keyring is not installed.")
    return import_module("keyring")


# --- signing in ------------------------------------------------------------------------------------------------------


PERSON_SECONDS = 300.0
"""Maximum seconds that the user has to sign in."""
_CALLBACK = "/callback"
_LINE_SECONDS = 10.0
_DONE = b"You are signed in. You can close this page."
_FAILED = b"The sign-in failed. You can close this page."

OpenPage = Callable[[str, str], Awaitable[object]]
"""Opens the sign-in page of a server: its name and the address."""


class NeedsSignIn(WeftError):
    """The server asks for a sign-in, and nobody is there to do it."""


class _WithoutDetails(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not record.exc_info  # the failure is reported as a fault; its details may hold secrets


logging.getLogger("mcp.client.auth.oauth2").addFilter(_WithoutDetails())


class SignIn:
    """Authorizes requests to servers. `open_page` shows the user the page to sign in; None if there is no user."""

    def __init__(self, open_page: OpenPage | None = None, *, store: Callable[[str], TokenStore] = TokenStore) -> None:
        self._open_page = open_page
        self._store = store
        self._limits: dict[str, tuple[asyncio.Timeout, float]] = {}

    def auth(self, server: McpServer) -> httpx2.Auth | None:
        """Return the authorization of a server. None if its headers have one."""
        assert server.url is not None
        if any(name.lower() == "authorization" for name in server.headers):
            return None
        store = self._store(server.url)
        if self._open_page is None and store.read().tokens is None:
            return _RefusedAuth()
        return self._provider(server, store)

    @contextmanager
    def pausing(self, server: McpServer, limit: asyncio.Timeout) -> Generator[None]:
        """Extend a time limit while the user signs in."""
        self._limits[server.name] = (limit, server.connect_timeout)
        try:
            yield
        finally:
            self._limits.pop(server.name, None)

    def _provider(self, server: McpServer, store: TokenStore) -> OAuthClientProvider:
        assert server.url is not None
        storage = _Storage(store, server)
        page = _CallbackPage(storage.port)

        async def open_page(address: str) -> None:
            if self._open_page is None:
                raise NeedsSignIn(f"The MCP server {server.name!r} asks for a sign-in.")
            self._extend(server, PERSON_SECONDS)
            await page.listen()
            await self._open_page(server.name, address)

        async def wait_for_code() -> AuthorizationCodeResult:
            try:
                return await page.wait()
            finally:
                self._extend(server, server.connect_timeout)

        metadata = OAuthClientMetadata(
            client_name="Weft",
            redirect_uris=[AnyUrl(page.address)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="client_secret_basic" if server.oauth.get("client_secret") else "none",
            scope=server.oauth.get("scope"),
        )
        provider = OAuthClientProvider(server.url, metadata, storage, open_page, wait_for_code)
        storage.provider = provider
        return provider

    def _extend(self, server: McpServer, seconds: float) -> None:
        limit, _ = self._limits.get(server.name, (None, 0.0))
        if limit is not None and not limit.expired():
            limit.reschedule(asyncio.get_running_loop().time() + seconds)


class _RefusedAuth(httpx2.Auth):
    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code == 401:
            raise NeedsSignIn("The server asks for a sign-in.")


class _Storage:
    """The stored sign-in, in the form that the MCP package asks for."""

    def __init__(self, store: TokenStore, server: McpServer) -> None:
        self._store = store
        self._stored = store.read()
        self._settings = server.oauth
        self.port = self._find_port()
        self.provider: OAuthClientProvider | None = None

    def _find_port(self) -> int:
        """Return the port of the registered address, else the configured one, else a free one."""
        for address in (self._stored.client or {}).get("redirect_uris") or ():
            if (port := urlsplit(str(address)).port) is not None:
                return port
        if self._settings.get("callback_port", "").isdecimal():
            return int(self._settings["callback_port"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    async def get_tokens(self) -> OAuthToken | None:
        assert self.provider is not None
        context, stored = self.provider.context, self._stored
        context.token_expiry_time = stored.expires
        try:
            if stored.metadata is not None:
                context.oauth_metadata = OAuthMetadata.model_validate(stored.metadata)
            if stored.resource is not None:
                context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(stored.resource)
            return OAuthToken.model_validate(stored.tokens) if stored.tokens is not None else None
        except ValidationError:
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        assert self.provider is not None
        context = self.provider.context
        await self._write(
            tokens=tokens.model_dump(mode="json", exclude_none=True),
            expires=time.time() + tokens.expires_in if tokens.expires_in else None,
            metadata=_dump(context.oauth_metadata),
            resource=_dump(context.protected_resource_metadata),
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        given = self._settings.get("client_id")
        if given is not None:
            secret = self._settings.get("client_secret")
            return OAuthClientInformationFull(
                client_id=given,
                client_secret=secret,
                redirect_uris=[AnyUrl(_CallbackPage(self.port).address)],
                token_endpoint_auth_method="client_secret_basic" if secret else "none",
            )
        try:
            return OAuthClientInformationFull.model_validate(self._stored.client) if self._stored.client else None
        except ValidationError:
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    async def _write(self, **changes: object) -> None:
        self._stored = msgspec.structs.replace(self._stored, **changes)
        await asyncio.to_thread(self._store.write, self._stored)


def _dump(model: OAuthMetadata | ProtectedResourceMetadata | None) -> dict[str, object] | None:
    return model.model_dump(mode="json", exclude_none=True) if model is not None else None


class _CallbackPage:
    """The local address that the browser returns to."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.address = f"http://127.0.0.1:{port}{_CALLBACK}"
        self._server: asyncio.Server | None = None
        self._arrived: asyncio.Future[AuthorizationCodeResult] | None = None

    async def listen(self) -> None:
        self._arrived = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError:
            raise OAuthFlowError(f"The port {self._port}, to which the browser returns, is in use.") from None

    async def wait(self) -> AuthorizationCodeResult:
        assert self._arrived is not None
        assert self._server is not None
        try:
            async with asyncio.timeout(PERSON_SECONDS):
                return await self._arrived
        except TimeoutError:
            raise OAuthFlowError("Nobody signed in.") from None
        finally:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_LINE_SECONDS):
                line = (await reader.readuntil(b"\r\n"))[:4096].decode("latin-1").split(" ")
                status, text = self._accept(line[1] if len(line) == 3 and line[0] == "GET" else "")
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                    % (status, len(text), text)
                )
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            writer.close()

    def _accept(self, target: str) -> tuple[bytes, bytes]:
        """Read the browser's request. Returns the status and the text of the response."""
        address = urlsplit(target)
        if address.path != _CALLBACK or self._arrived is None or self._arrived.done():
            return b"404 Not Found", b"There is nothing here."
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if not query.get("code"):
            self._arrived.set_exception(OAuthFlowError("The sign-in was refused."))
            return b"400 Bad Request", _FAILED
        result = AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))
        self._arrived.set_result(result)
        return b"200 OK", _DONE
