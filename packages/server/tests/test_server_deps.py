"""`App(deps=…)`: what tools need, made of the request; and `connect(deps=…)` for tools that run in the client."""

import asyncio
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from starlette.requests import HTTPConnection

import heald
import heald_server
from heald_server.session_request import current_scope, deps_of

S = heald.testing.ScriptedModel


@dataclass
class User:
    name: str
    language: str


@heald.tool(effect="read")
def who(ctx: heald.ToolContext[User]) -> str:
    """The user."""
    return f"{ctx.deps.name} speaks {ctx.deps.language}"


def an_agent() -> heald.Agent:
    return heald.Agent(S([[S.call("who")], "I see."] * 4), tools=[who])


async def user_of(request: heald_server.SessionRequest) -> User:
    await asyncio.sleep(0)
    if request.connection is None:
        return User(request.owner, "nothing: it was continued")
    return User(request.owner, request.connection.headers.get("accept-language", "anything"))


def owner_of(connection: HTTPConnection) -> str | None:
    return connection.headers.get("x-user") or connection.headers.get("authorization", "").removeprefix("Bearer ")


async def answers(client: aiohttp.ClientSession, session: str) -> list[str]:
    """The results of the calls in a session, once its exchange is over."""
    async with client.get(f"/sessions/{session}/events") as answer:
        async for line in answer.content:
            if line.startswith(b"event: exchange_response"):
                break
    async with client.get(f"/sessions/{session}/messages") as answer:
        messages = (await answer.json())["messages"]
    return [block["content"] for message in messages if message["role"] == "tool" for block in message["content"]]


class Served:
    """An agent that is served for one test."""

    def __init__(self, agent: heald.Agent, **options: Any) -> None:
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = heald_server.serve_async(agent, port=0, ready=self._address.set_result, **options)
        self._task = asyncio.create_task(serving)

    async def __aenter__(self) -> str:
        return (await self._address).partition("/#")[0]

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.mark.parametrize("user", ["ann", "bob"])
async def test_they_are_made_of_the_request_that_starts_the_exchange(user: str) -> None:
    async with Served(an_agent(), auth=owner_of, deps=user_of) as address:
        headers = {"x-user": user, "Accept-Language": f"language-of-{user}"}
        async with aiohttp.ClientSession(address, headers=headers) as client:
            async with client.post("/sessions", json={}) as answer:
                session = (await answer.json())["id"]
            async with client.post(f"/sessions/{session}/messages", json={"text": "Who?"}) as answer:
                assert answer.status == 202, await answer.text()
            assert await answers(client, session) == [f"{user} speaks language-of-{user}"]


async def test_they_are_made_for_a_socket_and_for_the_openai_protocol_too() -> None:
    async with Served(an_agent(), auth=owner_of, deps=user_of) as address:
        async with heald_server.connect(address, "ann") as client:
            result = await client.run("Who?")
            assert result.messages[2].tool_results[0].text.startswith("ann speaks ")
        async with aiohttp.ClientSession(address, headers={"x-user": "bob"}) as http:
            for path, body in (
                ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Who?"}]}),
                ("/v1/responses", {"input": "Who?"}),
            ):
                async with http.post(path, json={"model": "heald", **body}) as answer:
                    assert answer.status == 200, await answer.text()
                    assert "I see." in await answer.text()


async def test_a_request_without_what_a_tool_needs_is_refused() -> None:
    async with Served(an_agent(), auth=owner_of) as address, heald_server.connect(address, "ann") as client:
        with pytest.raises(heald.HealdError, match="deps must be a User"):
            await client.run("Who?")


async def test_an_exchange_that_is_continued_gets_them_without_a_connection() -> None:
    store = heald.sessions.MemoryStore()
    await heald.sessions.Sessions(store).create(session="s", owner="ann")
    session = await heald.sessions.Session.open(store, "s", model=S([["x" * 400]], piece=2, pause=0.01))
    started = asyncio.Event()
    session.subscribe(lambda _: started.set(), types=["text_delta"])
    session.send("Who?")
    await started.wait()
    await session.hand_over()  # as a process that ends
    async with (
        Served(an_agent(), store=store, auth=owner_of, deps=user_of) as address,
        aiohttp.ClientSession(address, headers={"x-user": "ann"}) as http,
    ):
        assert await answers(http, "s") == ["ann speaks nothing: it was continued"]


async def test_a_request_that_opens_a_session_is_not_the_one_of_the_exchange_that_continues_in_it() -> None:
    info = heald.sessions.SessionInfo(id="s", owner="ann")
    scope = {"type": "http", "headers": [(b"accept-language", b"no")]}
    remembered = current_scope.set(scope)
    assert await deps_of(user_of, info) == User("ann", "no")
    assert await deps_of(user_of, info, is_continued=True) == User("ann", "nothing: it was continued")
    current_scope.reset(remembered)


async def test_tools_that_run_in_the_client_get_those_of_the_client() -> None:
    async with Served(heald.Agent(S([[S.call("who")], "I see."] * 4)), auth=owner_of) as address:
        async with heald_server.connect(address, "ann", tools=[who], deps=User("default", "a")) as client:
            result = await client.run("Who?")
            assert result.messages[2].tool_results[0].text == "default speaks a"
            result = await client.run("Who?", deps=User("other", "b"))
            assert result.messages[2].tool_results[0].text == "other speaks b"
        async with heald_server.connect(address, "ann", tools=[who]) as client:
            with pytest.raises(heald.ConfigurationError, match="The tool 'who': deps must be a User, not None"):
                await client.run("Who?")


async def test_a_client_with_a_type_gets_values_of_it() -> None:
    agent = heald.Agent(S(["[1, 2]", '{"a": 1}']))
    async with (
        Served(agent, auth=owner_of) as address,
        heald_server.connect(address, "ann", output=list[int]) as client,
    ):
        assert (await client.run("Count.")).output == [1, 2]
        assert (await client.stream("Count.", output=dict[str, int]).result()).output == {"a": 1}
