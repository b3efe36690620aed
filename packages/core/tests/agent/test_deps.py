"""`ToolContext.deps`: what a program gives to a request for its tools."""

import asyncio
from typing import Any, Protocol, runtime_checkable

import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.core.events import QuestionAsked
from heald.core.payload import Payload
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions

S = heald.testing.ScriptedModel


class Shop:
    def __init__(self, name: str = "shop") -> None:
        self.name = name
        self.sold: list[str] = []


@runtime_checkable
class Named(Protocol):
    name: str


@heald.tool(effect="write")
async def sell(item: str, ctx: heald.ToolContext[Shop]) -> str:
    """Sell an item."""
    ctx.deps.sold.append(item)
    return f"{ctx.deps.name} sold {item}"


@heald.tool
def name_it(ctx: heald.ToolContext[Named]) -> str:
    """Name of the shop."""
    return ctx.deps.name


@heald.tool
def anything(ctx: heald.ToolContext) -> str:
    """Whatever there is."""
    return repr(ctx.deps)


def selling(*items: str) -> list[Any]:
    return [[S.call("sell", item=item) for item in items], "Done."]


def seller(*items: str) -> heald.Agent:
    return heald.Agent(S(selling(*items)), tools=[sell])


async def test_every_way_to_send_a_request_gives_its_tools_the_deps() -> None:
    shop = Shop()
    await seller("a").run("Go.", deps=shop)
    await seller("b").send("Go.", deps=shop).result()
    async for _ in seller("c").stream("Go.", deps=shop):
        pass
    await asyncio.to_thread(lambda: seller("d").run_sync("Go.", deps=shop))
    assert shop.sold == ["a", "b", "c", "d"]


async def test_each_exchange_has_its_own() -> None:
    agent = heald.Agent(S([*selling("a"), *selling("b")]), tools=[sell])
    first, second = Shop(), Shop()
    waiting = [agent.send("Go.", deps=first), agent.send("Go on.", deps=second)]
    for exchange in waiting:
        await exchange.result()
    assert (first.sold, second.sold) == (["a"], ["b"])


@pytest.mark.parametrize("deps", [None, "a text", object()])
async def test_a_request_without_the_type_that_a_tool_names_is_refused(deps: object) -> None:
    model = S(selling("a"))
    with pytest.raises(ConfigurationError, match=r"The tool 'sell': deps must be a Shop, not .*; pass it to run"):
        await heald.Agent(model, tools=[sell]).run("Go.", deps=deps)
    assert model.requests == []


async def test_a_protocol_and_no_type_at_all_are_accepted() -> None:
    agent = heald.Agent(S([[S.call("name_it"), S.call("anything")], "Done."]), tools=[name_it, anything])
    result = await agent.run("Go.", deps=Shop("corner"))
    named, plain = result.messages[2].tool_results
    assert named.text == "corner"
    assert "Shop object" in plain.text
    agent = heald.Agent(S([[S.call("anything")], "Done."]), tools=[anything])
    assert (await agent.run("Go.")).messages[2].tool_results[0].text == "None"


async def test_sub_agents_inherit_them_and_name_what_they_need() -> None:
    shop = Shop()
    middle = heald.Agent(S([[S.call("low", prompt="Go.")], "Done."]), tools=[seller("a").as_tool("low", "Sells.")])
    top = heald.Agent(S([[S.call("middle", prompt="Go.")], "Done."]), tools=[middle.as_tool("middle", "Sells.")])
    with pytest.raises(ConfigurationError, match="The tool 'middle': deps must be a Shop, not None"):
        await top.run("Go.")
    await top.run("Go.", deps=shop)
    assert shop.sold == ["a"]


async def test_middleware_sees_them() -> None:
    names: list[str] = []

    async def note(invocation: heald.Invocation, call_next: heald.types.Next) -> object:
        names.append(invocation.context.deps.name)
        return await call_next(invocation)

    await heald.Agent(S(selling("a")), tools=[sell], middleware=[note]).run("Go.", deps=Shop())
    assert names == ["shop"]


async def test_a_stored_session_has_a_default() -> None:
    default, other = Shop("default"), Shop("other")
    agent = heald.Agent(S([*selling("a"), *selling("b")]), tools=[sell])
    async with heald.open_session("s", agent, store="memory:", deps=default) as session:
        await session.run("Go.")
        await session.run("Go.", deps=other)
    assert (default.sold, other.sold) == (["a"], ["b"])


async def test_an_exchange_that_is_continued_gets_those_of_the_next_process() -> None:
    store = MemoryStore()
    await Sessions(store).create(session="s")
    session = await Session.open(store, "s", model=S([["x" * 400]], piece=2, pause=0.01), tools=[sell], deps=Shop())
    started = asyncio.Event()
    session.subscribe(lambda _: started.set(), types=["text_delta"])
    session.send("Go.")
    await started.wait()
    await session.hand_over()
    shop = Shop("next")
    session = await Session.open(store, "s", model=S(selling("a")), tools=[sell], deps=shop)
    await session.resumed[0].result()
    await session.close()
    assert shop.sold == ["a"]


async def test_a_tool_is_tested_without_an_agent() -> None:
    @heald.tool
    async def ask(ctx: heald.ToolContext[Shop]) -> str:
        """Ask."""
        ctx.workspace.write("a.txt", ctx.deps.name, on_change=lambda _: None)
        ctx.emit(QuestionAsked("q", "c", "Which?", []))
        return await ctx.ask("Which?")

    events: list[Payload] = []
    context = heald.testing.tool_context(Shop(), answers=["The red one."], events=events)
    assert await ask(context) == "The red one."
    assert context.workspace.read_text("a.txt") == "shop"
    assert [event.type for event in events] == ["question_asked"]
    with pytest.raises(heald.ToolFault, match="no answer to 'Which\\?'"):
        await ask(context)
