"""The stored sign-in, in the form that the MCP package asks for."""

import asyncio
import socket
import time
from urllib.parse import urlsplit

import msgspec
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from heald.tools.mcp.callback_page import CallbackPage
from heald.tools.mcp.config import McpServer
from heald.tools.mcp.token_store import TokenStore


class SignInStorage:
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
        client_id = self._settings.get("client_id")
        if client_id is not None:
            secret = self._settings.get("client_secret")
            return OAuthClientInformationFull(
                client_id=client_id,
                client_secret=secret,
                redirect_uris=[AnyUrl(CallbackPage(self.port).address)],
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
