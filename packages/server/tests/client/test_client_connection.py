"""A connection that breaks: whatever the cuts, what is heard is the log, gapless and undoubled."""

import asyncio
import random
from typing import Any

import pytest
from aiohttp import web
from client_bench import QUICK, Server, call, change, gathered, look, serving, until
from hypothesis import given, settings
from hypothesis import strategies as st

import heald_server
from example_counts import scaled
from heald.core.envelope import Event
from heald.core.errors import ConnectionFailed
from heald.core.json import encode_text
from heald_server.client.errors import EventsLost, NoRemoteSession, ServerRefused, TokenRefused
from heald_server.client.timing import Timing

TURNS = (["Let me look. ", call("look", n=1), call("look", n=2)], "It is done.")
SHORT = Timing(patience=0.6, first=0.01, longest=0.05, dial=0.3, silence=0.3, stable=0.2, goodbye=0.2)

GARBAGE = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '"x"',
    '{"type":1}',
    '{"seq":1}',
    '{"type":"text_delta","seq":1}',
    "\x00",
    "[" * 5000,
]


async def whole(server: Server, timing: Timing = QUICK) -> list[Event]:
    """One exchange. What a reactor heard and what `stream` gave is what the server has."""
    agent = server.client(timing=timing)
    heard: list[Event] = []
    agent.subscribe(heard.append)
    async with agent:
        events = await gathered(agent.stream("Look twice."))
        assert heard == server.only.log
        assert events == server.only.log
        assert agent.messages == server.only.agent.messages
        assert [event.type for event in events].count("exchange_request") == 1
    return events


async def test_cut_at_every_frame() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        count = len(await whole(server)) + 1
    assert count > 30
    for at in range(1, count + 1):
        async with serving(*TURNS, tools=[look]) as server:
            server.disturb = lambda number, text, at=at: None if number == at else [text]
            await whole(server)
            assert server.sockets == 2


async def test_cut_at_every_third_frame() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        server.disturb = lambda number, text: None if number % 3 == 0 else [text]
        await whole(server)
        assert server.sockets > 10
        asked = [frame["resume"] for frame in server.subscriptions]
        assert asked == sorted(asked)


async def test_every_frame_twice() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        server.disturb = lambda _, text: [text, text]
        await whole(server)
        assert server.sockets == 1


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_ends_the_connection_and_nothing_else(text: str) -> None:
    async with serving(*TURNS, tools=[look]) as server:
        server.disturb = lambda number, frame: [text, frame] if number == 5 else [frame]
        await whole(server)
        assert server.sockets == 2


async def test_words_of_a_later_version_are_passed_over() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        server.disturb = lambda _, text: ['{"type":"heartbeat"}', '{"type":"later","x":[1]}', text]
        await whole(server)
        assert server.sockets == 1


async def test_a_gap_is_never_handed_on() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        server.disturb = lambda number, text: [] if number in (7, 19) else [text]
        await whole(server)
        assert server.sockets >= 2


async def test_goodbye_is_no_end() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        bye = '{"type":"goodbye","session":"","reason":"shutdown","resume":3}'
        server.disturb = lambda number, text: [bye] if number in (4, 11) else [text]
        await whole(server)
        assert server.sockets >= 2


async def test_a_connection_that_falls_silent() -> None:
    async with serving(*TURNS, tools=[look]) as server:
        timing = Timing(patience=20, first=0.01, longest=0.05, dial=0.2, silence=0.2)
        cut: list[int] = []

        def disturb(number: int, text: str) -> list[str]:
            if number == 9:
                server.is_mute = True
                cut.append(server.sockets)
            if server.is_mute and server.sockets > cut[0]:
                server.is_mute = False
            return [] if number == 9 else [text]

        async def unmute() -> None:
            await until(lambda: server.sockets > 1)
            server.is_mute = False

        server.disturb = disturb
        speaking = asyncio.create_task(unmute())
        await whole(server, timing)
        await speaking


disturbances = st.lists(
    st.sampled_from(["pass", "pass", "pass", "cut", "twice", "drop", "swap", "garbage", "bye"]), max_size=60
)


@settings(max_examples=scaled(120), deadline=None)
@given(disturbances, st.randoms(use_true_random=False))
def test_whatever_happens_what_is_received_is_the_log(plan: list[str], chance: random.Random) -> None:
    async def play() -> None:
        async with serving(*TURNS, tools=[look]) as server:
            held: list[str] = []

            def disturb(number: int, text: str) -> list[str] | None:
                out = [*held, text]
                held.clear()
                match plan[number - 1] if number <= len(plan) else "pass":
                    case "cut":
                        return None
                    case "twice":
                        return [*out, *out]
                    case "drop":
                        return []
                    case "swap":
                        return out[::-1] if len(out) > 1 else held.append(text) or []
                    case "garbage":
                        return [*out, chance.choice(GARBAGE)]
                    case "bye":
                        return [*out, '{"type":"goodbye","reason":"x"}']
                    case _:
                        return out

            server.disturb = disturb
            await whole(server, Timing(patience=20, first=0.001, longest=0.01, dial=0.5, silence=0.5, goodbye=0.5))

    asyncio.run(play())


