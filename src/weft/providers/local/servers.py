"""Model servers that run on this machine: Ollama, LM Studio, llama.cpp and vLLM, found by asking them.

Only addresses of this machine are asked, all at once, for a third of a second; what was found holds for half a minute.
`known` never waits: it gives what the last look found and has another look taken meanwhile. `find` waits for it.
"""

import http.client
import threading
import time
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from weft.core.errors import WeftError
from weft.core.json import as_object, as_objects, loads
from weft.providers.catalogue import can_take_turns
from weft.providers.factory import endpoint_of
from weft.providers.model import Model

PROVIDERS = ("ollama", "lmstudio", "llamacpp", "vllm")
SECONDS = 0.3
HOLDS = 30.0
_MOST_BYTES = 1 << 20
_MOST_MODELS = 200


class LocalServer(msgspec.Struct, frozen=True):
    """A server that answered, and its models by the names that sessions use."""

    provider: str
    address: str
    models: tuple[str, ...]


class LocalServers:
    """What runs here, looked up now and then."""

    def __init__(self, providers: Sequence[str] = PROVIDERS, *, holds: float = HOLDS) -> None:
        self._providers = tuple(providers)
        self._holds = holds
        self._found: tuple[LocalServer, ...] = ()
        self._looked: float | None = None
        self._looking = threading.Lock()

    def known(self) -> tuple[LocalServer, ...]:
        """What the last look found, at once."""
        if self._is_old and not self._looking.locked():
            threading.Thread(target=self.find, name="weft-local-servers", daemon=True).start()
        return self._found

    def find(self) -> tuple[LocalServer, ...]:
        """What runs now, or ran within the last half minute."""
        with self._looking:
            if self._is_old:
                self._found = _ask_all(self._providers)
                self._looked = time.monotonic()
        return self._found

    @property
    def _is_old(self) -> bool:
        return self._looked is None or time.monotonic() - self._looked > self._holds


def _ask_all(providers: Sequence[str]) -> tuple[LocalServer, ...]:
    """The answers that come in time. Whoever is slower is left to itself."""
    until = time.monotonic() + SECONDS
    answers: dict[str, LocalServer | None] = {}

    def ask(provider: str) -> None:
        answers[provider] = _ask(provider, until)

    threads = [threading.Thread(target=ask, args=(each,), name=f"weft-ask-{each}", daemon=True) for each in providers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    return tuple(server for each in providers if (server := answers.get(each)) is not None)


def _ask(provider: str, until: float) -> LocalServer | None:
    try:
        place = Model.at(endpoint_of(provider), "any")
    except WeftError:
        return None
    parts = urlsplit(place.base_url)
    if parts.scheme != "http" or not _is_here(parts.hostname or ""):
        return None
    path = parts.path + ("/api/tags" if place.wire.name == "ollama" else "/models")
    answer = _get(parts.hostname or "", parts.port or 80, path, place.request_headers, until)
    names = _names(provider, answer)
    return LocalServer(provider, place.base_url, tuple(f"{provider}/{name}" for name in names)) if names else None


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _get(host: str, port: int, path: str, headers: dict[str, str], until: float) -> object:
    """The JSON at an address; None for whatever else comes of it. Nothing is followed, and no proxy is asked."""
    address = "127.0.0.1" if host == "localhost" else host
    connection = http.client.HTTPConnection(address, port, timeout=max(until - time.monotonic(), 0.01))
    try:
        connection.request("GET", path, headers={**headers, "accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return None
        data = b""
        while time.monotonic() < until and len(data) <= _MOST_BYTES:
            piece = response.read1(1 << 16)
            if not piece:
                return loads(data)
            data += piece
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return None


def _names(provider: str, answer: object) -> list[str]:
    listing = as_object(answer)
    key, name = ("models", "name") if provider == "ollama" else ("data", "id")
    found = [entry.get(name) for entry in as_objects(listing.get(key))]
    names = [_short(provider, each) for each in found if isinstance(each, str) and each.isprintable()]
    return [each for each in dict.fromkeys(names) if each and can_take_turns(each)][:_MOST_MODELS]


def _short(provider: str, name: str) -> str:
    """As people say it. llama.cpp calls its one model by the path of its file and takes any name for it."""
    if provider == "llamacpp" and name.endswith(".gguf"):
        return name.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(":latest") if provider == "ollama" else name
