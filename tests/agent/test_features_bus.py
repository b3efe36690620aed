"""The bus: who hears what, in which order, and that no reactor is ever felt by the others."""

import asyncio
import logging
from typing import Any

import pytest
from log_support import Log, call, played, scripted, until

import weft
from weft.agent.agent import Agent
from weft.agent.bus import EventBus
from weft.core.envelope import PAYLOADS, Event
from weft.core.events import ConversationStart, ExchangeRequest, TextDelta, UserMessage
from weft.core.messages import user_message
from weft.core.payload import Layer, Payload

HELLO = UserMessage(user_message("Hello."))
BEGIN = ConversationStart()


def delta(text: str) -> Payload:
    return TextDelta(0, "b", text)


def texts(events: list[Event]) -> list[str]:
    return [event.data.text for event in events if isinstance(event.data, TextDelta)]


# --- who hears what ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", ["stream", "state", "message", "exchange"])
async def test_by_layer(layer: Layer) -> None:
    agent = Agent(scripted([call("look")], "Done."), tools=[look])
    log = Log(agent)
    heard: list[Event] = []
    agent.subscribe(heard.append, layers=[layer])
    await agent.run("Go.")
    assert heard == [event for event in log.events if event.layer == layer]
    assert heard


async def test_by_type() -> None:
    bus, heard = EventBus("s"), list[Event]()
    bus.subscribe(heard.append, types=["text_delta", "user_message"])
    bus.publish_all([BEGIN, delta("a"), HELLO, delta("b")])
    assert [(event.seq, event.type) for event in heard] == [(2, "text_delta"), (3, "user_message"), (4, "text_delta")]


async def test_by_type_and_layer_is_both() -> None:
    bus, heard = EventBus("s"), list[Event]()
    bus.subscribe(heard.append, types=["text_delta", "user_message"], layers=["message"])
    bus.publish_all([BEGIN, delta("a"), HELLO])
    assert [event.type for event in heard] == ["user_message"]


async def test_a_list_gets_the_same_events_alone_and_beside_a_reactor() -> None:
    bus, beside = EventBus("s", clock=lambda: 1.0), EventBus("s", clock=lambda: 1.0)
    alone, accompanied = list[Event](), list[Event]()
    bus.collect(alone)
    subscription = beside.collect(accompanied)
    reactor = beside.subscribe(lambda _: None)
    for each in (bus, beside):
        each.exchange = "e"
        each.publish_all([BEGIN, delta("a"), HELLO])
        each.publish_outside_exchange(HELLO)
    assert alone == accompanied
    assert [(event.seq, event.id, event.exchange) for event in alone[2:]] == [(3, "s-3", "e"), (4, "s-4", None)]
    reactor.close()
    beside.publish(BEGIN)
    assert accompanied[-1].seq == 5
    subscription.close()
    beside.publish(BEGIN)
    assert (len(accompanied), beside.seq) == (5, 6)


async def test_an_event_that_a_reactor_publishes_comes_between_those_of_a_moment() -> None:
    bus, events = EventBus("s"), list[Event]()
    bus.collect(events)
    bus.subscribe(lambda event: bus.publish(HELLO) if event.data is BEGIN else None)
    bus.publish_all([BEGIN, delta("a")])
    assert [(event.seq, event.type) for event in events] == [
        (1, "conversation_start"),
        (2, "user_message"),
        (3, "text_delta"),
    ]


class Named:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_text_delta(self, event: Event) -> None:
        assert isinstance(event.data, TextDelta)
        self.heard.append(event.data.text)

    def on_user_message(self, event: Event) -> None:
        self.heard.append("user")


class Rest(Named):
    def on_event(self, event: Event) -> None:
        self.heard.append(f"other {event.type}")


async def test_by_the_names_of_handlers() -> None:
    bus, named, rest = EventBus("s"), Named(), Rest()
    bus.subscribe(named)
    bus.subscribe(rest)
    bus.publish_all([BEGIN, delta("a"), HELLO])
    assert named.heard == ["a", "user"]
    assert rest.heard == ["other conversation_start", "a", "user"]


async def test_every_type_can_be_a_handler() -> None:
    """`on_` and the type, for all of them."""
    heard: list[str] = []

    class All:
        def __getattr__(self, name: str) -> Any:
            if name.removeprefix("on_") in PAYLOADS:
                return self._on_event
            raise AttributeError(name)

        def _on_event(self, event: Event) -> None:
            heard.append(event.type)

    reactor = All()
    agent = Agent(scripted([call("look")], "Done."), tools=[look])
    log = Log(agent)
    agent.subscribe(reactor)
    await agent.run("Go.")
    assert heard == log.types


def test_what_can_receive_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="no handler such as on_text_delta"):
        EventBus("s").subscribe(object())


# --- order and place -------------------------------------------------------------------------------------------------


