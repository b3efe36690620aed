"""The bus: who hears what, in which order, and that no reactor is ever felt by the others."""

import asyncio
import logging
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.bus import EventBus
from heald.core.envelope import PAYLOADS, Event
from heald.core.errors import ConfigurationError
from heald.core.events import ConversationStart, ExchangeRequest, TextDelta, UserMessage
from heald.core.messages import user_message
from heald.core.payload import Layer, Payload
from log_support import Log, call, played, scripted, until

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
    received: list[Event] = []
    agent.subscribe(received.append, layers=[layer])
    await agent.run("Go.")
    assert received == [event for event in log.events if event.layer == layer]
    assert received


async def test_by_type() -> None:
    bus, received = EventBus("s"), list[Event]()
    bus.subscribe(received.append, types=["text_delta", "user_message"])
    bus.publish_all([BEGIN, delta("a"), HELLO, delta("b")])
    assert [(event.seq, event.type) for event in received] == [
        (2, "text_delta"),
        (3, "user_message"),
        (4, "text_delta"),
    ]


async def test_by_type_and_layer_is_both() -> None:
    bus, received = EventBus("s"), list[Event]()
    bus.subscribe(received.append, types=["text_delta", "user_message"], layers=["message"])
    bus.publish_all([BEGIN, delta("a"), HELLO])
    assert [event.type for event in received] == ["user_message"]


async def test_a_list_gets_the_same_events_alone_and_beside_a_reactor() -> None:
    bus, beside = EventBus("s", clock=lambda: 1.0), EventBus("s", clock=lambda: 1.0)
    alone, accompanied = list[Event](), list[Event]()
    bus.collect(alone)
    subscription = beside.collect(accompanied)
    reactor = beside.subscribe(lambda _: None)
    for publisher in (bus, beside):
        publisher.exchange = "e"
        publisher.publish_all([BEGIN, delta("a"), HELLO])
        publisher.publish_outside_exchange(HELLO)
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
        self.received: list[str] = []

    def on_text_delta(self, event: Event) -> None:
        assert isinstance(event.data, TextDelta)
        self.received.append(event.data.text)

    def on_user_message(self, event: Event) -> None:
        self.received.append("user")


class Rest(Named):
    def on_event(self, event: Event) -> None:
        self.received.append(f"other {event.type}")


async def test_by_the_names_of_handlers() -> None:
    bus, named, rest = EventBus("s"), Named(), Rest()
    bus.subscribe(named)
    bus.subscribe(rest)
    bus.publish_all([BEGIN, delta("a"), HELLO])
    assert named.received == ["a", "user"]
    assert rest.received == ["other conversation_start", "a", "user"]


async def test_every_type_can_be_a_handler() -> None:
    """`on_` and the type, for all of them."""
    received: list[str] = []

    class All:
        def __getattr__(self, name: str) -> Any:
            if name.removeprefix("on_") in PAYLOADS:
                return self._on_event
            raise AttributeError(name)

        def _on_event(self, event: Event) -> None:
            received.append(event.type)

    reactor = All()
    agent = Agent(scripted([call("look")], "Done."), tools=[look])
    log = Log(agent)
    agent.subscribe(reactor)
    await agent.run("Go.")
    assert received == log.types


def test_what_can_receive_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="type object has no handler"):
        EventBus("s").subscribe(object())


# --- order and place -------------------------------------------------------------------------------------------------


async def test_reactors_receive_in_the_order_they_came() -> None:
    bus, received = EventBus("s"), list[str]()
    for name in "abc":
        bus.subscribe(lambda event, name=name: received.append(f"{name}{event.seq}"))
    bus.publish_all([BEGIN, HELLO])
    assert received == ["a1", "b1", "c1", "a2", "b2", "c2"]


async def test_numbers_go_on_where_nobody_listens_and_from_a_given_start() -> None:
    bus, received = EventBus("s", seq=10, epoch=2), list[Event]()
    bus.publish(BEGIN)
    bus.subscribe(received.append)
    bus.publish(HELLO)
    assert (received[0].seq, received[0].epoch, received[0].session) == (12, 2, "s")
    other = EventBus("s", seq=10, epoch=1)
    other.subscribe(received.append)
    other.publish_all([BEGIN, HELLO])
    assert len({event.id for event in received}) == 3


