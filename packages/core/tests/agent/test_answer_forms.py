"""The right answer is written in every form; a wrong one is written right or not at all, and never completes."""

import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import answer_forms
import pytest
from answer_forms import FORMS, MUTATIONS, Answer, Form, Mutation
from answer_tasks import TASKS, Task

import heald
from example_counts import IS_LONG
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_stream

SMALL = "qwen2.5-coder-1.5b-instruct"
WORDS = Answer("I think that this is right.")
EACH = 200 if IS_LONG else 60
"""Wrong answers of each kind: more than there are tasks."""


class Player:
    """Plays answers of a model to the agent of `heald run`, each in a conversation of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies: list[Reply] = []
        self._server = ScriptedServer(lambda _: self.replies.pop(0))

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator["Player"]:
        async with self._server:
            self._model = heald.Model(SMALL, base_url=self._server.url + "/v1", api_key="no-key")
            yield self

    async def play(
        self, task: Task, other: Task, *answers: Answer, request: str = "", turns: int = 5
    ) -> tuple[str, str]:
        """Return the status of the exchange and its error. Behind the answers the model only says something."""
        for written in (task, other):
            (self.folder / written.path).write_bytes(written.before.encode())
        self.replies = [_reply(answer) for answer in (*answers, *[WORDS] * 3)]
        budget = heald.Budget(turns=turns)
        async with heald.Agent(self._model, tools=["files"], workspace=self.folder, budget=budget) as agent:
            result = await agent.send(request or task.request).result()
        return result.status, result.error.message if result.error is not None else ""

    def read(self, task: Task) -> str:
        return (self.folder / task.path).read_bytes().decode()

    def clear(self) -> set[str]:
        """Remove all files, and return their paths."""
        paths = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        for path in paths:
            (self.folder / path).unlink()
        return paths


def _reply(answer: Answer) -> Reply:
    calls = [] if answer.call is None else [ToolCall(id="c1", name=answer.call[0], input=answer.call[1])]
    stop = "max_tokens" if answer.is_cut else "tool_use" if calls else "end_turn"
    body = wire_stream("chat", text=answer.text, calls=calls, stop=stop)
    return Reply([b"".join(body)])


def _neighbour(task: Task) -> Task:
    return TASKS[(TASKS.index(task) + 1) % len(TASKS)]


@pytest.mark.parametrize("form", FORMS)
async def test_the_right_answer_is_written(tmp_path: Path, form: Form) -> None:
    async with Player(tmp_path).serve() as player:
        for task in TASKS:
            other = _neighbour(task)
            request = f"{task.request} {other.request}" if form is answer_forms.two_files else ""
            status, error = await player.play(task, other, form(task, other), request=request)
            assert (status, player.read(task)) == ("completed", task.after), f"{task.path} {error}"
            assert player.read(other) == (other.after if form is answer_forms.two_files else other.before)
            assert player.clear() == {task.path, other.path}


@pytest.mark.parametrize("form", FORMS)
async def test_a_file_with_crlf_keeps_it(tmp_path: Path, form: Form) -> None:
    async with Player(tmp_path).serve() as player:
        for task in TASKS[20:30:2] + TASKS[7:8]:
            windows = Task(task.path, task.request, task.before.replace("\n", "\r\n"), task.after.replace("\n", "\r\n"))
            other = _neighbour(task)
            request = f"{task.request} {other.request}" if form is answer_forms.two_files else ""
            status, error = await player.play(windows, other, form(task, other), request=request)
            assert (status, player.read(windows)) == ("completed", windows.after), f"{task.path} {error}"


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_a_wrong_answer_damages_nothing(tmp_path: Path, mutation: Mutation) -> None:
    chance = random.Random(f"answers {mutation.__name__}")
    outcomes: Counter[str] = Counter()
    async with Player(tmp_path).serve() as player:
        for number in range(EACH):
            task = TASKS[number % len(TASKS)]
            other = _neighbour(task)
            answer = mutation(task, other, chance)
            turns = 1 if number % 2 else 5  # without a reminder, or with one and the same or another answer behind it
            status, error = await player.play(task, other, *[answer] * (1 + number % 4 // 2), turns=turns)
            case = f"{number} {task.path} {status} {error}\n{answer.text}"
            assert player.read(task) in (task.before, task.after), case
            assert player.read(other) in (other.before, other.after), case
            changes = (player.read(task), player.read(other)) != (task.before, other.before)
            assert changes or status == "failed", case
            assert error or status == "completed", case
            assert player.clear() == {task.path, other.path}, case
            outcomes[f"{status}, {'written' if changes else 'not written'}"] += 1
    assert sum(outcomes.values()) == EACH
    assert not outcomes["completed, not written"]
