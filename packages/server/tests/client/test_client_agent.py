"""The agent interface over a connection: what is asked, what comes back, who is asked."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest
from client_bench import Server, call, change, gathered, look, serving, until

import heald
from heald.agent.agent import Agent
from heald.agent.background_loop import BackgroundLoop
from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, ConnectionFailed, RateLimited
from heald.core.events import ApprovalRequested, ExchangeResponse, QuestionAsked
from heald.tools.approvals import NotPending
from heald_server.client.errors import ServerRefused
from heald_server.client.exchange import RemoteExchange

ASK = call("ask_user", question="Which?", suggestions=["red", "blue"])
TURNS = (["Let me look. ", call("look", n=1), call("look", n=2)], "It is Füße, 🙂 and done.")


async def there(server: Server, exchange: RemoteExchange) -> AgentResult:
    """The outcome as the agent on the server has it."""
    request = server.only.agent.find_request(exchange.request)
    assert request is not None
    return await request.result()


async def test_the_events_are_those_of_the_log() -> None:
    async with serving(*TURNS, tools=[look]) as server, server.client() as agent:
        heard: list[Event] = []
        agent.subscribe(heard.append)
        events = await gathered(agent.stream("Look twice."))
        assert events == server.only.log == heard
        assert events[-1].type == "exchange_response"
        assert agent.session == server.only.agent.session
        assert agent.messages == server.only.agent.messages


async def test_a_result_has_all_that_a_local_one_has() -> None:
    script = (["I write. ", call("write_file", path="a/b.txt", content="Grüße\n")], "Written.")
    async with serving(*script, tools=["files"]) as server, server.client() as agent:
        exchange = agent.send("Write.")
        result = await exchange.result()
        assert msgspec.structs.replace(result, messages=[]) == await there(server, exchange)
        assert result.messages == server.only.agent.messages
        assert (result.text, result.files) == ("Written.", {"a/b.txt": "Grüße\n"})
        assert result.exchange == exchange.id == server.only.log[0].exchange


async def test_the_conversation_goes_on() -> None:
    async with serving("One.", "Two.") as server, server.client() as agent:
        assert (await agent.run("First.")).text == "One."
        assert (await agent.run("Second.")).text == "Two."
        assert [message.text for message in agent.messages] == ["First.", "One.", "Second.", "Two."]
        assert len(server.sessions) == 1


async def test_disconnecting_a_stream_cancels() -> None:
    async with serving("A long answer. " * 50) as server, server.client() as agent:
        async with aclosing(agent.stream("Go on.")) as events:
            async for event in events:
                if event.type == "text_delta":
                    break
        end = server.only.log[-1].data
        assert isinstance(end, ExchangeResponse)
        assert end.status == "cancelled"


async def test_cancelling_anyone_who_waits_cancels_the_exchange() -> None:
    async with serving([ASK], "Ok.", tools=["ask"]) as server, server.client() as agent:
        running = asyncio.create_task(agent.run("Ask."))
        await until(lambda: server.sessions and any(e.type == "question_asked" for e in server.only.log))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert server.only.log[-1].type == "exchange_response"


async def test_closing_does_not_cancel_and_the_exchange_can_be_picked_up() -> None:
    async with serving([ASK], "Blue it is.", tools=["ask"]) as server:
        first = server.client()
        exchange = first.send("Ask.")
        name = await exchange.accepted()
        await until(lambda: any(e.type == "question_asked" for e in server.only.log))
        await first.close()
        with pytest.raises(ConnectionFailed, match="session='ses_"):
            await exchange.result()
        assert server.only.agent.current is not None

        async with server.client(first.session) as second:
            current = second.current
            assert current is not None
            assert current.id == name
            (question,) = second.questions
            second.answer(question.question, "blue")
            result = await current.result()
            assert (result.text, result.status) == ("Blue it is.", "completed")
            assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]
            assert second.messages == server.only.agent.messages
            assert second.current is None


async def test_the_same_request_is_the_same_exchange_also_for_another_client() -> None:
    async with serving("Once.", "Twice.") as server:
        async with server.client() as first:
            before = await first.send("Hi", client_request_id="mine").result()
        async with server.client(first.session) as second:
            after = await second.send("Hi", client_request_id="mine").result()
        assert after == before
        assert [event.type for event in server.only.log].count("exchange_request") == 1


async def test_functions_that_answer_for_people() -> None:
    asked: list[ApprovalRequested | QuestionAsked] = []

    async def decide(request: ApprovalRequested) -> heald.Approval:
        asked.append(request)
        return heald.Approval(True, arguments={"what": "b"})

    async def answer(question: QuestionAsked) -> str:
        asked.append(question)
        return "blue"

    turns = ([call("change", what="a")], [ASK], "Done.")
    async with (
        serving(*turns, tools=[change, "ask"], permissions="ask") as server,
        server.client(on_approval=decide, on_question=answer) as agent,
    ):
        result = await agent.run("Go.")
    assert [kind.type for kind in asked] == ["approval_requested", "question_asked"]
    assert "changed b" in str(result.messages)
    assert "blue" in str(result.messages)


async def test_what_waited_before_one_came_is_repeated() -> None:
    async def decide(request: ApprovalRequested) -> bool:
        return True

    async with serving([call("change", what="a")], "Done.", tools=[change], permissions="ask") as server:
        first = server.client()
        exchange = first.send("Go.")
        await until(lambda: first.approvals)
        async with server.client(first.session, on_approval=decide):
            assert (await exchange.result()).text == "Done."
        await first.close()


async def test_a_decision_that_came_too_late() -> None:
    script = ([call("change", what="a")], "Done.")
    async with serving(*script, tools=[change], permissions="ask") as server, server.client() as agent:
        exchange = agent.send("Go.")
        await until(lambda: agent.approvals)
        (request,) = agent.approvals
        with pytest.raises(NotPending, match="another call"):
            agent.approve(request.approval, digest="0" * 64)
        agent.deny(request.approval, "Not today.")
        with pytest.raises(NotPending, match="No approval"):
            agent.approve(request.approval)
        assert "Not today." in str((await exchange.result()).messages)


async def test_queue_steer_interrupt_refuse() -> None:
    hold = [ASK]
    async with serving(hold, "First.", "Second.", hold, "Third.", "Fourth.", tools=["ask"]) as server:
        async with server.client() as agent:
            first = agent.send("1")
            await until(lambda: agent.questions)
            second = agent.send("2", when_busy="queue")
            steered = agent.send("1b", when_busy="steer")
            assert await steered.accepted() == await first.accepted()
            with pytest.raises(ServerRefused, match="An exchange runs") as refused:
                await agent.send("no", when_busy="refuse").result()
            assert refused.value.reason == "busy"
            agent.answer(agent.questions[0].question, "go on")
            assert (await first.result()).text == "First."
            assert (await steered.result()) == (await first.result())
            assert (await second.result()).text == "Second."

            third = agent.send("3")
            await until(lambda: agent.questions)
            queued = agent.send("waits")
            await queued.accepted()
            assert queued.cancel("Not any more.")
            assert (await queued.result()).status == "cancelled"
            fourth = agent.send("4", when_busy="interrupt")
            assert (await third.result()).status == "cancelled"
            assert (await fourth.result()).text == "Third."
        assert [event.seq for event in server.only.log] == list(range(1, len(server.only.log) + 1))


async def test_cancel() -> None:
    async with serving([ASK], tools=["ask"]) as server, server.client() as agent:
        assert not agent.cancel()
        exchange = agent.send("Go.")
        assert agent.cancel("At once.")
        assert not exchange.cancel()
        result = await exchange.result()
        assert (result.status, server.only.log[-1].type) == ("cancelled", "exchange_response")
        assert not exchange.cancel()


async def test_a_failed_exchange_raises_its_own_error() -> None:
    fault = RateLimited("Too many requests; wait a minute.", status=429)

    def fail(_: object) -> object:
        raise fault

    async with serving(fail) as server, server.client() as agent:
        with pytest.raises(RateLimited, match="wait a minute") as raised:
            await agent.run("Hi")
        assert raised.value.info() == fault.info()
        events = await gathered(agent.stream("Again"))
        assert events[-1].type == "exchange_response"


async def test_two_clients_on_one_session() -> None:
    async with serving(*TURNS, "And now?", tools=[look]) as server, server.client() as alice:
        await alice.open()
        async with server.client(alice.session) as bob:
            heard: list[Event] = []
            bob.subscribe(heard.append)
            first, second = await asyncio.gather(alice.run("A"), bob.run("B"))
            assert {first.text, second.text} == {"It is Füße, 🙂 and done.", "And now?"}
            await until(lambda: len(heard) == len(server.only.log))
            assert heard == server.only.log
            assert alice.messages == bob.messages == server.only.agent.messages


async def test_delegated_work_is_received_too() -> None:
    helper = Agent(heald.testing.ScriptedModel(["I helped."]))
    tools = [helper.as_tool("helper", "Helps.")]
    async with serving([call("helper", prompt="Help")], "Done.", tools=tools) as server, server.client() as agent:
        events = await gathered(agent.stream("Go"))
        assert events == server.only.told
        assert len({event.session for event in events}) == 2


async def test_a_message_too_large_for_the_socket() -> None:
    async with serving("Seen.") as server, server.client() as agent:
        picture = heald.Image(data="A" * (2 * 1024 * 1024))
        assert (await agent.run(["Look", picture])).text == "Seen."
        assert any(line.startswith("POST") and line.endswith("/messages") for line in server.requests)
        assert agent.messages[0].content[1] == picture


def test_run_sync() -> None:
    box: list[Server] = []

    async def start() -> None:
        server = Server(lambda: heald.testing.ScriptedModel(["One.", "Two."]))
        await server.start()
        box.append(server)

    elsewhere = BackgroundLoop()
    elsewhere.run(start())
    agent = box[0].client()
    assert agent.run_sync("A").text == "One."
    assert agent.run_sync("B").text == "Two."

    async def from_another_loop() -> None:
        with pytest.raises(ConfigurationError, match="lives in the event loop"):
            await agent.run("C")
        await agent.close()

    asyncio.run(from_another_loop())
    elsewhere.run(box[0].close())
    elsewhere.close()


async def test_a_closed_client_reports_it() -> None:
    async with serving("One.") as server:
        agent = server.client()
        await agent.run("Hi")
        await agent.close()
        await agent.close()
        with pytest.raises(ConfigurationError, match="was closed"):
            agent.send("Hi")


async def test_what_was_sent_before_closing_arrives() -> None:
    async with serving("One.") as server:
        agent = server.client()
        agent.send("Hi")
        await agent.close()
        await until(lambda: server.only.log and server.only.log[-1].type == "exchange_response")