async def test_a_decision_whose_answer_is_lost_counts_once() -> None:
    async with serving([call("change", what="a")], "Done.", tools=[change], permissions="ask") as server:
        cuts = [0]

        def disturb(number: int, text: str) -> list[str] | None:
            if '"type":"reply"' in text and '"result":{}' in text and not cuts[0]:
                cuts[0] += 1
                return None
            return [text]

        server.disturb = disturb
        async with server.client() as agent:
            exchange = agent.send("Go.")
            await until(lambda: agent.approvals)
            agent.approve(agent.approvals[0].approval)
            assert (await exchange.result()).text == "Done."
            assert cuts == [1]


async def test_a_request_whose_answer_is_lost_is_one_exchange() -> None:
    async with serving("One.", "Two.") as server:
        cuts = [0]

        def disturb(number: int, text: str) -> list[str] | None:
            if '"state"' in text and cuts[0] < 3:
                cuts[0] += 1
                return None
            return [text]

        server.disturb = disturb
        async with server.client() as agent:
            assert (await agent.run("Hi")).text == "One."
            assert (await agent.run("Hi")).text == "Two."
        assert [event.type for event in server.only.log].count("exchange_request") == 2


# --- what cannot be resumed -------------------------------------------------------------------------------------------


def reset_of(server: Server, **snapshot: Any) -> dict[str, Any]:
    stored = server.only
    state = {"messages": stored.agent.messages, "exchange": None} | snapshot
    return {
        "type": "reset",
        "session": stored.agent.session,
        "reason": "future",
        "seq": len(stored.log),
        "snapshot": state,
    }


async def test_a_reset_lets_go_of_who_listens_and_reports_who_waits() -> None:
    ask = call("ask_user", question="Which?", suggestions=["a", "b"])
    async with serving([ask], "Done.", "Again.", tools=["ask"]) as server, server.client() as agent:
        heard: list[Event] = []
        subscription = agent.subscribe(heard.append)
        exchange = agent.send("Go.")
        stream = asyncio.create_task(gathered(agent.stream("And this waits.")))
        await until(lambda: agent.questions and len(heard) == len(server.only.log) and exchange.id)
        await until(lambda: any(event.type == "conversation_queued" for event in heard))
        seen = len(heard)
        server.resets.append(reset_of(server, exchange=exchange.id, questions=server.only.agent.questions))
        server.cut_all()
        with pytest.raises(EventsLost, match=f"as it was at event {seen}"):
            await exchange.result()
        with pytest.raises(EventsLost):
            await stream
        assert subscription.dropped_at == seen + 1
        assert len(heard) == seen

        fresh: list[Event] = []
        agent.subscribe(fresh.append)
        current = agent.current
        assert current is not None
        agent.answer(agent.questions[0].question, "a")
        assert (await current.result()).text == "Done."
        await until(lambda: server.only.agent.current is None)
        await until(lambda: fresh and fresh[-1].seq == len(server.only.log))
        assert [event.seq for event in fresh] == list(range(seen + 1, len(server.only.log) + 1))
        await until(lambda: agent.messages == server.only.agent.messages)
        assert len(heard) == seen


async def test_a_cursor_that_is_not_accepted_is_a_reset() -> None:
    async with serving("One.", "Two.") as server, server.client() as agent:
        await agent.run("Hi")
        subscription = agent.subscribe(lambda _: None)
        server.close_with = 4409
        server.cut_all()
        await until(lambda: server.sockets > 1)
        server.close_with = None
        await until(lambda: subscription.dropped_at is not None)
        assert (await agent.run("Hi")).text == "Two."
        assert agent.messages == server.only.agent.messages


# --- what no other try would mend -------------------------------------------------------------------------------------


async def test_a_wrong_token_is_one_clear_error() -> None:
    async with serving("One.") as server:
        async with heald_server.connect(server.url, "tok_WRONG_CANARY") as agent:
            with pytest.raises(TokenRefused, match="refused the token") as refused:
                await agent.run("Hi")
        assert "CANARY" not in str(refused.value)
        assert len(server.requests) == 1


