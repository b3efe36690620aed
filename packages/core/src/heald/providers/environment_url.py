"""The addresses of installed providers that environment variables set."""

import os
from urllib.parse import urlsplit

from heald.core.errors import ConfigurationError
from heald.providers.endpoint import Endpoint


def environment_url(endpoint: Endpoint) -> str:
    """Return the base URL of an installed provider: from its variable, from the cloud's variables, or its own."""
    address = os.environ.get(endpoint.base_url_env, "").strip().rstrip("/") if endpoint.base_url_env else ""
    if endpoint.auth == "aws" and not address:
        return _bedrock_url(endpoint.provider)
    if endpoint.auth == "google":
        return _vertex_url(endpoint, address)
    if endpoint.provider == "azure":
        if not address:
            raise ConfigurationError("Azure needs your address: set AZURE_OPENAI_ENDPOINT in the environment.")
        return address if address.endswith("/v1") else f"{address}/openai/v1"
    if endpoint.provider == "ollama" and address:
        return _ollama_url(address)
    if endpoint.provider == "anthropic" and address and not address.endswith("/v1"):
        return f"{address}/v1"  # Anthropic's own clients add the version themselves
    return address or endpoint.base_url


def _bedrock_url(provider: str) -> str:
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise ConfigurationError(f"{provider} needs a region: set AWS_REGION in the environment, such as us-east-1.")
    return f"https://bedrock-runtime.{region}.amazonaws.com"


def _vertex_url(endpoint: Endpoint, address: str) -> str:
    """Build the address of a project in a location; the publisher is part of it."""
    project = os.environ.get("GOOGLE_CLOUD_PROJECT", "")
    location = os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
    if not project:
        raise ConfigurationError(
            f"{endpoint.provider} needs your project: set GOOGLE_CLOUD_PROJECT in the environment."
        )
    host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
    publisher = "google" if endpoint.wire == "gemini" else "anthropic"
    root = address or f"https://{host}"
    return f"{root}/v1/projects/{project}/locations/{location}/publishers/{publisher}"


def _ollama_url(address: str) -> str:
    """Parse `OLLAMA_HOST`: a host with an optional scheme and port; 0.0.0.0 is a listening address."""
    url = address if "://" in address else f"http://{address}"
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return url
    host = (parts.hostname or "").replace("0.0.0.0", "127.0.0.1")
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{parts.path}"
