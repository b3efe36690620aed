"""A small model that writes files as text gets a report of tests: what it is shown, and what is sent back."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from agent.test_text_editing import SMALL, of, run

import heald
from heald.agent.emptied_code import empty_bodies
from heald.core.events import ExchangeRequest, ToolFailed
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

STUB = "class Clock:\n    def __init__(self, hour):\n        pass\n\n    def shift(self, hours):\n        pass\n"
RIGHT = (
    "class Clock:\n    def __init__(self, hour):\n        self.hour = hour\n\n"
    "    def shift(self, hours):\n        self.hour = (self.hour + hours) % 24\n        return self.hour\n"
)
WRONG = RIGHT.replace(" % 24", "")
TESTS = """import unittest
from clock import Clock


class ClockTest(unittest.TestCase):
    def test_past_midnight(self):
        self.assertEqual(Clock(23).shift(2), 1)
"""


def answer(code: str) -> str:
    return f"clock.py\n```python\n{code}```\n"


@cache
def report_of(code: str) -> str:
    """The report of real tests on some code."""
    words = (sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "clock_test.py")
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with TemporaryDirectory() as folder:
        Path(folder, "clock.py").write_text(code)
        Path(folder, "clock_test.py").write_text(TESTS)
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def request_of(folder: Path, code: str, request: str = "These tests failed. Fix the code in clock.py.") -> str:
    """A request about a report, with the code in a folder."""
    (folder / "clock.py").write_text(code)
    return f"{report_of(code)}\n\n---\n\n{request}"


FUNCTIONS = "\n\n".join(f"def shift{number}(hour):\n    return (hour + {number}) % 24\n" for number in range(3))
LONG = WRONG.replace(
    "        return self.hour\n", "        for _ in range(3):\n            hours += 0\n        return self.hour\n"
)
SHORT = RIGHT.replace(
    "        self.hour = (self.hour + hours) % 24\n        return self.hour\n",
    "        return (self.hour + hours) % 24\n",
)


async def test_a_report_is_shortened(tmp_path: Path) -> None:
    request = request_of(tmp_path, WRONG)
    _, events, server = await run(tmp_path, [wire_reply("chat", text=answer(RIGHT))], request)
    body = str(server.requests[0].body["messages"][-1]["content"])
    assert "- past midnight: Clock(23).shift(2)\n  got 25, expected 1" in body
    assert "FAILURES" not in body
    assert "clock_test.py:7" not in body
    assert body.endswith("These tests failed. Fix the code in clock.py.")
    assert "FAILURES" in of(events, ExchangeRequest)[0].message.text  # the log has the request as it was
    assert (tmp_path / "clock.py").read_text() == RIGHT


async def test_a_question_about_a_report_shows_all_of_it(tmp_path: Path) -> None:
    request = request_of(tmp_path, WRONG, "Why does this fail? Do not change anything.")
    _, _, server = await run(tmp_path, [wire_reply("chat", text="The hours are not limited.")], request)
    assert "clock_test.py:7" in str(server.requests[0].body["messages"][-1]["content"])


async def test_code_that_is_repeated_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def helper():\n    return 'untouched'\n")
    replies = [wire_reply("chat", text=answer(LONG)), wire_reply("chat", text=answer(SHORT))]
    result, _, server = await run(tmp_path, replies, request_of(tmp_path, LONG))
    first, second = (sent.body["messages"] for sent in server.requests)
    assert "hours += 0" in str(first[-1]["content"])
    assert len(first) == len(second)  # its answer is not shown to it
    text = str(second[-1]["content"])
    assert "hours += 0" not in text
    assert "def shift(self, hours):\n        pass" in text
    assert "return 'untouched'" in text  # it did not repeat this one
    assert "- past midnight: Clock(23).shift(2)\n  got 25, expected 1\nIts functions are empty now." in text
    assert (tmp_path / "clock.py").read_text() == SHORT
    assert result.status == "completed"


async def test_an_answer_that_is_worse_than_the_first_leaves_the_first(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text(STUB)
    half = RIGHT.partition("    def shift")[0] + "    def shift(self, hours):\n        pass\n"
    replies = [wire_reply("chat", text=answer(half)), wire_reply("chat", text=answer("class Clock:\n    def ("))]
    result, events, server = await run(tmp_path, replies, "Implement the class in clock.py.")
    assert "Clock.shift in clock.py has no body yet" in str(server.requests[1].body["messages"])
    assert (result.status, len(of(events, ToolFailed))) == ("completed", 1)
    assert (tmp_path / "clock.py").read_text() == half


@pytest.mark.parametrize(
    "rewritten",
    [
        empty_bodies("clock.py", LONG) or "",
        "def shift(self, hours):\n    pass\n",
        SHORT.replace("        return (self.hour + hours) % 24\n", '        """Add hours."""\n'),
    ],
)
async def test_functions_that_were_hidden_are_not_lost(tmp_path: Path, rewritten: str) -> None:
    replies = [wire_reply("chat", text=answer(LONG)), wire_reply("chat", text=answer(rewritten))]
    result, _, _ = await run(tmp_path, replies, request_of(tmp_path, LONG))
    assert (result.status, result.turns) == ("failed", 2)
    assert (tmp_path / "clock.py").read_text() == LONG


async def test_the_next_request_shows_the_code_again(tmp_path: Path) -> None:
    texts = (answer(LONG), answer(SHORT), answer(RIGHT))
    async with ScriptedServer([wire_reply("chat", text=text) for text in texts]) as server:
        model = heald.Model(SMALL, base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
            await agent.run(request_of(tmp_path, LONG))
            await agent.run("Store the hour in clock.py.")
        last = str(server.requests[2].body["messages"][-1]["content"])
    assert "return (self.hour + hours) % 24" in last
    assert (tmp_path / "clock.py").read_text() == RIGHT


async def test_a_file_without_functions_stays_in_sight(tmp_path: Path) -> None:
    request = request_of(tmp_path, WRONG).replace("code in clock.py.", "hours in limits.json.")
    (tmp_path / "limits.json").write_text('{"hours": 25}\n')
    texts = [f'limits.json\n```json\n{{"hours": {hours}}}\n```\n' for hours in (25, 24)]
    _, _, server = await run(tmp_path, [wire_reply("chat", text=text) for text in texts], request)
    text = str(server.requests[1].body["messages"][-1]["content"])
    assert '{"hours": 25}' in text
    assert "it fails:\n- past midnight: Clock(23).shift(2)" in text
    assert (tmp_path / "limits.json").read_text() == '{"hours": 24}\n'


AROUND = '''"""Hours."""
# A comment
LIMIT = 24


@decorated(1)
def first(
    a,
):
    """Words."""

    @inner
    def other():
        return "é"

    return other  # é


class Clock:
    hour = 0  # a number

    async def second(self): return 1


if LIMIT:
    def third():
        """Only words."""
'''
BODY = """    @inner
    def other():
        return "é"

    return other  # é
