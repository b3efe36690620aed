"""The local page to which the browser returns after a sign-in."""

import asyncio
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
)

PERSON_SECONDS = 300.0
"""Maximum seconds that the user has to sign in."""
_CALLBACK = "/callback"
_LINE_SECONDS = 10.0
_DONE = b"You are signed in. You can close this page."
_FAILED = b"The sign-in failed. You can close this page."


class CallbackPage:
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