async def test_payloads_of_one_moment_have_its_time_and_keep_their_order() -> None:
    """What a reactor publishes at one of them stands behind it."""
    clock, received = iter([5.0, 6.0, 7.0]), list[Event]()
    bus = EventBus("s", clock=lambda: next(clock))
    bus.subscribe(received.append, types=["text_delta", "user_message", "conversation_start"])
    bus.subscribe(lambda _: bus.publish(delta("answer")), types=["user_message"])
    bus.publish_all([delta("a"), HELLO, BEGIN])
    assert [(event.seq, event.type) for event in received] == [
        (1, "text_delta"),
        (2, "user_message"),
        (3, "text_delta"),
        (4, "conversation_start"),
    ]
    assert [event.time for event in received] == [5.0, 5.0, 6.0, 6.0]


async def test_a_reader_that_waits_is_woken_once_for_a_moment() -> None:
    bus, woken = EventBus("s"), list[int]()
    bus.wakes.append(lambda: woken.append(bus.seq))
    bus.publish_all([BEGIN, HELLO, delta("a")])
    bus.publish(delta("b"))
    assert woken == [3]


async def test_a_clock_that_is_set_back_does_not_turn_the_log_around() -> None:
    clock, received = iter([5.0, 3.0, 6.0]), list[Event]()
    bus = EventBus("s", clock=lambda: next(clock))
    bus.subscribe(received.append)
    for _ in range(3):
        bus.publish(BEGIN)
    assert [event.time for event in received] == [5.0, 5.0, 6.0]


async def test_what_a_reactor_publishes_gets_the_next_number() -> None:
    bus, received = EventBus("s"), list[Event]()

    def answer(event: Event) -> None:
        if event.type == "user_message":
            bus.publish(BEGIN)

    bus.subscribe(answer)
    bus.subscribe(received.append)
    bus.publish_all([HELLO, delta("a")])
    assert sorted(event.seq for event in received) == [1, 2, 3]


# --- coming and going ------------------------------------------------------------------------------------------------


async def test_one_that_disconnects_while_it_receives_accepts_nobody_with_it() -> None:
    bus, received = EventBus("s"), list[str]()
    before = bus.subscribe(lambda event: received.append(f"before{event.seq}"))

    def unsubscribe_itself(event: Event) -> None:
        received.append(f"leaves{event.seq}")
        subscription.close()
        before.close()

    subscription = bus.subscribe(unsubscribe_itself)
    bus.subscribe(lambda event: received.append(f"after{event.seq}"))
    bus.publish_all([BEGIN, HELLO])
    assert received == ["before1", "leaves1", "after1", "after2"]
    subscription.close()


async def test_one_that_comes_while_an_event_is_in_progress_receives_the_next() -> None:
    bus, received = EventBus("s"), list[Event]()

    def invite(event: Event) -> None:
        if event.seq == 1:
            bus.subscribe(received.append)

    bus.subscribe(invite)
    bus.publish_all([BEGIN, HELLO, delta("a")])
    assert [event.seq for event in received] == [2, 3]


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
    bus, received = EventBus("s"), list[str]()

    async def listen(event: Event) -> None:
        await asyncio.sleep(0.001)
        received.extend(texts([event]))

    subscription = bus.subscribe(listen)
    bus.publish_all([delta(str(number)) for number in range(20)])
    assert received == []
    await subscription.drain()
    assert received == [str(number) for number in range(20)]
    assert subscription.dropped_at is None


async def test_one_that_is_too_slow_is_dropped_and_the_exchange_does_not_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    released, received = asyncio.Event(), list[int]()

    async def slow(event: Event) -> None:
        await released.wait()
        received.append(event.seq)

    agent = Agent(scripted("word " * 50, piece=5))
    log = Log(agent)
    subscription = agent.subscribe(slow, queue=5)
    result = await asyncio.wait_for(agent.run("Go."), 60)
    assert result.completed
    assert subscription.dropped_at is not None
    assert "too slow" in caplog.text
    released.set()
    await subscription.drain()
    assert received == list(range(1, subscription.dropped_at))
    assert len(received) < len(log.events)
    log.prove()


