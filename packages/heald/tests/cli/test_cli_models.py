"""`heald models`: what can be named here."""

import json

import pytest

from cli_bench import KEY, is_one_line_error, run
from heald_local.model import available

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")


async def test_with_a_key(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    ran = await run(capsys, "models", "--json")
    listed = {entry["name"]: entry for entry in map(json.loads, ran.out.splitlines())}
    model = listed["anthropic/claude-sonnet-4-6"]
    assert ran.code == 0
    assert (model["usable"], model["is_default"], model["vision"]) == (True, True, True)
    assert model["input_usd_per_million"] > 0
    assert KEY not in ran.out
    table = await run(capsys, "models", "--search", "SONNET-4-6")
    assert table.out.splitlines()[0].split()[:2] == ["model", "context"]
    assert "anthropic/claude-sonnet-4-6" in table.out
    assert "\x1b" not in table.out


async def test_what_needs_no_key(capsys: Capture) -> None:
    if not available():
        pytest.skip("heald[local] is not installed")
    ran = await run(capsys, "models", "--provider", "local", "--json")
    first = json.loads(ran.out.splitlines()[0])
    assert (first["name"], first["usable"], first["is_default"]) == ("local/vision", True, True)
    assert (first["vision"], first["output_usd_per_million"]) == (True, 0)


async def test_without_a_key(capsys: Capture) -> None:
    ran = await run(capsys, "models", "--search", "sonnet")
    assert ran.code == 1
    assert is_one_line_error(ran)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "xai", "openrouter"])
async def test_all_of_one_provider(capsys: Capture, provider: str) -> None:
    ran = await run(capsys, "models", "--provider", provider, "--json")
    listed = [json.loads(line) for line in ran.out.splitlines()]
    assert len(listed) > 3
    assert {model["provider"] for model in listed} == {provider}
    assert not any(model["usable"] for model in listed)
    if provider == "gemini":
        assert not any("claude" in model["name"] for model in listed)


async def test_a_provider_that_is_not_there(capsys: Capture) -> None:
    ran = await run(capsys, "models", "--provider", "antropic")
    assert (ran.code, "did you mean 'anthropic'?" in ran.err) == (2, True)
    assert is_one_line_error(ran)
