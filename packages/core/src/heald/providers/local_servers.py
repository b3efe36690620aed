"""Finds model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM."""

import threading
import time
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import HealdError
from heald.core.json import as_int, as_object, as_objects, loads
from heald.providers.catalogue import is_chat_model
from heald.providers.model import Model
from heald.providers.resolve import resolve_endpoint

PROVIDERS = ("ollama", "lmstudio", "llamacpp", "vllm")
CONNECT_SECONDS = 0.3
"""Seconds in which a server of this machine must accept a connection. The system accepts it, however busy it is."""
SECONDS = 5.0
"""Seconds in which a server that has accepted a connection must answer."""
HOLDS = 30.0
_MOST_BYTES = 1 << 20
_MOST_MODELS = 200
_SIZE_FIELDS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "n_ctx", "n_ctx_train")


class LocalServer(msgspec.Struct, frozen=True):
    """A server that answered, and its models by the names that sessions use."""

    provider: str
    address: str
    models: tuple[str, ...]
    context_sizes: dict[str, int] = {}
    """The context sizes that the server reports, by model, in tokens."""


class LocalServers:
    """The model servers of this machine. A result is cached for `holds` seconds."""

    def __init__(self, providers: Sequence[str] = PROVIDERS, *, holds: float = HOLDS) -> None:
        self._providers = tuple(providers)
        self._holds = holds
        self._found: tuple[LocalServer, ...] = ()
        self._looked: float | None = None
        self._looking = threading.Lock()

    def known(self) -> tuple[LocalServer, ...]:
        """Return the servers that were found last, without waiting. An old result is renewed in a thread."""
        servers = self._found  # before the thread, which may end at once
        if self._is_old and not self._looking.locked():
            threading.Thread(target=self.find, name="heald-local-servers", daemon=True).start()
        return servers

    def find(self) -> tuple[LocalServer, ...]:
        """Find the servers that run now. A result is reused for `holds` seconds."""
        with self._looking:
            if self._is_old:
                self._found = _ask_all(self._providers)
                self._looked = time.monotonic()
        return self._found

    def find_model(self, name: str) -> str | None:
        """Return the name, with the provider, of a model that a server of this machine has under this name."""
        bare = name.removesuffix(":latest")
        models = (model for server in self.find() for model in server.models)
        return next((model for model in models if model.partition("/")[2] in (name, bare)), None)

    @property
    def _is_old(self) -> bool:
        return self._looked is None or time.monotonic() - self._looked > self._holds


def _ask_all(providers: Sequence[str]) -> tuple[LocalServer, ...]:
    """Ask all providers at once. Return the answers that arrive within `SECONDS`; later ones are ignored. Where no
    server accepts connections, that is known at once."""
    until = time.monotonic() + SECONDS
    answers: dict[str, LocalServer | None] = {}

    def ask(provider: str) -> None:
        answers[provider] = _ask(provider, until)

    threads = [threading.Thread(target=ask, args=(name,), name=f"heald-ask-{name}", daemon=True) for name in providers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    return tuple(server for name in providers if (server := answers.get(name)) is not None)


def _ask(provider: str, until: float) -> LocalServer | None:
    try:
        place = Model.at(resolve_endpoint(provider), "any")
    except HealdError:
        return None
    parts = urlsplit(place.base_url)
    if parts.scheme != "http" or not is_near(parts.hostname or ""):
        return None
    path = parts.path + ("/api/tags" if place.wire.name == "ollama" else "/models")
    answer = fetch_json(parts.hostname or "", parts.port or 80, path, place.request_headers, until)
    names = _names(provider, answer)
    if not names:
        return None
    sizes = context_sizes(provider, answer)
    if provider == "llamacpp":
        props = fetch_json(parts.hostname or "", parts.port or 80, "/props", place.request_headers, until)
        running = as_int(as_object(as_object(props).get("default_generation_settings")).get("n_ctx"))
        sizes = dict.fromkeys(names, running) if running else sizes
    models = {name: f"{provider}/{name}" for name in names}
    context_windows = {models[name]: size for name, size in sizes.items() if name in models}
    return LocalServer(provider, place.base_url, tuple(models.values()), context_windows)


def is_near(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def fetch_json(host: str, port: int, path: str, headers: dict[str, str], until: float) -> object:
    """Fetch JSON, without redirects or a proxy. Return None on any failure."""
    import http.client  # loads the package `email`

    address = "127.0.0.1" if host == "localhost" else host
    left = max(until - time.monotonic(), 0.01)
    connection = http.client.HTTPConnection(
        address, port, timeout=min(left, CONNECT_SECONDS) if is_near(host) else left
    )
    try:
        connection.connect()
        connection.sock.settimeout(left)
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
    key, name_key = ("models", "name") if provider == "ollama" else ("data", "id")
    listed = [entry.get(name_key) for entry in as_objects(listing.get(key))]
    names = [_short(provider, name) for name in listed if isinstance(name, str) and name.isprintable()]
    return [name for name in dict.fromkeys(names) if name and is_chat_model(name)][:_MOST_MODELS]


def context_sizes(provider: str, answer: object) -> dict[str, int]:
    """Read the sizes in a list of models: vLLM and LM Studio report the running one, llama.cpp the trained one."""
    sizes: dict[str, int] = {}
    for entry in as_objects(as_object(answer).get("data")):
        fields = entry | as_object(entry.get("meta"))
        reported = [size for name in _SIZE_FIELDS if (size := as_int(fields.get(name)))]
        if reported and isinstance(entry.get("id"), str):
            sizes[_short(provider, entry["id"])] = reported[0]
    return sizes


def _short(provider: str, name: str) -> str:
    """Shorten a model's name. llama.cpp reports the path of its file, and accepts any name."""
    if provider == "llamacpp" and name.endswith(".gguf"):
        return name.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(":latest") if provider == "ollama" else name