async def test_an_object_with_plain_and_awaited_handlers_receives_in_order() -> None:
    class Mixed:
        def __init__(self) -> None:
            self.received: list[int] = []

        async def on_text_delta(self, event: Event) -> None:
            await asyncio.sleep(0.001)
            self.received.append(event.seq)

        def on_user_message(self, event: Event) -> None:
            self.received.append(event.seq)

    bus, mixed = EventBus("s"), Mixed()
    subscription = bus.subscribe(mixed)
    bus.publish_all([delta("a"), HELLO, delta("b"), BEGIN])
    await subscription.drain()
    assert mixed.received == [1, 2, 3]


async def test_an_object_that_can_be_called_and_awaited() -> None:
    class Called:
        received: list[int] = []

        async def __call__(self, event: Event) -> None:
            self.received.append(event.seq)

    bus, called = EventBus("s"), Called()
    subscription = bus.subscribe(called)
    bus.publish_all([BEGIN, HELLO])
    await subscription.drain()
    assert called.received == [1, 2]


async def test_a_reactor_outlives_its_loop() -> None:
    """Scripts start one loop after the other; a coroutine that listens is started anew in each."""
    bus, received = EventBus("s"), list[int]()

    async def listen(event: Event) -> None:
        received.append(event.seq)

    bus.subscribe(listen)

    async def publish() -> None:
        bus.publish(BEGIN)
        await asyncio.sleep(0.01)

    for _ in range(2):
        await asyncio.to_thread(asyncio.run, publish())
    assert received == [1, 2]


# --- events of others ------------------------------------------------------------------------------------------------


async def test_relayed_events_keep_their_place_and_use_no_number() -> None:
    receiver, other, received = EventBus("own"), EventBus("other"), list[Event]()
    receiver.subscribe(received.append)
    other.subscribe(receiver.relay)
    other.exchange = "ex"
    other.publish(ExchangeRequest(user_message("Go.")))
    receiver.publish(BEGIN)
    other.publish(BEGIN)
    assert [(e.session, e.seq, e.exchange) for e in received] == [
        ("other", 1, "ex"),
        ("own", 1, None),
        ("other", 2, "ex"),
    ]


async def test_relayed_events_are_chosen_and_guarded_alike() -> None:
    receiver, other, received = EventBus("own"), EventBus("other"), list[Event]()

    def fails(event: Event) -> None:
        raise RuntimeError("no")

    broken = receiver.subscribe(fails)
    receiver.subscribe(received.append, types=["user_message"])
    other.subscribe(receiver.relay)
    other.publish_all([BEGIN, HELLO])
    assert [event.type for event in received] == ["user_message"]
    assert broken.failures == 2


async def test_what_belongs_to_no_exchange() -> None:
    bus, received = EventBus("s"), list[Event]()
    bus.subscribe(received.append)
    bus.exchange = "ex"
    bus.publish_outside_exchange(BEGIN)
    bus.publish(HELLO)
    assert [event.exchange for event in received] == [None, "ex"]


@heald.tool
async def look() -> str:
    """Looks."""
    return "seen"


async def test_a_drop_in_the_middle_of_an_event_is_no_fault_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    bus, received = EventBus("s"), list[int]()

    async def never(event: Event) -> None:
        await asyncio.sleep(3600)

    slow: Any = bus.subscribe(never, queue=1)
    bus.subscribe(lambda event: received.append(event.seq))
    bus.publish(BEGIN)
    await asyncio.sleep(0)
    bus.publish_all([HELLO, BEGIN, HELLO])
    await until(lambda: len(received) == 4)
    assert slow.dropped_at == 3
    slow._task.cancel()


async def test_played_logs_are_whole() -> None:
    result, log = await played([call("look")], "Done.", tools=[look])
    assert result.completed
    assert [event.seq for event in log.own] == list(range(1, len(log.own) + 1))
