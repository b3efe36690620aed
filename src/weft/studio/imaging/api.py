"""Requests to a provider of pictures: one POST, one JSON answer, within limits of time and size.

Failures are ProviderErrors of one sentence. What a server said is quoted only where it is about the request itself, and
never with the key in it.
"""

import asyncio
import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import loads

from PIL import Image

from weft.core.errors import (
    AuthenticationFailed,
    ContentBlocked,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)
from weft.core.json import JsonObject, as_object, encode
from weft.providers.transport import BrokenRead, Response, Transport, broken_read, error_of
from weft.studio.imaging.raster import pixels_of
from weft.studio.input.faults import BadInput

MAX_ANSWER = 64_000_000
"""Bytes: a picture of 4096 × 4096 in base64 fits."""
CONNECT_SECONDS = 15.0
_PAUSE = 1.5
_LONGEST_PAUSE = 15.0
_SPENT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "payment_required")
_BLOCKED = ("moderation_blocked", "content_policy_violation", "safety")


@dataclass(frozen=True, slots=True)
class Api:
    """One provider's address and key."""

    name: str
    """For people."""
    base_url: str
    key: str = field(repr=False)
    key_name: str
    """The variable of the environment that holds the key."""
    headers: Mapping[str, str] = field(repr=False)
    seconds: float = 180.0
    attempts: int = 2

    async def post(self, path: str, body: JsonObject, headers: Mapping[str, str] | None = None) -> JsonObject:
        """Send JSON, get JSON."""
        return await self.send(path, encode(body), {"content-type": "application/json", **(headers or {})})

    async def post_form(self, path: str, fields: Mapping[str, str], name: str, file: bytes) -> JsonObject:
        """Send a form with a PNG file in it."""
        mark = secrets.token_hex(16)
        parts = [
            f'--{mark}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in fields.items()
        ]
        head = f'--{mark}\r\ncontent-disposition: form-data; name="{name}"; filename="picture.png"\r\n'
        parts += [head.encode(), b"content-type: image/png\r\n\r\n", file, f"\r\n--{mark}--\r\n".encode()]
        return await self.send(path, b"".join(parts), {"content-type": f"multipart/form-data; boundary={mark}"})

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> JsonObject:
        """Ask, and once more where waiting may help."""
        for attempt in range(1, self.attempts + 1):
            try:
                async with asyncio.timeout(self.seconds):
                    return await self._ask(path, body, headers)
            except TimeoutError:
                raise ProviderTimeout(f"{self.name} did not answer within {self.seconds:g} s; try again.") from None
            except ProviderError as error:
                if not error.retryable or attempt == self.attempts:
                    raise
                pause = _PAUSE if error.retry_after is None else error.retry_after
                await asyncio.sleep(min(pause, _LONGEST_PAUSE))
        raise AssertionError("unreachable")

    async def _ask(self, path: str, body: bytes, headers: Mapping[str, str]) -> JsonObject:
        transport = await Transport.of_this_loop()
        url = f"{self.base_url}{path}"
        sent = {"accept": "application/json", **self.headers, **headers}
        response = await transport.post(url, headers=sent, body=body, connect_timeout=CONNECT_SECONDS)
        try:
            answer = await self._read(response)
        except BrokenRead as broken:
            response.close()
            raise error_of(broken.cause, url) from None
        except BaseException:
            response.close()
            raise
        response.release()
        if response.status >= 300:
            raise self._refusal(response, answer)
        try:
            return as_object(loads(answer))
        except (ValueError, RecursionError):
            raise MalformedResponse(f"The answer of {self.name} cannot be read; it is not JSON.") from None

    async def _read(self, response: Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            try:
                part = await response.read_chunk()
            except Exception as error:
                raise broken_read(error) from None
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                raise MalformedResponse(f"The answer of {self.name} has more than {MAX_ANSWER:,} bytes.")

    def _refusal(self, response: Response, answer: bytes) -> ProviderError:
        status, name = response.status, self.name
        code, said = _said(answer)
        if code in _SPENT or status == 402:
            return QuotaExhausted(f"The credit with {name} is used up; add some there.", status=status)
        if code in _BLOCKED:
            return ContentBlocked(f"{name} declined to make this picture; describe another one.", status=status)
        match status:
            case 401 | 403:
                return AuthenticationFailed(f"{name} refused the key; check {self.key_name}.", status=status)
            case 404:
                return ModelNotFound(f"{name} does not have this model, or not for this key; choose another one.")
            case 408 | 504:
                return Overloaded(f"{name} took too long (HTTP {status}); try again later.", status=status)
            case 429:
                wait = _seconds(response.headers.get("retry-after", ""))
                return RateLimited(f"{name} gets too many requests; wait a little.", status=status, retry_after=wait)
            case _ if status >= 500:
                return ServerFault(f"{name} failed (HTTP {status}); try again later.", status=status)
            case _ if status < 400:
                return MalformedResponse(f"{name} sent a redirect (HTTP {status}), which is not followed with a key.")
            case _:
                quoted = f": {self.without_key(said).rstrip('.')}" if said else ""
                return InvalidRequest(f"{name} did not accept the request (HTTP {status}){quoted}.", status=status)

    def without_key(self, text: str) -> str:
        """Servers repeat what they were sent. The key goes no further than here."""
        return " ".join(text.replace(self.key, "[key]").split())[:300]


def picture_in(base64_text: object, name: str) -> Image.Image:
    """A picture that an answer holds as base64."""
    if not isinstance(base64_text, str):
        raise MalformedResponse(f"The answer of {name} holds no picture.")
    try:
        return picture_of(base64.b64decode(base64_text, validate=True), name)
    except (binascii.Error, ValueError):
        raise MalformedResponse(f"The picture in the answer of {name} is damaged.") from None


def picture_of(data: bytes, name: str) -> Image.Image:
    """A picture that a provider sent."""
    try:
        return pixels_of(data, f"The picture of {name}")
    except BadInput as fault:
        raise MalformedResponse(str(fault)) from None


def _said(answer: bytes) -> tuple[str, str]:
    """The code and the message of an error, as far as there are any."""
    try:
        body = as_object(loads(answer))
    except (ValueError, RecursionError):
        return "", ""
    error = as_object(body.get("error")) or body
    code = error.get("code") or error.get("type") or error.get("status")
    said = error.get("message") or error.get("detail") or error.get("title")
    return code if isinstance(code, str) else "", said if isinstance(said, str) else ""


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None
