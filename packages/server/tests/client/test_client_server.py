"""The client on the real server: the same events as in a local session, whatever happens in between."""

import asyncio
import base64
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from client_bench import gathered, look, until
from client_served import OTHER, TOKEN, S, client, served
from cutting_proxy import cutting

import heald
import heald_server
from heald.core.envelope import Event
from heald.core.errors import ConnectionFailed
from heald.core.events import ApprovalRequested, ExchangeResponse, QuestionAsked
from heald.core.json import as_list, as_object
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald_check.checker import check_log
from heald_server.client.errors import NoRemoteSession, TokenRefused
from heald_server.client.timing import Timing
from heald_server.settings import ServerSettings

ASK = S.call("ask_user", question="Which?", suggestions=["red", "blue"])
TURNS = (
    ["Let me see. ", S.call("look", n=1), S.call("look", n=2)],
    [S.call("write_file", path="a/ü.txt", content="Grüße\n")],
    "Done.",
)


async def test_the_events_are_those_of_a_local_session(tmp_path: Path) -> None:
    local = Sessions(MemoryStore())
    info = await local.create(tools=["files"])
    session = await local.open(info.id, model=S(TURNS, piece=3), tools=["files", look])
    here = await gathered(session.stream("Go."))
    await session.close()
    async with served(tmp_path, *TURNS, piece=3) as server, heald_server.connect(server.url, TOKEN) as agent:
        heard: list[Event] = []
        agent.subscribe(heard.append)
        there = await gathered(agent.stream("Go."))
        assert there == heard == await server.log(agent)
        assert not check_log(there)
        assert [plain(event) for event in there] == [plain(event) for event in here]
        assert [message.role for message in agent.messages] == ["user", *["assistant", "tool"] * 2, "assistant"]


def plain(event: Event) -> tuple[object, ...]:
    """An event without what no two runs share: ids, times, durations."""
    data = msgspec.to_builtins(event.data)
    return (event.seq, event.type, event.layer, event.exchange is None, scrubbed(data))


_VARYING = {"id", "message_id", "block", "duration_ms", "client_request_id", "cause", "call_id", "native", "timestamp"}


def scrubbed(value: Any) -> Any:
    if isinstance(value, list):
        return [scrubbed(item) for item in as_list(value)]
    if not isinstance(value, dict):
        return value
    fields = as_object(value)
    return {name: scrubbed(fields[name]) for name in fields if name not in _VARYING or isinstance(fields[name], dict)}


async def test_a_result_has_its_files(tmp_path: Path) -> None:
    async with served(tmp_path, *TURNS, "Again.") as server:
        async with heald_server.connect(server.url, TOKEN) as agent:
            result = await agent.run("Go.")
            assert (result.text, result.files, result.turns) == ("Done.", {"a/ü.txt": "Grüße\n"}, 3)
            assert result.messages == agent.messages
        async with heald_server.connect(server.url, TOKEN, session=agent.session) as again:
            assert again.messages == result.messages
            result = await again.run("And?")
            assert (result.text, result.files) == ("Again.", {"a/ü.txt": "Grüße\n"})


async def test_two_hundred_random_disconnects(tmp_path: Path) -> None:
    turns = [[f"Turn {n}. " + "wörds " * 40, S.call("look", n=n)] for n in range(12)]
    async with cutting(cuts=200, longest=4000) as proxy:
        settings = ServerSettings(port=0, origins=(proxy.url,), goodbye_seconds=0.5)
        async with served(tmp_path, *turns, "Done.", settings=settings, piece=2, pause=0.002) as server:
            proxy.to = server.port
            agent = client(proxy.url, timing=Timing(patience=60, first=0.001, longest=0.02, dial=10, silence=10))
            heard: list[Event] = []
            agent.subscribe(heard.append)
            async with agent:
                events = await gathered(agent.stream("Go."))
                log = await server.log(agent)
                assert heard == log
                assert events == log
                assert not check_log(log)
            assert proxy.made == 200


async def test_cancel_and_disconnecting(tmp_path: Path) -> None:
    slow = "Slow. " * 200
    async with served(tmp_path, slow, slow, pause=0.01) as server, heald_server.connect(server.url, TOKEN) as agent:
        async with aclosing(agent.stream("Go.")) as events:
            async for event in events:
                if event.type == "text_delta":
                    break
        end = (await server.log(agent))[-1].data
        assert isinstance(end, ExchangeResponse)
        assert end.status == "cancelled"
        exchange = agent.send("Again.")
        await exchange.accepted()
        assert exchange.cancel("Enough.")
        assert (await exchange.result()).status == "cancelled"


