"""K01 and M01 to M05: a key is in no event, whatever a provider says, and no model spends more than it may."""

import logging
import traceback
from pathlib import Path

import pytest
from security_support import KEY, Stage, reply_with_calls, written

import heald
from heald.agent.agent import Agent
from heald.core.errors import HealdError
from heald.core.events import RetryScheduled, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.providers.model import Model
from heald.testing.server import Cut, Hang, Reply, ScriptedServer
from heald.testing.streams import sse_event, wire_reply
from log_support import Log

SAID = f"Incorrect API key provided: {KEY}. You can find yours at the console."
QUICK = heald.Retry(attempts=2, base=0.01)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


async def failing(
    model: Model, caplog: pytest.LogCaptureFixture, *secrets: str, timeouts: heald.Timeouts | None = None
) -> Log:
    """An exchange that fails, and whose key is nowhere in what it tells."""
    with caplog.at_level(logging.DEBUG):
        agent = Agent(model, tools=["todo"], retry=QUICK, timeouts=timeouts)
        log = Log(agent)
        with pytest.raises(HealdError) as caught:
            await agent.run("Go.")
        await agent.close()
    log.prove(secrets=secrets)
    trace = "".join(traceback.format_exception(caught.value))
    for secret in secrets:
        for text in (str(caught.value), repr(caught.value), trace, written(log.events), caplog.text, repr(model)):
            assert secret not in text
    return log


ERRORS = {
    **{
        str(status): Reply.json({"error": {"message": SAID, "code": KEY}}, status)
        for status in (400, 401, 403, 429, 500)
    },
    "a page": Reply([f"<html><body>{SAID}</body></html>".encode()], status=500, content_type="text/html"),
    "a page with 200": Reply([f"<html><body>{SAID}</body></html>".encode()], content_type="text/html"),
    "in the stream": Reply([sse_event({"error": {"message": SAID, "code": 401}})]),
    "cut off": Reply([b"data: {" + KEY.encode(), Cut()]),
    "a redirect": Reply([SAID.encode()], status=307, headers={"location": f"http://127.0.0.1:1/{KEY}"}),
    "in a header": Reply.json({"error": {"message": "no"}}, 401, {"x-request-id": KEY, "retry-after": KEY}),
}


