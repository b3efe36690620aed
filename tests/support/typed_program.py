"""A program that uses each public module, for the type checkers alone: no value of a result is `Any`.

`test_types.py` has pyright and mypy read it. Each `assert_type` is a promise of the types; nothing of it is run.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, TypedDict, assert_type

import heald
import heald_check
import heald_evals
import heald_forges
import heald_server
import heald_studio


@dataclass
class Advice:
    coat: str
    layers: int


class Forecast(TypedDict):
    city: str
    degrees: float


class Shop:
    """What the tools of a shop need."""

    def price(self, item: str) -> float:
        return float(len(item))


@heald.tool
async def price(item: str, ctx: heald.ToolContext[Shop]) -> float:
    """Price of an item."""
    assert_type(ctx.deps, Shop)
    return ctx.deps.price(item)


@heald.tool(effect="none")
def double(number: int, *, times: int = 1) -> int:
    """Double a number."""
    return number << times


@heald.tool
async def count(upto: int) -> AsyncIterator[str]:
    """Count."""
    for number in range(upto):
        yield str(number)


def functions_stay_callable() -> None:
    assert_type(double(2, times=3), int)
    assert_type(double.name, str)


async def tools_are_called(shop: Shop) -> None:
    assert_type(await price("tea", ctx=heald.testing.tool_context(shop)), float)
    async for number in count(3):
        assert_type(number, str)


async def outputs(agent: heald.Agent, advisor: heald.Agent[Advice]) -> None:
    assert_type((await agent.run("Hi")).output, None)
    assert_type((await agent.run("Hi", output=Advice)).output, Advice)
    assert_type((await agent.run("Hi", output=list[int])).output, list[int])
    assert_type((await agent.run("Hi", output=Forecast)).output, Forecast)
    assert_type((await agent.run("Hi", output=Advice | int)).output, Advice | int)
    assert_type((await agent.run("Hi", output=Literal["a", "b"])).output, Literal["a", "b"])
    assert_type((await advisor.run("Hi")).output, Advice)
    assert_type((await advisor.run("Hi", output=int)).output, int)
    assert_type(advisor.run_sync("Hi", deps=Shop()).output, Advice)
    assert_type((await advisor.send("Hi").result()).output, Advice)
    assert_type((await advisor.send("Hi", output=str).result()).output, str)
    assert_type((await advisor.stream("Hi").result()).output, Advice)
    assert_type((await advisor.stream("Hi", output=bool).result()).output, bool)
    assert_type(await advisor.as_tool("ask", "Asks.")("Hi"), Advice)
    assert_type(await agent.as_tool("ask", "Asks.")("Hi"), str)


def agents() -> None:
    model = heald.testing.ScriptedModel(["Hello."])
    assert_type(heald.Agent(model), heald.Agent[None])
    assert_type(heald.Agent(model, output=Advice), heald.Agent[Advice])
    assert_type(heald.Agent(model, output=Advice | None), heald.Agent[Advice | None])
    assert_type(heald.Agent(model, tools=[price, double, count, "files"]), heald.Agent[None])
    advisor = heald.Agent(model, output=Advice)
    any_agent: heald.AgentInterface[object] = advisor
    heald.Agent(model, tools=[any_agent.as_tool("ask", "Asks.")])


async def sessions(advisor: heald.Agent[Advice]) -> None:
    async with heald.open_session("a", advisor, store="memory:", deps=Shop()) as session:
        assert_type(session, heald.sessions.Session[Advice])
        assert_type((await session.run("Hi")).output, Advice)
    opened = await heald.open_session("a", advisor, store="memory:")
    assert_type((await opened.run("Hi", output=int)).output, int)


async def servers(advisor: heald.Agent[Advice]) -> None:
    def deps_of(request: heald_server.SessionRequest) -> Shop:
        assert_type(request.owner, str)
        return Shop()

    heald_server.App(advisor, deps=deps_of)
    async with heald_server.connect("http://127.0.0.1:8000", output=Advice) as remote:
        assert_type((await remote.run("Hi")).output, Advice)
        assert_type((await remote.run("Hi", output=int)).output, int)
        assert_type((await remote.send("Hi").result()).output, Advice)
    async with heald_server.connect("http://127.0.0.1:8000") as plain:
        assert_type((await plain.run("Hi")).output, None)


async def events(agent: heald.Agent) -> None:
    log: list[heald.events.Event] = []
    agent.subscribe(log.append)
    async for event in agent.stream("Hi"):
        if event.type == "text_delta":
            assert_type(event.data, heald.events.TextDelta)
            print(event.data.text)
        elif event.type == "tool_result":
            assert_type(event.data, heald.events.ToolResult)
        elif event.type == "unknown":
            assert_type(event.data, heald.events.Unknown)
        match event.type:
            case "exchange_response":
                assert_type(event.data, heald.events.ExchangeResponse)
            case _:
                assert_type(event.seq, int)
        log.append(event)
    assert_type(heald_check.check_log(log), list[heald_check.Violation])
    decoded = heald.events.decode_event(b"{}")
    if decoded.type == "user_message":
        assert_type(decoded.data.message, heald.Message)


def on_text(event: heald.events.EventOf[heald.events.TextDelta]) -> str:
    return event.data.text


async def errors(agent: heald.Agent) -> None:
    try:
        await agent.run("Hi")
    except heald.RateLimited as error:
        assert_type(error.retry_after, float | None)
    except heald.HealdError as error:
        assert_type(error.info(), heald.ErrorInfo)


async def middleware(invocation: heald.Invocation, call_next: heald.types.Next) -> object:
    return await call_next(invocation)


def callbacks(prompt: heald.Prompt, on_approval: heald.OnApproval, around: heald.Middleware) -> None:
    heald.Agent("m", on_approval=on_approval, middleware=[around, middleware]).run_sync(prompt)


def plugins(usage: heald.Usage) -> heald.plugins.Usage:
    return usage


def providers() -> heald.providers.ProviderSession:
    return heald.providers.open_provider_session("m", messages=[heald.user_message("Hi")])


def studio(picture: bytes) -> heald_studio.InputPicture:
    return heald_studio.read_picture(picture)


def evaluations(outcome: heald_evals.CaseOutcome) -> str:
    return str(outcome)


async def pull_requests(address: str) -> str:
    forge = await heald_forges.open_forge(address)
    assert_type(await forge.find_pull_request("topic"), heald_forges.PullRequest | None)
    return forge.kind
