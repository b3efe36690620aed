"""The HTTP client that all image providers use, and the pictures in their answers."""

import asyncio
import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import loads

from PIL import Image

from heald.core import errors
from heald.core.errors import MalformedResponse, ProviderError
from heald.core.http_status import parse_retry_after
from heald.core.json import JsonObject, as_object, encode
from heald.core.retry import Retry
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, Transport
from heald_studio.bad_input import BadInput
from heald_studio.imaging.raster import decode_picture

MAX_ANSWER = 64_000_000
"""Bytes: a picture of 4096 × 4096 in base64 fits."""
CONNECT_SECONDS = 15.0
_PAUSE = 1.5
_LONGEST_PAUSE = 15.0
_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "payment_required")
_BLOCKED_CODES = ("moderation_blocked", "content_policy_violation", "safety")


@dataclass(frozen=True, slots=True)
class ImageApi:
    """The HTTP client of one provider: one POST and one JSON answer, within limits of time and size.

    Failures are ProviderErrors of one sentence. A server's message is quoted only if it is about the request itself,
    without the key.
    """

    name: str
    """The provider, for messages."""
    base_url: str
    key: str = field(repr=False)
    key_name: str
    """The environment variable that holds the key."""
    headers: Mapping[str, str] = field(repr=False)
    seconds: float = 180.0
    attempts: int = 2

    async def post(self, path: str, body: JsonObject, headers: Mapping[str, str] | None = None) -> JsonObject:
        """Send JSON and return the JSON answer."""
        return await self.send(path, encode(body), {"content-type": "application/json", **(headers or {})})

    async def post_form(self, path: str, fields: Mapping[str, str], name: str, file: bytes) -> JsonObject:
        """Send a form with a PNG file."""
        mark = secrets.token_hex(16)
        parts = [
            f'--{mark}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in fields.items()
        ]
        head = f'--{mark}\r\ncontent-disposition: form-data; name="{name}"; filename="picture.png"\r\n'
        parts += [head.encode(), b"content-type: image/png\r\n\r\n", file, f"\r\n--{mark}--\r\n".encode()]
        return await self.send(path, b"".join(parts), {"content-type": f"multipart/form-data; boundary={mark}"})

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> JsonObject:
        """Send a request; repeat it if the error is retryable."""
        for attempt in range(1, self.attempts + 1):
            try:
                async with asyncio.timeout(self.seconds):
                    return await self._ask(path, body, headers)
            except TimeoutError:
                raise errors.ProviderTimeout(
                    f"{self.name} did not answer within {self.seconds:g} s; try again."
                ) from None
            except ProviderError as error:
                if not error.retryable or attempt == self.attempts:
                    raise
                wait = Retry(base=_PAUSE).delay(attempt, error)
                await asyncio.sleep(min(wait, _LONGEST_PAUSE))
        raise AssertionError("unreachable")

    async def _ask(self, path: str, body: bytes, headers: Mapping[str, str]) -> JsonObject:
        transport = await Transport.for_running_loop()
        url = f"{self.base_url}{path}"
        sent = {"accept": "application/json", **self.headers, **headers}
        response = await transport.post(url, headers=sent, body=body, connect_timeout=CONNECT_SECONDS)
        try:
            answer = await self._read(response)
        except BrokenRead as broken:
            response.close()
            raise network_error(broken.cause, url) from None
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
        body = await response.read_body(MAX_ANSWER)
        if body is None:
            raise MalformedResponse(f"The answer of {self.name} has more than {MAX_ANSWER:,} bytes.")
        return body

    def _refusal(self, response: Response, answer: bytes) -> ProviderError:
        status, name = response.status, self.name
        code, message = _parse_error(answer)
        if code in _QUOTA_CODES or status == 402:
            return errors.QuotaExhausted(f"The credit with {name} is used up; add some there.", status=status)
        if code in _BLOCKED_CODES:
            return errors.ContentBlocked(f"{name} declined to make this picture; describe another one.", status=status)
        match status:
            case 401 | 403:
                return errors.AuthenticationFailed(f"{name} refused the key; check {self.key_name}.", status=status)
            case 404:
                return errors.ModelNotFound(
                    f"{name} does not have this model, or not for this key; choose another one."
                )
            case 408 | 504:
                return errors.Overloaded(f"{name} took too long (HTTP {status}); try again later.", status=status)
            case 429:
                wait = parse_retry_after(response.headers)
                return errors.RateLimited(
                    f"{name} gets too many requests; wait a little.", status=status, retry_after=wait
                )
            case _ if status >= 500:
                return errors.ServerFault(f"{name} failed (HTTP {status}); try again later.", status=status)
            case _ if status < 400:
                return MalformedResponse(f"{name} sent a redirect (HTTP {status}), which is not followed with a key.")
            case _:
                quoted = f": {self._mask_key(message).rstrip('.')}" if message else ""
                return errors.InvalidRequest(
                    f"{name} did not accept the request (HTTP {status}){quoted}.", status=status
                )

    def _mask_key(self, text: str) -> str:
        """Remove the key from a server's message, which may repeat the request."""
        return " ".join(text.replace(self.key, "[key]").split())[:300]


def decode_base64_picture(base64_text: object, name: str) -> Image.Image:
    """Decode a picture that an answer holds as base64."""
    if not isinstance(base64_text, str):
        raise MalformedResponse(f"The answer of {name} holds no picture.")
    try:
        return decode_provider_picture(base64.b64decode(base64_text, validate=True), name)
    except ValueError:
        raise MalformedResponse(f"The picture in the answer of {name} is damaged.") from None


def decode_provider_picture(data: bytes, name: str) -> Image.Image:
    """Decode a picture that a provider sent."""
    try:
        return decode_picture(data, f"The picture of {name}")
    except BadInput as fault:
        raise MalformedResponse(str(fault)) from None


def _parse_error(answer: bytes) -> tuple[str, str]:
    """Return the code and the message of an error, empty if there are none."""
    try:
        body = as_object(loads(answer))
    except (ValueError, RecursionError):
        return "", ""
    error = as_object(body.get("error")) or body
    code = error.get("code") or error.get("type") or error.get("status")
    message = error.get("message") or error.get("detail") or error.get("title")
    return code if isinstance(code, str) else "", message if isinstance(message, str) else ""