async def test_approvals_and_questions(tmp_path: Path) -> None:
    async def decide(request: ApprovalRequested) -> heald.Approval:
        return heald.Approval(request.name == "change", arguments={"what": "b"})

    async def answer(question: QuestionAsked) -> str:
        return question.suggestions[1]

    turns = ([S.call("change", what="a")], [ASK], "Done.")
    async with served(tmp_path, *turns) as server:
        options: dict[str, Any] = {"permissions": "ask", "tools": ["change", "ask"]}
        async with heald_server.connect(server.url, TOKEN, on_approval=decide, on_question=answer, **options) as agent:
            result = await agent.run("Go.")
            said = str(result.messages)
            assert "changed b" in said
            assert "blue" in said


async def test_two_clients_on_one_session(tmp_path: Path) -> None:
    turns = ([ASK], "First.", "Second.")
    async with served(tmp_path, *turns) as server, server.client() as alice:
        heard: list[list[Event]] = [[], []]
        alice.subscribe(heard[0].append)
        await alice.open()
        async with server.client(alice.session) as bob:
            bob.subscribe(heard[1].append)
            first = alice.send("A")
            await until(lambda: bob.questions)
            second = bob.send("B")
            await second.accepted()
            bob.answer(bob.questions[0].question, "blue")
            assert (await first.result()).text == "First."
            assert (await second.result()).text == "Second."
            log = await server.log(alice)
            await until(lambda: len(heard[0]) == len(heard[1]) == len(log))
            assert heard == [log, log]
            assert alice.messages == bob.messages
            assert not check_log(log)


async def test_closing_keeps_the_exchange_and_another_picks_it_up(tmp_path: Path) -> None:
    async with served(tmp_path, [ASK], "Blue it is.") as server:
        async with server.client() as first:
            exchange = first.send("Go.", client_request_id="mine")
            await until(lambda: first.questions)
        async with server.client(first.session) as second:
            current = second.current
            assert current is not None
            assert current.id == exchange.id
            same = second.send("Go.", client_request_id="mine")
            second.answer(second.questions[0].question, "blue")
            result = await current.result()
            assert result.text == "Blue it is."
            assert await same.result() == result
            assert result.messages == second.messages


async def test_a_server_that_is_restarted(tmp_path: Path) -> None:
    turns = ("One.", "Two.")
    async with served(tmp_path, *turns) as server:
        agent = server.client()
        heard: list[Event] = []
        agent.subscribe(heard.append)
        assert (await agent.run("Hi")).text == "One."
        settings = server.context.settings
    asked = agent.send("Hi again")
    async with served(tmp_path, *turns, settings=settings) as server:
        assert (await asked.result()).text == "One."  # a fresh script, the same conversation
        assert heard == await server.log(agent)
        assert [message.text for message in agent.messages] == ["Hi", "One.", "Hi again", "One."]
        await agent.close()


async def test_a_token_of_somebody_else_and_none(tmp_path: Path) -> None:
    async with served(tmp_path, "Hello.") as server:
        async with server.client() as agent:
            await agent.run("Hi")
        with pytest.raises(NoRemoteSession):
            async with heald_server.connect(server.url, OTHER, session=agent.session):
                pass
        with pytest.raises(TokenRefused):
            async with heald_server.connect(server.url, "wrong", session=agent.session):
                pass
        with pytest.raises(TokenRefused):
            async with heald_server.connect(server.url) as nobody:
                await nobody.run("Hi")


async def test_a_cursor_beyond_the_log(tmp_path: Path) -> None:
    """The server's log is an older copy of what the client has heard."""
    async with served(tmp_path, "One.", "Two.", "Three.") as server, server.client() as agent:
        await agent.run("Hi")
        assert agent.session is not None
        subscription = agent.subscribe(lambda _: None)
        agent._mirror.cursor.seq += 1000  # pyright: ignore[reportPrivateUsage]
        await agent._connection.close()  # pyright: ignore[reportPrivateUsage]
        assert (await agent.run("Hi")).text == "Two."
        assert subscription.dropped_at is not None
        assert [message.text for message in agent.messages] == ["Hi", "One.", "Hi", "Two."]


async def test_missing(tmp_path: Path) -> None:
    async with served(tmp_path, [ASK], "Done.") as server:
        agent = server.client(timing=Timing(patience=0.5, first=0.01, longest=0.05, dial=1))
        exchange = agent.send("Go.")
        await until(lambda: agent.questions)
    with pytest.raises(ConnectionFailed, match="pick it up with connect"):
        await exchange.result()
    await agent.close()


async def test_a_picture_too_large_for_the_socket(tmp_path: Path) -> None:
    picture = heald.Image(data=base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(700 * 1024)).decode())
    async with served(tmp_path, "Seen.") as server, server.client() as agent:
        assert (await agent.run(["Look", picture, picture])).text == "Seen."
        assert await asyncio.wait_for(server.log(agent), 60)
        assert agent.messages[0].content[1] == picture
