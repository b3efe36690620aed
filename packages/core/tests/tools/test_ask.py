"""ask_user: the question reaches whoever is there, and the answer comes back."""

from collections.abc import Sequence

import pytest

from heald.core.messages import ToolCall
from heald.tools.ask_user import ask_user
from heald.tools.context import ToolContext
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput


class Person:
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.heard: list[tuple[str, str, Sequence[str]]] = []

    async def __call__(self, call: ToolCall, text: str, suggestions: Sequence[str]) -> str:
        self.heard.append((call.id, text, suggestions))
        return self.answer


async def call(person: Person, question: str, suggestions: object) -> ToolOutput:
    assert ask_user.convert is not None
    arguments = ask_user.convert({"question": question, "suggestions": suggestions})
    call = ToolCall(id="c7", name="ask_user", input=arguments)
    ctx = ToolContext(call, None, emit=lambda _: None, keep=SessionObjects(), ask=person)  # pyright: ignore[reportArgumentType]
    return await ask_user.run(arguments, ctx)


async def test_the_answer_comes_back() -> None:
    person = Person("blue")
    output = await call(person, " Which colour? ", ["red", " green "])
    assert output.content == "blue"
    assert person.heard == [("c7", "Which colour?", ["red", "green"])]


async def test_no_answer_is_reported() -> None:
    assert (await call(Person(""), "Which?", ["a", "b"])).content == "The user gave no answer."


@pytest.mark.parametrize("suggestions", [[], ["one"], ["a", "b", "c", "d", "e"], "ab", [1, 2]])
async def test_two_to_four_suggestions(suggestions: object) -> None:
    person = Person("x")
    with pytest.raises(ValueError):  # noqa: PT011
        await call(person, "Which?", suggestions)
    assert person.heard == []


async def test_empty_words_are_refused() -> None:
    for question, suggestions in ((" ", ["a", "b"]), ("Which?", ["a", " "])):
        with pytest.raises(ToolFault):
            await call(Person("x"), question, suggestions)


def test_it_waits_as_long_as_people_do() -> None:
    assert ask_user.effect == "none"
    assert ask_user.timeout is not None
    assert ask_user.timeout >= 24 * 3600
    assert ask_user.summary is not None
    assert ask_user.summary({"question": "Which?"}) == "Ask: Which?"
