"""Every provider that Heald knows by name: its address, its wire, its key's place, and the variables that move it."""

import pytest
from provider_bench import KEY

import heald
from heald.core.errors import BadBaseUrl, ConfigurationError, MissingKey, UnknownProvider
from heald.providers.presets import PRESETS
from heald.providers.registry import installed_providers
from heald.providers.resolve import resolve, resolve_endpoint

NAMES = {endpoint.provider for endpoint in PRESETS}
OPENAI = "https://api.openai.com/v1"
BEDROCK = "https://bedrock-runtime.us-west-2.amazonaws.com/model/m"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"

# provider, wire, the variable of its key, where a turn of the model "m" is posted, the header of the key
KNOWN = [
    ("openai", "responses", "OPENAI_API_KEY", f"{OPENAI}/responses", "authorization"),
    ("openai-chat", "chat", "OPENAI_API_KEY", f"{OPENAI}/chat/completions", "authorization"),
    ("anthropic", "messages", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1/messages", "x-api-key"),
    ("gemini", "gemini", "GEMINI_API_KEY", f"{GOOGLE}/models/m:streamGenerateContent?alt=sse", "x-goog-api-key"),
    ("gemini", "gemini", "GOOGLE_API_KEY", f"{GOOGLE}/models/m:streamGenerateContent?alt=sse", "x-goog-api-key"),
    ("openrouter", "chat", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1/chat/completions", "authorization"),
    ("azure", "responses", "AZURE_OPENAI_API_KEY", "https://me.openai.azure.com/openai/v1/responses", "api-key"),
    ("bedrock", "converse", "AWS_BEARER_TOKEN_BEDROCK", f"{BEDROCK}/converse-stream", "authorization"),
    (
        *("bedrock-anthropic", "bedrock-messages", "AWS_BEARER_TOKEN_BEDROCK"),
        *(f"{BEDROCK}/invoke-with-response-stream", "authorization"),
    ),
    ("groq", "chat", "GROQ_API_KEY", "https://api.groq.com/openai/v1/chat/completions", "authorization"),
    ("deepseek", "chat", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1/chat/completions", "authorization"),
    ("mistral", "chat", "MISTRAL_API_KEY", "https://api.mistral.ai/v1/chat/completions", "authorization"),
    ("xai", "chat", "XAI_API_KEY", "https://api.x.ai/v1/chat/completions", "authorization"),
    ("together", "chat", "TOGETHER_API_KEY", "https://api.together.xyz/v1/chat/completions", "authorization"),
    ("ollama", "ollama", "OLLAMA_API_KEY", "http://127.0.0.1:11434/api/chat", "authorization"),
    ("vllm", "chat", "VLLM_API_KEY", "http://127.0.0.1:8000/v1/chat/completions", "authorization"),
    ("llamacpp", "chat", "LLAMA_API_KEY", "http://127.0.0.1:8080/v1/chat/completions", "authorization"),
]
LOCAL = ["ollama", "lmstudio", "vllm", "llamacpp"]
CLOUDS = ["azure", "bedrock", "bedrock-anthropic", "vertex", "vertex-anthropic"]
"""Their credentials may come from the cloud: test_cloud_endpoints.py."""


@pytest.mark.parametrize(("provider", "wire", "variable", "url", "header"), KNOWN)
def test_a_name_is_all_it_needs(
    provider: str, wire: str, variable: str, url: str, header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv(variable, f" {KEY}\n")
    model = resolve(f"{provider}/m")
    model.require_key()
    assert (model.provider, model.name, model.wire.name, model.url) == (provider, "m", wire, url)
    holders = {name: value for name, value in model.request_headers.items() if KEY in value}
    assert holders == {header: f"Bearer {KEY}" if header == "authorization" else KEY}
    assert KEY not in repr(model) + model.url + repr(model.endpoint)


def test_every_preset_is_in_the_table() -> None:
    assert {row[0] for row in KNOWN} | {"lmstudio", "vertex", "vertex-anthropic"} == NAMES
    assert set(installed_providers()) >= NAMES


def test_anthropic_states_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert resolve("anthropic/m").request_headers["anthropic-version"] == "2023-06-01"


def test_the_first_key_variable_wins_and_an_empty_one_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "first")
    monkeypatch.setenv("GOOGLE_API_KEY", "second")
    assert resolve("gemini/m").api_key == "first"
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    assert resolve("gemini/m").api_key == "second"


@pytest.mark.parametrize("provider", LOCAL)
def test_a_local_server_needs_no_key(provider: str) -> None:
    model = resolve(f"{provider}/m")
    model.require_key()
    assert "authorization" not in model.request_headers
    assert model.base_url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("provider", sorted(NAMES - set(LOCAL) - set(CLOUDS)))
def test_a_missing_key_states_which_variable(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    with pytest.raises(MissingKey) as raised:
        heald.providers.open_provider_session(f"{provider}/m")
    variables = " or ".join(installed_providers()[provider].key_envs)
    assert str(raised.value) == f"There is no key for {provider}: set {variables} in the environment."


# --- addresses from the environment -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value", "name", "base_url"),
    [
        ("OPENAI_BASE_URL", "https://proxy.test/v1/", "openai/m", "https://proxy.test/v1"),
        ("OPENAI_BASE_URL", "https://proxy.test/v1", "openai-chat/m", "https://proxy.test/v1"),
        ("ANTHROPIC_BASE_URL", "https://proxy.test/v1", "anthropic/m", "https://proxy.test/v1"),
        ("LMSTUDIO_BASE_URL", "http://10.0.0.2:1234/v1", "lmstudio/m", "http://10.0.0.2:1234/v1"),
        ("VLLM_BASE_URL", "http://gpu:8000/v1", "vllm/m", "http://gpu:8000/v1"),
        ("LLAMACPP_BASE_URL", " http://gpu:8080/v1 ", "llamacpp/m", "http://gpu:8080/v1"),
        ("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com/", "azure/m", "https://me.openai.azure.com/openai/v1"),
        ("AZURE_OPENAI_ENDPOINT", "https://me.test/openai/v1/", "azure/m", "https://me.test/openai/v1"),
        ("OLLAMA_HOST", "192.168.1.5:11434", "ollama/m", "http://192.168.1.5:11434"),
        ("OLLAMA_HOST", "https://ollama.test:8443", "ollama/m", "https://ollama.test:8443"),
        ("OLLAMA_HOST", "0.0.0.0:11434", "ollama/m", "http://127.0.0.1:11434"),
        ("OLLAMA_HOST", "http://0.0.0.0:8080/", "ollama/m", "http://127.0.0.1:8080"),
        ("OLLAMA_HOST", "", "ollama/m", "http://127.0.0.1:11434"),
    ],
)
def test_an_address_from_the_environment(
    variable: str, value: str, name: str, base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert resolve(name).base_url == base_url


def test_anthropics_own_variable_holds_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's SDKs add /v1 themselves, so that is how people have set it."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://proxy.test/anthropic")
    assert resolve("anthropic/m").url == "https://proxy.test/anthropic/v1/messages"


@pytest.mark.parametrize("value", ["0.0.0.0", "127.0.0.1"])
def test_ollamas_host_without_a_port_means_ollamas_port(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`OLLAMA_HOST=0.0.0.0` is how its documentation opens it to a network; the port stays 11434."""
    monkeypatch.setenv("OLLAMA_HOST", value)
    assert resolve("ollama/m").base_url == "http://127.0.0.1:11434"


def test_azure_without_an_address() -> None:
    with pytest.raises(ConfigurationError, match="set AZURE_OPENAI_ENDPOINT in the environment"):
        resolve("azure/m")


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"])
def test_a_bad_address_from_the_environment(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "proxy.test")
    with pytest.raises(BadBaseUrl, match="must look like https://host/v1"):
        resolve("openai/m" if variable == "OPENAI_BASE_URL" else "azure/m")


# --- names ------------------------------------------------------------------------------------------------------


def test_a_models_own_slashes_stay() -> None:
    model = resolve("openrouter/anthropic/claude-sonnet-4:beta")
    assert (model.provider, model.name) == ("openrouter", "anthropic/claude-sonnet-4:beta")


@pytest.mark.parametrize(
    ("misspelt", "meant"), [("antropic", "anthropic"), ("openia", "openai"), ("gemni", "gemini"), ("olama", "ollama")]
)
def test_an_unknown_provider_near_a_known_one(misspelt: str, meant: str) -> None:
    with pytest.raises(UnknownProvider) as raised:
        heald.providers.open_provider_session(f"{misspelt}/m")
    assert f"There is no provider {misspelt!r}; did you mean {meant!r}?" in str(raised.value)
    assert "heald.toml" in str(raised.value)


def test_an_unknown_provider_near_nothing() -> None:
    with pytest.raises(UnknownProvider) as raised:
        resolve_endpoint("zzz")
    assert all(name in str(raised.value) for name in NAMES)


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("gpt-5", "openai/gpt-5"),
        ("o3-mini", "openai/o3-mini"),
        ("claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"),
        ("gemini-3-flash", "gemini/gemini-3-flash"),
        ("grok-4", "xai/grok-4"),
        ("", "openai/gpt-5"),
    ],
)
def test_a_model_without_a_provider(name: str, example: str) -> None:
    with pytest.raises(UnknownProvider) as raised:
        heald.providers.open_provider_session(name)
    assert f"names no provider; write it as {example!r}" in str(raised.value)


def test_a_provider_without_a_model() -> None:
    with pytest.raises(UnknownProvider) as raised:
        heald.providers.open_provider_session("anthropic/")
    assert "names no provider" not in str(raised.value)
    assert "anthropic/anthropic" not in str(raised.value)
