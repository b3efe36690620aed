"""Bedrock, Vertex and Azure: their requests, their streams, and the credentials that the clouds' own libraries find."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

import heald
from heald.core.errors import AuthenticationFailed, ConfigurationError, MissingKey, ProviderError, RateLimited
from heald.core.messages import ToolCall, ToolDefinition, ToolResult, user_message
from heald.core.turn import Reason
from heald.providers import cloud_auth
from heald.providers.resolve import resolve
from heald.testing import ReceivedRequest, Reply, ScriptedServer, wire_reply, wire_stream
from heald.testing.streams import AMAZON_STREAM, amazon_event

LOOK = ToolDefinition(name="look", description="Look.", input_schema={"type": "object", "properties": {}})
CALL = ToolCall(id="tooluse_1", name="look", input={})
CLOUD_VARIABLES = (
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"),
    *("GOOGLE_CLOUD_LOCATION", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "BEDROCK_BASE_URL", "VERTEX_BASE_URL"),
)


@pytest.fixture(autouse=True)
def no_cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of this machine, and none of another test."""
    for name in CLOUD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setattr(cloud_auth, "_signers", {})


@pytest.fixture
def aws_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")


async def run_two_turns(model: heald.Model, settings: heald.Settings | None = None) -> Any:
    """A turn that calls a tool, and the turn after its result."""
    session = heald.providers.open_provider_session(
        model, messages=[user_message("Look!")], tools=[LOOK], settings=settings, retry=heald.Retry(attempts=1)
    )
    try:
        first = await session.stream_turn(lambda _: None)
        session.append_tool_results(first, [ToolResult(id=CALL.id, name="look", status="ok", content="A cat.")])
        return first, await session.stream_turn(lambda _: None)
    finally:
        await session.close()


def two_replies(wire: str) -> list[Reply]:
    return [
        wire_reply(wire, thinking="Hm. ", text="I look.", calls=[CALL]),
        wire_reply(wire, text=["A ", "cat."], usage=(30, 4)),
    ]


@pytest.mark.usefixtures("aws_keys")
async def test_converse_continues_with_its_own_content(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer(two_replies("converse")) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        model = resolve("bedrock/anthropic.claude-sonnet-4-v1:0")
        settings = heald.Settings(system="Be brief.", reasoning=Reason(effort="low"), max_output_tokens=4000)
        first, second = await run_two_turns(model, settings)
    assert (first.stop_reason, [call.name for call in first.tool_calls]) == ("tool_use", ["look"])
    assert (second.text, second.stop_reason) == ("A cat.", "end_turn")
    assert (second.usage.input, second.usage.output) == (30, 4)
    first_request, second_request = server.requests
    assert first_request.path == "/model/anthropic.claude-sonnet-4-v1%3A0/converse-stream"
    assert first_request.body["system"] == [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}]
    assert first_request.body["additionalModelRequestFields"] == {
        "thinking": {"type": "enabled", "budget_tokens": 2048}
    }
    assert first_request.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] == {"json": LOOK.input_schema}
    assert second_request.body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm. ", "signature": "c2lnbmF0dXJl"}}},
                {"text": "I look."},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "look", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "A cat."}]}},
                {"cachePoint": {"type": "default"}},
            ],
        },
    ]


def botocore_signature(request: ReceivedRequest, url: str) -> str:
    """The signature that botocore makes for a request that arrived, at the time that the request names."""
    auth, sent = import_module("botocore.auth"), import_module("botocore.awsrequest")
    credentials = import_module("botocore.credentials").Credentials(
        "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    )
    signer: Any = auth.SigV4Auth(credentials, "bedrock", "eu-west-1")
    host = url.removeprefix("http://")
    headers = {"content-type": request.headers["content-type"], "host": host}
    again: Any = sent.AWSRequest("POST", url + request.path, headers=headers, data=request.content)
    again.context["timestamp"] = request.headers["x-amz-date"]
    again.headers["X-Amz-Date"] = request.headers["x-amz-date"]
    return str(signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again))


@pytest.mark.usefixtures("aws_keys")
@pytest.mark.parametrize(("provider", "wire"), [("bedrock", "converse"), ("bedrock-anthropic", "bedrock-messages")])
async def test_what_arrives_has_the_right_signature(provider: str, wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer(two_replies(wire)) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        _, second = await run_two_turns(resolve(f"{provider}/anthropic.claude-3-haiku-v1:0"))
        assert second.text == "A cat."
        for request in server.requests:
            assert "Credential=AKIDEXAMPLE/" in request.headers["authorization"]
            signature = request.headers["authorization"].rpartition("Signature=")[2]
            assert signature == botocore_signature(request, server.url)


async def test_bedrock_with_a_bearer_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-abc123")
    async with ScriptedServer(two_replies("bedrock-messages")) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        await run_two_turns(resolve("bedrock-anthropic/anthropic.claude-3-haiku-v1:0"))
    request = server.requests[0]
    assert request.headers["authorization"] == "Bearer bedrock-api-key-abc123"
    assert request.path.endswith("/invoke-with-response-stream")
    assert request.body["anthropic_version"] == "bedrock-2023-05-31"
    assert not {"model", "stream"} & request.body.keys()


async def test_bedrock_without_credentials_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([]) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        with pytest.raises(AuthenticationFailed, match="AWS_ACCESS_KEY_ID"):
            await run_two_turns(resolve("bedrock/amazon.nova-lite-v1:0"))
    assert server.requests == []


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="AWS_REGION"):
        resolve("bedrock/m")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert resolve("bedrock/m").base_url == "https://bedrock-runtime.us-west-2.amazonaws.com"
    assert cloud_auth.region_of(resolve("bedrock/m").url) == "us-west-2"
    with pytest.raises(ConfigurationError, match="GOOGLE_CLOUD_PROJECT"):
        resolve("vertex/gemini-3-pro")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    assert resolve("vertex/gemini-3-pro").base_url == (
        "https://aiplatform.googleapis.com/v1/projects/p1/locations/global/publishers/google"
    )
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")
    assert resolve("vertex-anthropic/claude-sonnet-4@20250514").url == (
        "https://europe-west1-aiplatform.googleapis.com/v1/projects/p1/locations/europe-west1/publishers/anthropic"
        "/models/claude-sonnet-4@20250514:streamRawPredict"
    )


