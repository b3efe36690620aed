"""Checks of an answer: functions of a `CaseRun`. This module has those that most cases need, and runs any."""

import inspect
import linecache
import re
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from heald.core.json import encode_text
from heald_evals.case_run import CaseRun
from heald_evals.check_outcome import CheckOutcome

CheckResponse = bool | CheckOutcome | None
Check = Callable[[CaseRun], CheckResponse | Awaitable[CheckResponse]]
"""A function of a `CaseRun`. It passes by returning None or True, and fails by returning False or by raising, as a
failed `assert` does. It may return a `CheckOutcome`, and it may be a coroutine function."""

_EXCERPT = 200


def contains(*texts: str) -> Check:
    """Make a check: the answer contains each of these texts, in any case of letters."""

    def check(run: CaseRun) -> CheckOutcome:
        answer = run.text.casefold()
        absent = [text for text in texts if text.casefold() not in answer]
        reason = f"the answer does not contain {_listed(absent)}: {excerpt(run.text)}"
        return CheckOutcome(name, not absent, reason if absent else "")

    name = f"contains {_listed(texts)}"
    return _named(check, name)


def excludes(*texts: str) -> Check:
    """Make a check: the answer contains none of these texts, in any case of letters."""

    def check(run: CaseRun) -> CheckOutcome:
        answer = run.text.casefold()
        present = [text for text in texts if text.casefold() in answer]
        reason = f"the answer contains {_listed(present)}: {excerpt(run.text)}"
        return CheckOutcome(name, not present, reason if present else "")

    name = f"excludes {_listed(texts)}"
    return _named(check, name)


def matches(pattern: str) -> Check:
    """Make a check: the answer contains a match of this regular expression."""
    compiled = re.compile(pattern)

    def check(run: CaseRun) -> CheckOutcome:
        is_match = compiled.search(run.text) is not None
        return CheckOutcome(name, is_match, "" if is_match else f"the answer does not match: {excerpt(run.text)}")

    name = f"matches {pattern}"
    return _named(check, name)


def equals(expected: Any) -> Check:
    """Make a check: the typed output is this value or, for an agent without one, the answer is this text. Spaces at
    the ends of a text do not count."""

    def check(run: CaseRun) -> CheckOutcome:
        actual = run.text if run.output is None else run.output
        is_equal = _stripped(actual) == _stripped(expected)
        reason = f"expected {excerpt(expected)}, got {excerpt(actual)}"
        return CheckOutcome("equals", is_equal, "" if is_equal else reason)

    return _named(check, "equals")


def calls(tool: str, /, **arguments: Any) -> Check:
    """Make a check: the agent called this tool, with these arguments among others."""

    def check(run: CaseRun) -> CheckOutcome:
        inputs = [call.input for call in run.calls if call.name == tool]
        if any(_holds(call_input, arguments) for call_input in inputs):
            return CheckOutcome(name, True)
        if inputs:
            reason = f"{tool} was called with {', '.join(excerpt(encode_text(call_input)) for call_input in inputs)}"
        else:
            names = list(dict.fromkeys(call.name for call in run.calls))
            reason = f"{tool} was not called; the calls were of {', '.join(names)}" if names else "no tool was called"
        return CheckOutcome(name, False, reason)

    name = f"calls {tool}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return _named(check, name)


def avoids(*tools: str) -> Check:
    """Make a check: the agent called none of these tools."""

    def check(run: CaseRun) -> CheckOutcome:
        called = list(dict.fromkeys(call.name for call in run.calls if call.name in tools))
        return CheckOutcome(name, not called, f"{', '.join(called)} was called" if called else "")

    name = f"avoids {', '.join(tools)}"
    return _named(check, name)


def writes(path: str, content: str | None = None) -> Check:
    """Make a check: the agent wrote this file, with this content if one is named."""

    def check(run: CaseRun) -> CheckOutcome:
        if path not in run.files:
            others = f"; {', '.join(run.files)} was" if run.files else ""
            return CheckOutcome(name, False, f"{path} was not written{others}")
        if content is not None and run.files[path] != content:
            return CheckOutcome(name, False, f"expected {excerpt(content)}, got {excerpt(run.files[path])}")
        return CheckOutcome(name, True)

    name = f"writes {path}"
    return _named(check, name)


async def run_check(check: Check, run: CaseRun) -> CheckOutcome:
    """Run a check. An error that it raises is a failure with a reason."""
    name = str(getattr(check, "__name__", type(check).__name__))
    try:
        response = check(run)
        if inspect.isawaitable(response):
            response = await response
    except Exception as error:
        return CheckOutcome(name, False, _describe(error))
    if isinstance(response, CheckOutcome):
        return response
    if response is None or isinstance(cast(object, response), bool):
        return CheckOutcome(name, response is not False)
    kind = type(response).__name__
    return CheckOutcome(name, False, f"the check returned a {kind}; return True, False, None or a CheckOutcome")


def excerpt(value: object) -> str:
    """Return the beginning of a value, on one line."""
    text = " ".join(value.split()) if isinstance(value, str) else repr(value)
    return f"{text[:_EXCERPT]} …" if len(text) > _EXCERPT else text or "(empty)"


def _describe(error: Exception) -> str:
    """Describe the error of a check, with its place. A bare `assert` has no message: its line is the reason."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    place = f"({frame.filename.rpartition('/')[2]}:{frame.lineno})"
    if isinstance(error, AssertionError):
        message = str(error).partition("\n")[0]  # pytest appends what each part of the expression is
        return f"{excerpt(message) if message else line or 'assertion failed'} {place}"
    return f"{type(error).__name__}: {excerpt(str(error))} {place}"


def _named(check: Callable[[CaseRun], CheckOutcome], name: str) -> Check:
    check.__name__ = name
    return check


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(repr(text) for text in texts)


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _holds(call_input: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    return all(name in call_input and call_input[name] == value for name, value in arguments.items())
