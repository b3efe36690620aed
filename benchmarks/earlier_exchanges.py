"""A conversation that was held before the measurement: questions, tool calls with their results, and answers.

An earlier exchange is two turns of the model: a call of `add`, and a text after its result. `rows` and `native` convert
it for each library and wire before anything is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.content import text_deltas

TURNS_IN_EXCHANGE = 2
_FIRST_NUMBER = 1_000_000
_QUESTION_WORDS = 16
_ANSWER_WORDS = 40


@dataclass(frozen=True)
class EarlierExchange:
    """A question, a call of `add` with its result, and an answer; `number` makes the call's id unique."""

    number: int
    question: str
    a: int
    b: int
    answer: str

    @property
    def arguments(self) -> dict[str, int]:
        return {"a": self.a, "b": self.b}

    @property
    def result(self) -> str:
        return str(self.a + self.b)

    @property
    def call_id(self) -> str:
        return f"call_bench{self.number:019d}"


@cache
def exchanges_of(turns: int) -> Sequence[EarlierExchange]:
    """The exchanges of a conversation that holds this many turns."""
    return tuple(_exchange(place) for place in range(turns // TURNS_IN_EXCHANGE))


def results_in(turns: int) -> int:
    """The tool results that a request with such a past must hold."""
    return turns // TURNS_IN_EXCHANGE


def _exchange(place: int) -> EarlierExchange:
    words = text_deltas(60)
    shift = place % 17
    return EarlierExchange(
        number=_FIRST_NUMBER + place,
        question=f"Question {place}:" + "".join(words[shift : shift + _QUESTION_WORDS]),
        a=place,
        b=2000 + place,
        answer=f"Answer {place}:" + "".join(words[shift : shift + _ANSWER_WORDS]),
    )