@pytest.mark.parametrize("error", ERRORS)
async def test_k01_a_provider_that_repeats_the_key(error: str, stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    async with ScriptedServer(lambda _: ERRORS[error]) as server:
        await failing(Model("m", base_url=f"{server.url}/v1", api_key=KEY), caplog, KEY)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in server.requests[0].path
        assert all(request.path == server.requests[0].path for request in server.requests)


@pytest.mark.parametrize("error", ["401", "a page", "in the stream", "a redirect"])
async def test_k01_the_command_does_not_report_it_either(error: str, stage: Stage) -> None:
    for words in (["--json"], []):
        async with ScriptedServer(lambda _: ERRORS[error]) as server:
            ran = await stage.heald(server, "--api-key-env", "MY_KEY", "--max-seconds", "3", *words, MY_KEY=KEY)
        assert ran.code in (1, 3)
        assert KEY not in ran.out + ran.err
        assert "Traceback" not in ran.err


async def test_k01_nobody_there_no_tls_and_silence(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    timeouts = heald.Timeouts(connect=2, socket=0.3, content=0.3)
    await failing(Model("m", base_url="http://127.0.0.1:1/v1", api_key=KEY), caplog, KEY)
    await failing(Model("m", base_url="http://no-such-host.invalid/v1", api_key=KEY), caplog, KEY, timeouts=timeouts)
    async with ScriptedServer(lambda _: Reply([Hang()])) as server:
        await failing(Model("m", base_url=f"{server.url}/v1", api_key=KEY), caplog, KEY, timeouts=timeouts)
        secure = server.url.replace("http:", "https:")
        await failing(Model("m", base_url=f"{secure}/v1", api_key=KEY), caplog, KEY, timeouts=timeouts)


@pytest.mark.parametrize(
    "url", [f"http://x:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}", f"http://{KEY}@h/#{KEY}"]
)
async def test_k01_a_key_in_the_address(stage: Stage, url: str) -> None:
    with pytest.raises(HealdError) as caught:
        Model("m", base_url=url)
    assert KEY not in "".join(traceback.format_exception(caught.value)).replace(url, "")
    assert KEY not in str(caught.value)
    ran = await stage.run("--model", "m", "--base-url", url, "--json")
    assert ran.code == 2
    assert KEY not in ran.out + ran.err


async def test_k01_a_secret_in_a_header_of_ones_own(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    reply = Reply.json({"error": {"message": SAID}}, 401)
    async with ScriptedServer(lambda _: reply) as server:
        headers = {"cf-access-client-secret": KEY}
        await failing(Model("m", base_url=f"{server.url}/v1", headers=headers), caplog, KEY)


# --- money and load --------------------------------------------------------------------------------------------------


@heald.tool
async def again() -> str:
    """Does it again."""
    return "again"


@pytest.mark.parametrize(("budget", "turns"), [(None, 20), (heald.Budget(turns=1), 1), (heald.Budget(turns=7), 7)])
async def test_m01_a_model_that_never_ends(budget: heald.Budget | None, turns: int, stage: Stage) -> None:
    async with ScriptedServer(lambda _: reply_with_calls(("again", {}))) as server:
        agent = Agent(Model("m", base_url=f"{server.url}/v1"), tools=[again], budget=budget)
        log = Log(agent)
        result = await agent.run("Go.")
        await agent.close()
        assert len(server.requests) == turns
    assert (result.status, result.limit, result.turns) == ("limit", "turns", turns)
    log.prove()


async def test_m01_errors_do_not_count_less(stage: Stage) -> None:
    """Calls of tools that do not exist, and arguments that are none, are turns like others."""
    async with ScriptedServer(lambda _: reply_with_calls(("nothing", {}), ("again", {"no": 1}))) as server:
        agent = Agent(Model("m", base_url=f"{server.url}/v1"), tools=[again], budget=heald.Budget(turns=4))
        log = Log(agent)
        result = await agent.run("Go.")
        await agent.close()
        assert len(server.requests) == 4
    assert result.status == "limit"
    log.prove()


async def test_m02_a_turn_that_used_too_much_is_the_last(stage: Stage) -> None:
    reply = wire_reply("chat", calls=[ToolCall(id="c1", name="again", input={})], usage=(11, 10_000_000))
    async with ScriptedServer([reply]) as server:
        agent = Agent(Model("m", base_url=f"{server.url}/v1"), tools=[again], budget=heald.Budget(tokens=100_000))
        log = Log(agent)
        result = await agent.run("Go.")
        await agent.close()
        assert len(server.requests) == 1
    assert (result.status, result.limit) == ("limit", "tokens")
    assert log.of(ToolExecuting) == []
    assert [said.status for said in log.of(ToolResult)] == ["cancelled"]
    log.prove()


SPENT = {
    "anthropic": (
        "messages",
        {
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "x", "code": "enforced_spend_limit_reached"},
        },
    ),
    "anthropic, in words": (
        "messages",
        {"type": "error", "error": {"type": "rate_limit_error", "message": "You have reached your spend limit."}},
    ),
    "openai": (
        "chat",
        {
            "error": {
                "message": "You exceeded your current quota",
                "type": "insufficient_quota",
                "code": "insufficient_quota",
            }
        },
    ),
    "openai, billing": ("responses", {"error": {"message": "x", "code": "billing_hard_limit_reached"}}),
}


@pytest.mark.parametrize("case", SPENT)
async def test_m05_money_that_is_missing_is_not_requested_repeatedly(case: str, stage: Stage) -> None:
    wire, body = SPENT[case]
    async with ScriptedServer(lambda _: Reply.json(body, 429, {"retry-after": "0"})) as server:
        agent = Agent(Model("m", wire=wire, base_url=f"{server.url}/v1", api_key=KEY))
        log = Log(agent)
        with pytest.raises(HealdError) as caught:
            await agent.run("Go.")
        await agent.close()
        assert len(server.requests) == 1
    assert caught.value.code == "quota_exhausted"
    assert log.of(RetryScheduled) == []
    log.prove(secrets=[KEY])
