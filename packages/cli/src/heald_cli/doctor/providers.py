"""Rows about the keys of providers and the servers of models on this machine."""

from msgspec.structs import replace

from heald.commands.finding import Findings, missing, ok, wrong
from heald.core.errors import HealdError
from heald.providers.config import configured_providers
from heald.providers.keys import Origin, find_key, find_key_origin, keyring_problem
from heald.providers.model import Endpoint, Model
from heald.providers.registry import installed_providers

_PLACES: dict[Origin, str] = {
    "environment": "is set",
    "keyring": "is in the keyring of the system",
    "file": "is in the file of keys",
}


def list_endpoints() -> dict[str, Endpoint]:
    """Return the endpoints of all providers; without those of the settings, if the settings are wrong."""
    try:
        return installed_providers() | configured_providers()
    except HealdError:
        return dict(installed_providers())


def check_keys() -> Findings:
    """List the keys and where they are stored. A value is only checked for characters that no key has."""
    unset: list[str] = []
    has_any = False
    for provider, endpoint in list_endpoints().items():
        stored = find_key_origin(endpoint.key_envs)
        if stored is None:
            unset += endpoint.key_envs[:1] if endpoint.key_required else []
            continue
        has_any = True
        name, origin = stored
        try:
            if find_key(endpoint.key_envs) is None:
                problem = keyring_problem(endpoint.key_envs).strip()
                yield wrong(f"key {provider}", problem, f"heald key remove {name} deletes it.")
                continue
            Model.at(replace(endpoint, base_url=endpoint.base_url or "https://its-own.example"), "any")
            yield ok(f"key {provider}", f"{name} {_PLACES[origin]}")
        except HealdError as error:
            yield wrong(f"key {provider}", str(error), "Set it again.")
    if not has_any:
        text = f"none of {', '.join(dict.fromkeys(unset))} is set, and none is stored"
        fix = "export ANTHROPIC_API_KEY=…, or `heald key set anthropic`, or use a local model."
        yield missing("keys", text, fix)


def check_local_servers() -> Findings:
    from heald.providers.local_servers import PROVIDERS, LocalServers

    servers = LocalServers().find()
    for server in servers:
        yield ok(f"local {server.provider}", f"{len(server.models)} models at {server.address}, as {server.models[0]}")
    if not servers:
        fix = "Start one, such as `ollama serve`, for models without a key."
        yield missing("local servers", f"none of {', '.join(PROVIDERS)} answers on this machine", fix)