"""


def test_what_stands_around_a_body_stays() -> None:
    assert empty_bodies("a.py", AROUND) == AROUND.replace(BODY, "    pass  # é\n").replace("return 1", "pass")
    assert empty_bodies("a.py", "LIMIT = 24\n") is None
    assert empty_bodies("a.py", "def broken(:\n") is None
    assert empty_bodies("a.txt", "def f():\n    return 1\n") is None


@pytest.mark.parametrize(
    ("code", "reminder"),
    [
        (RIGHT.replace("% 24", "% math.floor(24.5)"), "math is used in clock.py and neither defined nor imported"),
        (RIGHT.partition("        self.hour = (")[0] + "        pass\n", "Clock.shift in clock.py has no body yet"),
    ],
)
async def test_code_is_checked_once(tmp_path: Path, code: str, reminder: str) -> None:
    (tmp_path / "clock.py").write_text(STUB)
    replies = [wire_reply("chat", text=answer(code)), wire_reply("chat", text=answer(RIGHT))]
    result, _, server = await run(tmp_path, replies, "Implement the clock in clock.py.")
    assert result.turns == 2
    assert reminder in str(server.requests[1].body["messages"][-1]["content"])
    assert (tmp_path / "clock.py").read_text() == RIGHT


@pytest.mark.parametrize(
    ("code", "reminder"),
    [
        (FUNCTIONS, "Clock is missing at the top level in clock.py"),
        (RIGHT.replace("def shift", "def move"), "Clock.shift is missing in clock.py"),
    ],
)
async def test_a_definition_to_implement_that_is_gone_is_asked_for(tmp_path: Path, code: str, reminder: str) -> None:
    (tmp_path / "clock.py").write_text(STUB)
    replies = [wire_reply("chat", text=answer(text)) for text in (code, RIGHT)]
    _, _, server = await run(tmp_path, replies, "Implement the clock in clock.py.")
    assert reminder in str(server.requests[1].body["messages"])
    assert (tmp_path / "clock.py").read_text() == RIGHT


@pytest.mark.parametrize(
    "code",
    [
        RIGHT.replace("Clock", "_Clock") + "\nClock = _Clock\n",
        f"from clocks import *\n{FUNCTIONS}",
        f"import clocks as Clock\n{FUNCTIONS}",
    ],
)
async def test_a_definition_under_another_name_is_there(tmp_path: Path, code: str) -> None:
    (tmp_path / "clock.py").write_text("class Clock:\n    def __init__(self):\n        pass\n")
    _, _, server = await run(tmp_path, [wire_reply("chat", text=answer(code))], "Implement the clock in clock.py.")
    assert len(server.requests) == 1


async def test_an_example_of_use_does_not_replace_the_file_before_it(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text(STUB)
    text = f"```python\n{RIGHT}```\n\nIt is used so:\n```python\nClock = Clock(23)\nhours = Clock.shift(2)\n" + (
        "print('past midnight', hours, 'or one day later', hours + 24, 'or two days later', hours + 48)\n```\n"
    )
    _, _, server = await run(tmp_path, [wire_reply("chat", text=text)], "Implement the clock in clock.py.")
    assert (tmp_path / "clock.py").read_text() == RIGHT
    assert len(server.requests) == 1


async def test_a_report_of_a_failed_import_names_the_line_of_the_tests(tmp_path: Path) -> None:
    request = request_of(tmp_path, "x = 1\n")
    _, _, server = await run(tmp_path, [wire_reply("chat", text=answer(RIGHT))], request)
    body = str(server.requests[0].body["messages"][-1]["content"])
    assert "- clock_test.py: from clock import Clock\n  ImportError: cannot import name 'Clock' from 'clock'" in body
    assert "importlib" not in body