@pytest.mark.parametrize(
    ("package", "model", "extra"), [("aws", "bedrock/m", "bedrock"), ("azure", "azure/m", "azure")]
)
def test_a_missing_library_is_named(package: str, model: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")

    def is_installed(cloud: str) -> bool:
        return cloud != package

    monkeypatch.setattr("heald.providers.cloud_auth.is_installed", is_installed)
    with pytest.raises(MissingKey, match=rf"heald\[{extra}\]"):
        resolve(model).require_key()


@pytest.mark.usefixtures("aws_keys")
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda: Reply([amazon_event("throttlingException", {"message": "Slow."}, "exception")]), RateLimited),
        (lambda: Reply.json({"message": "The security token is invalid."}, 403), ProviderError),
    ],
)
async def test_failures(
    reply: Callable[[], Reply], error: type[ProviderError], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedServer([reply()]) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        with pytest.raises(error):
            await run_two_turns(resolve("bedrock/amazon.nova-lite-v1:0"))
    assert len(server.requests) == 1


@pytest.mark.usefixtures("aws_keys")
@pytest.mark.parametrize("wire", ["converse", "bedrock-messages"])
async def test_a_stream_that_is_cut_off_is_never_complete(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = wire_stream(wire, text="I look.", calls=[CALL])
    provider = "bedrock" if wire == "converse" else "bedrock-anthropic"
    ends = len(events) - 2  # before the event with the stop reason
    replies = [Reply(events[:end], content_type=AMAZON_STREAM) for end in range(ends)]
    async with ScriptedServer(replies) as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        for _ in range(ends):
            with pytest.raises(ProviderError):
                await run_two_turns(resolve(f"{provider}/anthropic.claude-3-haiku-v1:0"))


def service_account(token_uri: str, folder: Path) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "account.json"
    fields = {"type": "service_account", "client_email": "a@p1.iam.gserviceaccount.com", "private_key_id": "1"}
    file.write_text(json.dumps(fields | {"private_key": pem.decode(), "token_uri": token_uri, "project_id": "p1"}))
    return str(file)


@pytest.mark.parametrize(
    ("provider", "wire", "path"),
    [
        ("vertex", "gemini", "/publishers/google/models/m:streamGenerateContent?alt=sse"),
        ("vertex-anthropic", "vertex-messages", "/publishers/anthropic/models/m:streamRawPredict"),
    ],
)
async def test_vertex_with_a_service_account(
    provider: str, wire: str, path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tokens = {"/token": {"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"}}
    async with ScriptedServer(two_replies(wire), facts=tokens) as server:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", service_account(f"{server.url}/token", tmp_path))
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
        monkeypatch.setenv("VERTEX_BASE_URL", server.url)
        _, second = await run_two_turns(resolve(f"{provider}/m"))
    assert second.text == "A cat."
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer ya29.token"] * 2
    assert server.requests[0].path == f"/v1/projects/p1/locations/global{path}"
    assert len(server.fact_requests) == 1  # the token is kept
    if wire == "vertex-messages":
        assert server.requests[0].body["anthropic_version"] == "vertex-2023-10-16"
        assert "model" not in server.requests[0].body


async def test_vertex_without_credentials_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    with pytest.raises(AuthenticationFailed, match="gcloud auth"):
        await run_two_turns(resolve("vertex/m"))


async def test_azure_with_a_managed_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        if request.path.startswith("/identity"):
            return Reply.json({"access_token": "entra-token", "expires_on": "4102444800", "token_type": "Bearer"})
        return wire_reply("responses", text="Hello.")

    async with ScriptedServer(answer) as server:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/identity")
        monkeypatch.setenv("IDENTITY_HEADER", "secret")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        result = await heald.Agent("azure/gpt-5").run("Hello?")
    assert result.text == "Hello."
    sent = [request for request in server.requests if request.path == "/openai/v1/responses"]
    assert sent[0].headers["authorization"] == "Bearer entra-token"
    assert "api-key" not in sent[0].headers


async def test_azure_with_a_key_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([wire_reply("responses", text="Hello.")]) as server:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-123")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        await heald.Agent("azure/gpt-5").run("Hello?")
    assert server.requests[0].headers["api-key"] == "azure-key-123"
