"""A sum over a conversation that grows: no message is measured twice, unless one was replaced or removed."""

from heald.core.messages import Message, user_message
from heald.core.running_total import RunningTotal


class Measure:
    """Counts the letters of a message, and the calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, message: Message) -> int:
        self.calls += 1
        return len(message.text)


def test_each_message_is_measured_once() -> None:
    measure, messages = Measure(), [user_message("one")]
    total = RunningTotal(measure)
    assert total.of([]) == 0
    for text in ("two", "three", "four"):
        messages.append(user_message(text))
        assert total.of(messages) == sum(len(message.text) for message in messages)
        assert total.of(messages) == sum(len(message.text) for message in messages)
    assert measure.calls == 4


def test_replaced_and_removed_messages_are_measured_anew() -> None:
    measure, messages = Measure(), [user_message("one"), user_message("two"), user_message("three")]
    total = RunningTotal(measure)
    assert total.of(messages) == 11
    messages[1] = user_message("in between")
    assert total.of(messages) == 18
    del messages[0]
    assert total.of(messages) == 15
    del messages[1:]
    assert total.of(messages) == 10
