"""Signed tokens (JWT) of an identity provider that speaks OpenID Connect.

Signature, issuer, audience and times are checked. The algorithms are pinned: a token does not choose its own, and a
shared secret is never accepted. The keys are fetched from the provider and renewed when a token names an unknown one,
and every half minute while there are requests or tokens.
"""

import asyncio
import logging
from collections.abc import Sequence
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object, loads
from heald_server.access.tokens import SignedToken
from heald_server.http.hosts import is_loopback

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms that may be allowed: all of them use a public key."""
LEEWAY_SECONDS = 30.0
"""Tolerance for clocks that differ."""
_KEYS_SECONDS = 30.0  # after which keys are fetched once more: a withdrawn one ends within a minute
_RETRY_SECONDS = 10.0  # between two fetches, so that tokens with made-up keys cannot flood the provider
_TIMEOUT = 10.0
_MAX_BYTES = 1024 * 1024
_MAX_TOKEN = 16_384

_log = logging.getLogger("heald_server.jwt")


class JwtVerifier:
    """Checks the signed tokens of one issuer. The owner of a token's sessions is its claim `owner_claim`."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        *,
        keys_url: str = "",
        algorithms: Sequence[str] = ("RS256", "ES256"),
        owner_claim: str = "sub",
    ) -> None:
        for name, url in (("issuer", issuer), ("address of the keys", keys_url)):
            if url:
                _check_url(name, url)
        if not issuer or not audience:
            raise ConfigurationError("Signed tokens need an issuer and an audience; set jwt_issuer and jwt_audience.")
        unknown = [name for name in algorithms if name not in ALGORITHMS]
        if unknown or not algorithms:
            raise ConfigurationError(
                f"{unknown[0] if unknown else 'No algorithm'} cannot be used for signed tokens; "
                f"choose from {', '.join(ALGORITHMS)}."
            )
        self._jwt = _import_jwt()
        self._issuer = issuer
        self._audience = audience
        self._keys_url = keys_url
        self._algorithms = list(algorithms)
        self._owner_claim = owner_claim
        self._keys: dict[str, Any] = {}
        self._fetched = float("-inf")
        self._were_fetched = False
        self._lock = asyncio.Lock()

    async def verify(self, token: str) -> SignedToken | None:
        """Return the owner and the end of a token, or None if it is not valid."""
        jwt = self._jwt
        if len(token) > _MAX_TOKEN:
            return None
        try:
            header = as_object(jwt.get_unverified_header(token))
            key = await self._find_key(header)
            if key is None:
                return None
            claims = as_object(
                jwt.decode(
                    token,
                    key,
                    algorithms=self._algorithms,
                    audience=self._audience,
                    issuer=self._issuer,
                    leeway=LEEWAY_SECONDS,
                    options={"require": ["exp", "iss", "aud", self._owner_claim]},
                )
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            _log.info("a signed token is refused: %s", type(error).__name__)
            return None
        owner, expires = claims.get(self._owner_claim), claims.get("exp")
        if not isinstance(owner, str) or not owner.strip() or not isinstance(expires, int | float):
            return None
        name = header.get("kid")
        return SignedToken(owner, float(expires) + LEEWAY_SECONDS, name if isinstance(name, str) else "")

    async def has_key(self, name: str) -> bool:
        """Whether the provider still has a key. As long as it cannot be reached, its last keys count."""
        if monotonic() - self._fetched > _KEYS_SECONDS:
            await self._renew_keys()
        return not self._were_fetched or name in self._keys

    async def _find_key(self, header: JsonObject) -> Any:
        """Return the key that a token names. A token without a name gets the only key there is."""
        if header.get("alg") not in self._algorithms:
            return None
        name = header.get("kid")
        age = monotonic() - self._fetched
        if age > _KEYS_SECONDS or (self._pick(name) is None and age > _RETRY_SECONDS):
            await self._renew_keys()
        return self._pick(name)

    def _pick(self, name: object) -> Any:
        if isinstance(name, str):
            return self._keys.get(name)
        return next(iter(self._keys.values())) if name is None and len(self._keys) == 1 else None

    async def _renew_keys(self) -> None:
        before = self._fetched
        async with self._lock:
            if self._fetched != before:
                return  # another request has done it meanwhile
            self._fetched = monotonic()
            try:
                self._keys = await asyncio.to_thread(self._fetch_keys)
                self._were_fetched = True
            except (OSError, ValueError, self._jwt.PyJWTError) as error:
                _log.error("the keys of %s cannot be fetched: %s", self._issuer, error)

    def _fetch_keys(self) -> dict[str, Any]:
        url = self._keys_url
        if not url:
            configuration = _fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            if configuration.get("issuer") != self._issuer:
                raise ValueError("its configuration names another issuer")
            url = str(configuration.get("jwks_uri", ""))
            _check_url("address of the keys", url)
        keys = self._jwt.PyJWKSet.from_dict(_fetch(url)).keys
        return {key.key_id or str(number): key for number, key in enumerate(keys)}


class _NoRedirect(HTTPErrorProcessor):
    def http_response(self, request: Request, response: Any) -> Any:
        if response.status != 200:
            raise ValueError(f"the answer is HTTP {response.status}")
        return response

    https_response = http_response


def _fetch(url: str) -> JsonObject:
    with build_opener(_NoRedirect).open(Request(url, headers={"Accept": "application/json"}), timeout=_TIMEOUT) as body:
        data = body.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError("the answer is too large")
    return as_object(loads(data))


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_safe or not parts.netloc:
        raise ConfigurationError(f"The {name} of signed tokens begins with https://, not {url[:200]!r}.")


def _import_jwt() -> Any:
    try:
        import cryptography  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import jwt
    except ImportError:
        raise ConfigurationError(f"Signed tokens need a package; install it with: {install_advice('jwt')}") from None
    return jwt
