"""Ways to ask a small model that writes files as text: what its requests look like, and what is sent back."""

import subprocess
import sys
from pathlib import Path

import pytest
from agent.test_text_editing import of, run

from heald.core.events import ExchangeRequest
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


def report_of(folder: Path, code: str) -> str:
    """The report of real tests on some code."""
    (folder / "clock.py").write_text(code)
    (folder / "clock_test.py").write_text(TESTS)
    words = (sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "clock_test.py")
    output = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout
    (folder / "clock_test.py").unlink()
    return output


@pytest.mark.parametrize("style", ["", "plain", "plain,report", "steps,report", "report"])
async def test_every_style_writes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str) -> None:
    monkeypatch.setenv("HEALD_TEXT_STYLE", style)
    (tmp_path / "clock.py").write_text(STUB)
    reply = wire_reply("chat", text=f"The code:\n\n```python\n{RIGHT}```\nIt counts hours.")
    result, _, server = await run(tmp_path, [reply], "Implement this in clock.py.")
    assert (tmp_path / "clock.py").read_text() == RIGHT
    assert result.turns == 1
    messages = server.requests[0].body["messages"]
    is_plain = "plain" in style or "steps" in style
    assert len(messages) == (2 if is_plain else 4)
    assert ("```python\nclass Clock" in str(messages[-1]["content"])) == is_plain
    assert ("First say" in messages[0]["content"]) == ("steps" in style)


async def test_a_report_is_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_TEXT_STYLE", "report")
    request = f"{report_of(tmp_path, WRONG)}\n\n---\n\nThese tests failed. Fix the code in clock.py."
    replies = [wire_reply("chat", text=answer(WRONG)), wire_reply("chat", text=answer(RIGHT))]
    _, events, server = await run(tmp_path, replies, request)
    bodies = [str(sent.body["messages"][-1]["content"]) for sent in server.requests]
    assert "- past midnight: Clock(23).shift(2)\n  got 25, expected 1" in bodies[0]
    assert "FAILURES" not in bodies[0]
    assert "clock_test.py:7" not in bodies[0]
    assert bodies[0].endswith("These tests failed. Fix the code in clock.py.")
    assert "it fails:\n- past midnight: Clock(23).shift(2)" in bodies[1]  # the same code again
    assert "FAILURES" in of(events, ExchangeRequest)[0].message.text  # the log has the request as it was
    assert (tmp_path / "clock.py").read_text() == RIGHT


async def test_code_that_is_repeated_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_TEXT_STYLE", "plain,report,fresh")
    long = WRONG.replace(
        "        return self.hour\n", "        for _ in range(3):\n            hours += 0\n        return self.hour\n"
    )
    short = RIGHT.replace(
        "        self.hour = (self.hour + hours) % 24\n        return self.hour\n",
        "        return (self.hour + hours) % 24\n",
    )
    request = f"{report_of(tmp_path, long)}\n\n---\n\nThese tests failed. Fix the code in clock.py."
    replies = [wire_reply("chat", text=answer(long)), wire_reply("chat", text=answer(short))]
    result, _, server = await run(tmp_path, replies, request)
    first, second = (sent.body["messages"] for sent in server.requests)
    assert "hours += 0" in str(first[-1]["content"])
    assert [message["role"] for message in second] == ["system", "user"]  # its answer is not shown to it
    text = str(second[-1]["content"])
    assert "hours += 0" not in text
    assert "def shift(self, hours):\n        pass" in text
    assert "- past midnight: Clock(23).shift(2)\n  got 25, expected 1\nIts functions are empty now." in text
    assert (tmp_path / "clock.py").read_text() == short
    assert result.status == "completed"


@pytest.mark.parametrize(
    ("code", "reminder"),
    [
        (RIGHT.replace("% 24", "% math.floor(24.5)"), "math is used in clock.py and neither defined nor imported"),
        (RIGHT.partition("        self.hour = (")[0] + "        pass\n", "Clock.shift in clock.py has no body yet"),
    ],
)
async def test_code_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, reminder: str) -> None:
    monkeypatch.setenv("HEALD_TEXT_STYLE", "report")
    (tmp_path / "clock.py").write_text(STUB)
    replies = [wire_reply("chat", text=answer(code)), wire_reply("chat", text=answer(RIGHT))]
    result, _, server = await run(tmp_path, replies, "Implement the clock in clock.py.")
    assert result.turns == 2
    assert reminder in str(server.requests[1].body["messages"][-1]["content"])
    assert (tmp_path / "clock.py").read_text() == RIGHT
