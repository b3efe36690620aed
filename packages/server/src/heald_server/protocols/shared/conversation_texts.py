"""Compares the conversation that a client sends with that of a session, by their texts."""

from collections.abc import Sequence

from heald.core.envelope import Event
from heald.core.events import AssistantMessage, ExchangeRequest, SessionRewound
from heald.core.messages import Message


def exchanged_texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The texts of the user and of the assistant, request by request and without white space.

    Clients join the texts of several turns in their own ways and do not all store calls and thinking.
    """
    pairs: list[tuple[str, str]] = []
    for message in messages:
        text = _compact(message)
        if message.role == "user":
            pairs.append((text, ""))
        elif message.role == "assistant" and text:
            asked, answered = pairs.pop() if pairs else ("", "")
            pairs.append((asked, answered + text))
    return pairs


class RequestTexts:
    """The texts of a session, exchange by exchange. A message that another client sent into a running exchange is left
    out: the client that began the exchange does not have it."""

    def __init__(self, history: Sequence[Message]) -> None:
        self._pairs = [(0, pair) for pair in exchanged_texts(history)]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [pair for _, pair in self._pairs]

    def feed(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest(message=message) if message.role == "user":
                self._pairs.append((event.seq, (_compact(message), "")))
            case AssistantMessage(message=message) if self._pairs:
                seq, (asked, answered) = self._pairs[-1]
                self._pairs[-1] = seq, (asked, answered + _compact(message))
            case SessionRewound(seq=upto):
                self._pairs = [pair for pair in self._pairs if pair[0] <= upto]
            case _:
                pass


def _compact(message: Message) -> str:
    return "".join(message.words.split())


def is_same_conversation(theirs: Sequence[tuple[str, str]], ours: Sequence[tuple[str, str]]) -> bool:
    """Whether a client's texts are those of a session.

    Requests are equal. An answer that broke off is the beginning of ours, one after a dropped attempt ends with ours,
    and a client that keeps the last turn of an answer has the end of ours.
    """
    return len(theirs) == len(ours) and all(
        asked == question and _is_same_answer(answered, answer)
        for (asked, answered), (question, answer) in zip(theirs, ours, strict=True)
    )


def _is_same_answer(theirs: str, ours: str) -> bool:
    return not ours or ours.startswith(theirs) or theirs.endswith(ours) or ours.endswith(theirs)