async def test_reactors_receive_in_the_order_they_came() -> None:
    bus, heard = EventBus("s"), list[str]()
    for name in "abc":
        bus.subscribe(lambda event, name=name: heard.append(f"{name}{event.seq}"))
    bus.publish_all([BEGIN, HELLO])
    assert heard == ["a1", "b1", "c1", "a2", "b2", "c2"]


async def test_numbers_go_on_where_nobody_listens_and_from_a_given_start() -> None:
    bus, heard = EventBus("s", seq=10, epoch=2), list[Event]()
    bus.publish(BEGIN)
    bus.subscribe(heard.append)
    bus.publish(HELLO)
    assert (heard[0].seq, heard[0].epoch, heard[0].session) == (12, 2, "s")
    other = EventBus("s", seq=10, epoch=1)
    other.subscribe(heard.append)
    other.publish_all([BEGIN, HELLO])
    assert len({event.id for event in heard}) == 3


async def test_payloads_of_one_moment_have_its_time_and_keep_their_order() -> None:
    """What a reactor publishes at one of them stands behind it."""
    clock, heard = iter([5.0, 6.0, 7.0]), list[Event]()
    bus = EventBus("s", clock=lambda: next(clock))
    bus.subscribe(heard.append, types=["text_delta", "user_message", "conversation_start"])
    bus.subscribe({"user_message": lambda _: bus.publish(delta("answer"))})
    bus.publish_all([delta("a"), HELLO, BEGIN])
    assert [(event.seq, event.type) for event in heard] == [
        (1, "text_delta"),
        (2, "user_message"),
        (3, "text_delta"),
        (4, "conversation_start"),
    ]
    assert [event.time for event in heard] == [5.0, 5.0, 6.0, 6.0]


async def test_a_reader_that_waits_is_woken_once_for_a_moment() -> None:
    bus, woken = EventBus("s"), list[int]()
    bus.wakes.append(lambda: woken.append(bus.seq))
    bus.publish_all([BEGIN, HELLO, delta("a")])
    bus.publish(delta("b"))
    assert woken == [3]


async def test_a_clock_that_is_set_back_does_not_turn_the_log_around() -> None:
    clock, heard = iter([5.0, 3.0, 6.0]), list[Event]()
    bus = EventBus("s", clock=lambda: next(clock))
    bus.subscribe(heard.append)
    for _ in range(3):
        bus.publish(BEGIN)
    assert [event.time for event in heard] == [5.0, 5.0, 6.0]


async def test_what_a_reactor_publishes_gets_the_next_number() -> None:
    bus, heard = EventBus("s"), list[Event]()

    def answer(event: Event) -> None:
        if event.type == "user_message":
            bus.publish(BEGIN)

    bus.subscribe(answer)
    bus.subscribe(heard.append)
    bus.publish_all([HELLO, delta("a")])
    assert sorted(event.seq for event in heard) == [1, 2, 3]


# --- coming and going ------------------------------------------------------------------------------------------------


async def test_one_that_disconnects_while_it_receives_accepts_nobody_with_it() -> None:
    bus, heard = EventBus("s"), list[str]()
    before = bus.subscribe(lambda event: heard.append(f"before{event.seq}"))

    def unsubscribe_itself(event: Event) -> None:
        heard.append(f"leaves{event.seq}")
        own.close()
        before.close()

    own = bus.subscribe(unsubscribe_itself)
    bus.subscribe(lambda event: heard.append(f"after{event.seq}"))
    bus.publish_all([BEGIN, HELLO])
    assert heard == ["before1", "leaves1", "after1", "after2"]
    own.close()


async def test_one_that_comes_while_an_event_is_in_progress_receives_the_next() -> None:
    bus, heard = EventBus("s"), list[Event]()

    def invite(event: Event) -> None:
        if event.seq == 1:
            bus.subscribe(heard.append)

    bus.subscribe(invite)
    bus.publish_all([BEGIN, HELLO, delta("a")])
    assert [event.seq for event in heard] == [2, 3]


# --- failing and slow reactors ---------------------------------------------------------------------------------------


async def test_one_that_fails_is_counted_and_never_felt(caplog: pytest.LogCaptureFixture) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("no")

    async def fails_later(event: Event) -> None:
        raise RuntimeError("no, later")

    agent = Agent(scripted([call("look")], "Done."), tools=[look])
    broken, later = agent.subscribe(fails), agent.subscribe(fails_later)
    log = Log(agent)
    assert (await agent.run("Go.")).text == "Done."
    await later.drain()
    log.prove()
    assert broken.failures == later.failures == len(log.events)
    assert "A reactor failed at exchange_response" in caplog.text


