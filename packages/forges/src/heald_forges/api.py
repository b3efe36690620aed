"""HTTP to the API of a forge: JSON in, JSON out, no redirects, and a token that no message repeats."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heald.core.errors import AuthenticationFailed, MalformedResponse, ProviderError, ProviderTimeout
from heald.core.json import JsonObject, as_object, encode, loads
from heald.core.version import VERSION
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Transport
from heald_forges.forge import ForgeFailed

_MAX_ANSWER = 16_000_000
_CONNECT_SECONDS = 15.0
_SECONDS = 60.0
_MAX_REASON = 300


@dataclass(frozen=True, slots=True)
class ForgeApi:
    """The API of one forge. Requests are not repeated: a second one could make a second pull request."""

    kind: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    token: str = field(default="", repr=False)
    token_name: str = ""
    """Where the token comes from, for messages."""

    async def get(self, path: str) -> Any:
        """Return the answer to a GET."""
        return await self._send(path, None)

    async def post(self, path: str, body: JsonObject) -> JsonObject:
        """Send an object and return the one that the forge answers with."""
        return as_object(await self._send(path, encode(body)))

    async def answers(self, path: str) -> bool:
        """Whether the server answers a path with JSON, also if it refuses the caller."""
        try:
            status, content = await self._exchange(path, None)
        except ProviderError:
            return False
        try:
            return status in (200, 401, 403) and bool(as_object(loads(content)))
        except ValueError:
            return False

    async def _send(self, path: str, body: bytes | None) -> Any:
        status, content = await self._exchange(path, body)
        if status >= 300:
            raise self._refusal(status, content)
        try:
            return loads(content)
        except ValueError:
            raise MalformedResponse(f"{self.kind} at {self.base_url} did not answer with JSON.") from None

    async def _exchange(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        url = f"{self.base_url}{path}"
        sent = {"accept": "application/json", "user-agent": f"heald/{VERSION}", **self.headers}
        if body is not None:
            sent["content-type"] = "application/json"
        transport = await Transport.for_running_loop()
        try:
            async with asyncio.timeout(_SECONDS):
                response = await transport.send(url, sent, body, _CONNECT_SECONDS)
                try:
                    content = await response.read_body(_MAX_ANSWER)
                finally:
                    response.close()
        except TimeoutError:
            raise ProviderTimeout(f"{self.kind} did not answer within {_SECONDS:g} s; try again.") from None
        except BrokenRead as broken:
            raise network_error(broken.cause, url) from None
        if content is None:
            raise MalformedResponse(f"The answer of {self.kind} has more than {_MAX_ANSWER:,} bytes.")
        return response.status, content

    def _refusal(self, status: int, content: bytes) -> Exception:
        match status:
            case 401:
                return AuthenticationFailed(f"{self.kind} refused the token of {self.token_name}.", status=status)
            case 404:
                return ForgeFailed(
                    f"{self.kind} knows no such repository, branch or pull request, or the token of {self.token_name} "
                    "may not see it; check the remote and what the token allows."
                )
            case _ if status < 400:
                return ForgeFailed(
                    f"The repository has moved (HTTP {status}); set the remote to its new address with "
                    "`git remote set-url`."
                )
            case _:
                reason = self._reason(content)
                return ForgeFailed(
                    f"{self.kind} did not accept the request (HTTP {status}){f': {reason}' if reason else ''}."
                )

    def _reason(self, content: bytes) -> str:
        """Return the words of the forge, without the token, which some repeat."""
        try:
            answer = as_object(loads(content))
        except ValueError:
            return ""
        texts = list(_texts([answer.get(name) for name in ("message", "error", "errors")]))
        reason = " ".join("; ".join(dict.fromkeys(texts)).split())
        reason = reason.replace(self.token, "[token]") if self.token else reason
        return reason[:_MAX_REASON].rstrip(".")


def _texts(value: Any) -> list[str]:
    """Return the texts of an error, which is a text, a list, or an object with texts."""
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in _texts(item)]  # pyright: ignore[reportUnknownVariableType]
        case dict() if isinstance(message := value.get("message"), str):  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
            return [message]
        case _:
            return []