@pytest.mark.parametrize(("code", "kind"), [(4401, TokenRefused), (4404, NoRemoteSession)])
async def test_a_close_that_means_it(code: int, kind: type[Exception]) -> None:
    async with serving("One.", "Two.") as server, server.client() as agent:
        await agent.run("Hi")
        server.close_with = code
        server.cut_all()
        with pytest.raises(kind):
            await agent.run("Hi")
        server.close_with = None
        assert (await agent.run("Hi")).text == "Two."  # it may be mended, and is tried anew


async def test_a_session_that_is_not_there() -> None:
    async with serving("One.") as server:
        agent = server.client("ses_none")
        with pytest.raises(NoRemoteSession, match="has no session 'ses_none'"):
            await agent.open()
        await agent.close()


async def test_a_session_that_is_deleted_meanwhile() -> None:
    async with serving("One.") as server, server.client() as agent:
        await agent.run("Hi")
        sessions = dict(server.sessions)
        server.sessions.clear()
        server.cut_all()
        with pytest.raises(NoRemoteSession):
            await agent.run("Hi")
        server.sessions |= sessions


async def test_a_redirect_is_refused() -> None:
    async with serving("One.") as server, serving("Two.") as other:
        server.refuse = lambda request: web.Response(status=307, headers={"Location": other.url + request.path})
        async with server.client() as agent:
            with pytest.raises(ServerRefused, match="redirects"):
                await agent.run("Hi")
        server.refuse = None
        async with server.client() as agent:
            await agent.open()
            server.refuse = lambda request: web.Response(status=302, headers={"Location": other.url + request.path})
            server.cut_all()
            with pytest.raises(ServerRefused, match="redirects"):
                await agent.run("Hi")
        assert other.requests == []


async def test_another_kind_of_server() -> None:
    async with serving("One.") as server:
        server.refuse = lambda _: web.Response(text="<html>Welcome</html>", content_type="text/html")
        async with server.client() as agent:
            with pytest.raises(ServerRefused, match="is not a Heald server"):
                await agent.run("Hi")


# --- a server that is gone --------------------------------------------------------------------------------------------


async def test_missing_for_longer_than_ones_patience() -> None:
    async with serving([call("ask_user", question="?", suggestions=["a", "b"])], "Done.", tools=["ask"]) as server:
        agent = server.client(timing=SHORT)
        heard: list[Event] = []
        agent.subscribe(heard.append)
        exchange = agent.send("Go.")
        await until(lambda: agent.questions)
        port = int(server.url.rpartition(":")[2])
        await server.stop()
        with pytest.raises(ConnectionFailed) as failed:
            await exchange.result()
        assert str(failed.value) == (
            f"The server at {server.url} has not answered for 0.6 s (no connection); what runs there goes on: "
            f"pick it up with connect(…, session={agent.session!r})."
        )
        with pytest.raises(ConnectionFailed):
            await agent.run("Hi")

        await server.start(port)
        current = agent.current  # the same client takes it up where it was
        assert current is not None
        agent.answer(agent.questions[0].question, "a")
        assert (await current.result()).text == "Done."
        assert heard == server.only.log
        await agent.close()


async def test_a_server_that_comes_back_in_time() -> None:
    async with serving("One.", "Two.") as server, server.client() as agent:
        assert (await agent.run("Hi")).text == "One."
        port = int(server.url.rpartition(":")[2])
        await server.stop()
        asked = asyncio.create_task(agent.run("Hi"))
        await asyncio.sleep(0.3)
        await server.start(port)
        assert (await asked).text == "Two."


async def test_never_there() -> None:
    async with heald_server.connect("http://127.0.0.1:9", "tok_CANARY", patience=0.3) as agent:
        with pytest.raises(ConnectionFailed, match="start it, or check the address") as failed:
            await agent.run("Hi")
        assert "CANARY" not in str(failed.value)


async def test_a_server_that_only_ever_hangs_up_is_given_up() -> None:
    async with serving("One.") as server, server.client(timing=SHORT) as agent:
        server.disturb = lambda number, _: None if number else []
        with pytest.raises(ConnectionFailed):
            await agent.run("Hi")
        assert server.sockets < 60  # with pauses in between


async def test_busy_servers_are_repeated() -> None:
    async with serving("One.") as server, server.client() as agent:
        server.refuse = lambda _: web.Response(status=503) if len(server.requests) < 4 else None
        assert (await agent.run("Hi")).text == "One."


async def test_many_commands_stay_below_what_servers_accept() -> None:
    async with serving(*["Ok."] * 80) as server, server.client() as agent:
        exchanges = [agent.send(str(number)) for number in range(80)]
        results = [await exchange.result() for exchange in exchanges]
        assert [result.messages[0].text for result in results] == [str(number) for number in range(80)]
        assert encode_text(agent.messages) == encode_text(server.only.agent.messages)
