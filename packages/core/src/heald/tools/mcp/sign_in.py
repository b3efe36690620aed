"""Signs in to MCP servers by OAuth: the user's browser opens the page of the server and returns to a local address.

The MCP package does the protocol. Tokens appear in no log and no message. They are renewed, and stored for each URL in
the keyring of the system, else in files of mode 0600: another server under the same name gets no token of it. Without
somebody who opens the page, a server that asks for a sign-in is a fault that names the command to run.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientMetadata,
)
from pydantic import AnyUrl

from heald.core.errors import HealdError
from heald.tools.mcp.callback_page import PERSON_SECONDS, CallbackPage
from heald.tools.mcp.config import McpServer
from heald.tools.mcp.sign_in_storage import SignInStorage
from heald.tools.mcp.token_store import TokenStore

OpenPage = Callable[[str, str], Awaitable[object]]
"""Opens the sign-in page of a server: its name and the address."""


class NeedsSignIn(HealdError):
    """The server asks for a sign-in, and nobody is there to do it."""


class _WithoutDetails(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not record.exc_info  # the failure is reported as a fault; its details may hold secrets


logging.getLogger("mcp.client.auth.oauth2").addFilter(_WithoutDetails())


class SignIn:
    """Authorizes requests to servers. `open_page` shows the user the sign-in page; None if there is no user."""

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
        storage = SignInStorage(store, server)
        page = CallbackPage(storage.port)

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
            client_name="Heald",
            redirect_uris=[AnyUrl(page.address)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="client_secret_basic" if server.oauth.get("client_secret") else "none",
            scope=server.oauth.get("scope"),
        )
        provider = OAuthClientProvider(
            server.url,
            metadata,
            storage,
            open_page,
            wait_for_code,
            client_metadata_url=server.oauth.get("client_metadata_url"),
        )
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
