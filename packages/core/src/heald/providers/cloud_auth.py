"""Credentials of the clouds: signatures for Amazon Bedrock, tokens for Google Vertex and Azure.

The clouds' own libraries find the credentials (environment, profile, role, metadata server, login) and renew them.
They are extras: `heald[bedrock]`, `heald[vertex]`, `heald[azure]`. They block, so they run in threads.
"""

import asyncio
import calendar
import os
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from heald.core.errors import AuthenticationFailed

CloudAuth = Literal["aws", "google", "azure"]
"""How a cloud is asked for credentials when there is no key."""
PACKAGES: Mapping[CloudAuth, tuple[str, str]] = {
    "aws": ("botocore", "bedrock"),
    "google": ("google.auth", "vertex"),
    "azure": ("azure.identity", "azure"),
}
"""The library of each cloud, and the extra that installs it."""
_GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"
_EARLY = 120.0
"""Seconds before its end that a token is renewed."""


class Signer(Protocol):
    """Signs requests with a cloud's credentials."""

    async def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Return the headers of a request with its credentials. Raises AuthenticationFailed."""
        ...


def is_installed(cloud: CloudAuth) -> bool:
    """Return whether the library of a cloud is there."""
    try:
        return find_spec(PACKAGES[cloud][0]) is not None
    except ModuleNotFoundError:  # its parent package
        return False


def signer_for(cloud: CloudAuth) -> Signer:
    """Return the signer of a cloud. All models share one, and with it the credentials."""
    if cloud not in _signers:
        _signers[cloud] = AwsSigner() if cloud == "aws" else TokenSigner(cloud)
    return _signers[cloud]


_signers: dict[CloudAuth, Signer] = {}


class AwsSigner:
    """Signs requests with Signature Version 4."""

    def __init__(self) -> None:
        self._credentials: Any = None

    async def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        return await asyncio.to_thread(self._sign, url, headers, body)

    def _sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        auth, requests, exceptions = (_library(f"botocore.{name}") for name in ("auth", "awsrequest", "exceptions"))
        try:
            if self._credentials is None:
                self._credentials = _library("botocore.session").get_session().get_credentials()
            frozen = self._credentials.get_frozen_credentials() if self._credentials is not None else None
        except exceptions.BotoCoreError as error:
            raise AuthenticationFailed(f"The credentials of AWS cannot be read: {error}.") from None
        if frozen is None:
            raise AuthenticationFailed(
                "There are no credentials for AWS: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
            )
        request = requests.AWSRequest("POST", url, headers={"content-type": headers["content-type"]}, data=body)
        auth.SigV4Auth(frozen, "bedrock", region_of(url)).add_auth(request)
        return {**headers, **{str(name).lower(): str(value) for name, value in request.headers.items()}}


def region_of(url: str) -> str:
    """Return the region in the host of a Bedrock endpoint; an endpoint of one's own has that of the environment."""
    host = urlsplit(url).hostname or ""
    parts = host.split(".")
    if len(parts) > 2 and parts[0].startswith("bedrock"):
        return parts[1]
    named = os.environ.get("AWS_REGION")
    session = _library("botocore.session").get_session()
    return named or str(session.get_config_variable("region") or "us-east-1")


def _library(name: str) -> Any:
    """Import a module of a cloud's library, which has no types of its own."""
    return import_module(name)


class TokenSigner:
    """Adds a token of Google or of Microsoft Entra, and renews it before it ends."""

    def __init__(self, cloud: CloudAuth) -> None:
        self._cloud: CloudAuth = cloud
        self._source: Any = None
        self._token = ""
        self._ends = 0.0
        self._renewing = threading.Lock()

    async def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        if time.time() > self._ends - _EARLY:
            await asyncio.to_thread(self._renew)
        return {**headers, "authorization": f"Bearer {self._token}"}

    def _renew(self) -> None:
        with self._renewing:
            if time.time() > self._ends - _EARLY:
                self._token, self._ends = self._request_token()

    def _request_token(self) -> tuple[str, float]:
        try:
            return self._google_token() if self._cloud == "google" else self._azure_token()
        except Exception as error:  # each library has its own, and several of them
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
            advice = {"google": "run `gcloud auth application-default login`", "azure": "run `az login`"}[self._cloud]
            raise AuthenticationFailed(
                f"There is no token of {self._cloud.title()}: {reason}; {advice}, or set the credentials of a service."
            ) from None

    def _google_token(self) -> tuple[str, float]:
        if self._source is None:
            self._source, _ = _library("google.auth").default(scopes=[_GOOGLE_SCOPE])
        self._source.refresh(_library("google.auth.transport.requests").Request())
        expiry = self._source.expiry  # in UTC, without a time zone
        ends = calendar.timegm(expiry.timetuple()) if expiry is not None else time.time() + 3600
        return str(self._source.token), ends

    def _azure_token(self) -> tuple[str, float]:
        self._source = self._source or _library("azure.identity").DefaultAzureCredential()
        token = self._source.get_token(_AZURE_SCOPE)
        return str(token.token), float(token.expires_on)