async def test_a_coroutine_receives_all_in_order_at_its_own_pace() -> None:
    bus, heard = EventBus("s"), list[str]()

    async def listen(event: Event) -> None:
        await asyncio.sleep(0.001)
        heard.extend(texts([event]))

    subscription = bus.subscribe(listen)
    bus.publish_all([delta(str(number)) for number in range(20)])
    assert heard == []
    await subscription.drain()
    assert heard == [str(number) for number in range(20)]
    assert subscription.dropped_at is None


async def test_one_that_is_too_slow_is_dropped_and_the_exchange_does_not_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    released, heard = asyncio.Event(), list[int]()

    async def slow(event: Event) -> None:
        await released.wait()
        heard.append(event.seq)

    agent = Agent(scripted("word " * 50, piece=5))
    log = Log(agent)
    subscription = agent.subscribe(slow, queue=5)
    result = await asyncio.wait_for(agent.run("Go."), 10)
    assert result.completed
    assert subscription.dropped_at is not None
    assert "too slow" in caplog.text
    released.set()
    await subscription.drain()
    assert heard == list(range(1, subscription.dropped_at))
    assert len(heard) < len(log.events)
    log.prove()


async def test_an_object_with_plain_and_awaited_handlers_receives_in_order() -> None:
    class Mixed:
        def __init__(self) -> None:
            self.heard: list[int] = []

        async def on_text_delta(self, event: Event) -> None:
            await asyncio.sleep(0.001)
            self.heard.append(event.seq)

        def on_user_message(self, event: Event) -> None:
            self.heard.append(event.seq)

    bus, mixed = EventBus("s"), Mixed()
    subscription = bus.subscribe(mixed)
    bus.publish_all([delta("a"), HELLO, delta("b"), BEGIN])
    await subscription.drain()
    assert mixed.heard == [1, 2, 3]


async def test_an_object_that_can_be_called_and_awaited() -> None:
    class Called:
        heard: list[int] = []

        async def __call__(self, event: Event) -> None:
            self.heard.append(event.seq)

    bus, called = EventBus("s"), Called()
    subscription = bus.subscribe(called)
    bus.publish_all([BEGIN, HELLO])
    await subscription.drain()
    assert called.heard == [1, 2]


async def test_a_reactor_outlives_its_loop() -> None:
    """Scripts start one loop after the other; a coroutine that listens is started anew in each."""
    bus, heard = EventBus("s"), list[int]()

    async def listen(event: Event) -> None:
        heard.append(event.seq)

    bus.subscribe(listen)

    async def publish() -> None:
        bus.publish(BEGIN)
        await asyncio.sleep(0.01)

    for _ in range(2):
        await asyncio.to_thread(asyncio.run, publish())
    assert heard == [1, 2]


# --- events of others ------------------------------------------------------------------------------------------------


async def test_relayed_events_keep_their_place_and_use_no_number() -> None:
    own, other, heard = EventBus("own"), EventBus("other"), list[Event]()
    own.subscribe(heard.append)
    other.subscribe(own.relay)
    other.exchange = "ex"
    other.publish(ExchangeRequest(user_message("Go.")))
    own.publish(BEGIN)
    other.publish(BEGIN)
    assert [(e.session, e.seq, e.exchange) for e in heard] == [("other", 1, "ex"), ("own", 1, None), ("other", 2, "ex")]


async def test_relayed_events_are_chosen_and_guarded_alike() -> None:
    own, other, heard = EventBus("own"), EventBus("other"), list[Event]()

    def fails(event: Event) -> None:
        raise RuntimeError("no")

    broken = own.subscribe(fails)
    own.subscribe(heard.append, types=["user_message"])
    other.subscribe(own.relay)
    other.publish_all([BEGIN, HELLO])
    assert [event.type for event in heard] == ["user_message"]
    assert broken.failures == 2


async def test_what_belongs_to_no_exchange() -> None:
    bus, heard = EventBus("s"), list[Event]()
    bus.subscribe(heard.append)
    bus.exchange = "ex"
    bus.publish_outside_exchange(BEGIN)
    bus.publish(HELLO)
    assert [event.exchange for event in heard] == [None, "ex"]


@weft.tool
async def look() -> str:
    """Looks."""
    return "seen"


async def test_a_drop_in_the_middle_of_an_event_is_no_fault_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    bus, heard = EventBus("s"), list[int]()

    async def never(event: Event) -> None:
        await asyncio.sleep(3600)

    slow: Any = bus.subscribe(never, queue=1)
    bus.subscribe(lambda event: heard.append(event.seq))
    bus.publish(BEGIN)
    await asyncio.sleep(0)
    bus.publish_all([HELLO, BEGIN, HELLO])
    await until(lambda: len(heard) == 4)
    assert slow.dropped_at == 3
    slow._task.cancel()


async def test_played_logs_are_whole() -> None:
    result, log = await played([call("look")], "Done.", tools=[look])
    assert result.completed
    assert [event.seq for event in log.own] == list(range(1, len(log.own) + 1))
