"""A report of pytest in a request is shortened to its failures; other texts stay as they are."""

import os
import subprocess
import sys

import pytest

from heald.wires.pytest_report import read_failures, shorten_report

TESTS = """import unittest


def double(number):
    return number + 2


def broken(number):
    return number.missing


class DoubleTest(unittest.TestCase):
    def test_seven(self):
        self.assertEqual(double(7), 14)

    def test_seven_turned(self):
        self.assertEqual(14, double(7))

    def test_list(self):
        self.assertEqual([double(7)], [14])

    def test_truth(self):
        self.assertIs(double(7) == 14, True)

    def test_inside(self):
        self.assertEqual(broken(3), 6)

    def test_raised(self):
        with self.assertRaises(ValueError):
            double(1)


def test_plain():
    assert double(5) == 10
"""
FAULTS = {
    "seven: double(7)\n  got 9, expected 14",
    "seven turned: double(7)\n  got 9, expected 14",
    "list: [double(7)]\n  got [9], expected [14]",
    "truth: self.assertIs(double(7) == 14, True)\n  got False, expected True",
    "raised: with self.assertRaises(ValueError):\n  AssertionError: ValueError not raised",
    "plain: assert double(5) == 10\n  assert 7 == 10 +  where 7 = double(5)",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    (folder / "double_test.py").write_text(TESTS)
    words = (sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "double_test.py")
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_the_failures_of_a_report(report: str) -> None:
    failures = [str(failure) for failure in read_failures(report)]
    expected = FAULTS - {"seven turned: double(7)\n  got 9, expected 14"}  # the same as another one
    expected = {text.replace("self.assertIs(double(7) == 14, True)", "double(7) == 14") for text in expected}
    assert expected <= set(failures)
    inside = next(text for text in failures if text.startswith("inside"))
    assert "AttributeError: 'int' object has no attribute 'missing'" in inside
    assert "return number.missing" in inside


def test_what_stands_around_a_report_stays(report: str) -> None:
    text = f"Before it.\n\n{report}\n\n---\n\nFix the code."
    short = shorten_report(text)
    assert short.startswith("Before it.\n\nFailing tests:\n- ")
    assert short.endswith("\n---\n\nFix the code.")
    assert len(short) < len(text) / 2


def test_a_report_that_was_cut(report: str) -> None:
    cut = "\n".join(report.splitlines()[:12])
    assert shorten_report(f"{cut}\n\n---\n\nFix it.").count("\n- ") == 1


@pytest.mark.parametrize("text", ["", "Fix a.py.", "=== FAILURES ===\nnothing that can be read", "a\n---\nb"])
def test_other_texts_stay(text: str) -> None:
    assert shorten_report(text) == text
