"""The rows of the table: a command line of an agent for the first try and for the second one."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.exercism.exercise import TestRun
from benchmarks.tasks.runners import Place


class Assignment(Protocol):
    """What the rows are asked to do: an exercise, or a task in a repository."""

    @property
    def slug(self) -> str: ...

    @property
    def request(self) -> str: ...

    @property
    def solution_files(self) -> tuple[str, ...]:
        """The files that an agent which does not look for them gets."""
        ...

    def second_request(self, output: str) -> str: ...

    def prepare(self, folder: Path) -> None: ...

    def test(self, folder: Path, answer: str) -> TestRun:
        """Judge the files of a folder, and what the agent printed."""
        ...


@dataclass(frozen=True)
class Try:
    """What an agent is asked: the exercise, and from the second try on what its tests said."""

    exercise: Assignment
    place: Place
    home: Path
    """A folder of the row and the exercise, outside of the one it works in: its settings and history."""
    test_output: str = ""

    @property
    def is_second(self) -> bool:
        return bool(self.test_output)


@dataclass(frozen=True)
class Row:
    """An agent with its options."""

    name: str
    program: str
    command: Callable[[Try], list[str]]

    @property
    def path(self) -> str | None:
        """The program, beside this Python or on the path."""
        beside = Path(sys.executable).with_name(self.program)
        return str(beside) if beside.exists() else shutil.which(self.program)


def environment(attempt: Try) -> dict[str, str]:
    """The environment of a try: an empty home, so that no setting of the user counts, and the endpoint's key."""
    home = str(attempt.home)
    names = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "TMPDIR")
    return {name: os.environ[name] for name in names if name in os.environ} | {
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_CONFIG_HOME": f"{home}/config",
        "XDG_DATA_HOME": f"{home}/data",
        "OPENAI_API_BASE": attempt.place.base_url,
        "OPENAI_API_KEY": attempt.place.key,
        "COLUMNS": "120",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _heald(*options: str) -> Callable[[Try], list[str]]:
    def command(attempt: Try) -> list[str]:
        place = attempt.place
        model = ["--model", place.model, "--base-url", place.base_url, "--api-key-env", "OPENAI_API_KEY"]
        text = attempt.exercise.request
        if attempt.is_second:  # `heald run` keeps no conversation: the request is said again
            text = f"{text}\n{attempt.exercise.second_request(attempt.test_output)}"
        fixed = ["--workspace", ".", "--permissions", "auto", "--temperature", "0"]
        return ["run", *model, *fixed, *options, text]

    return command


def _aider(edit_format: str) -> Callable[[Try], list[str]]:
    def command(attempt: Try) -> list[str]:
        history = str(attempt.home / "chat.md")
        text = attempt.exercise.second_request(attempt.test_output) if attempt.is_second else attempt.exercise.request
        request = attempt.home / "request.md"  # aider notes its command line in the history, with a --message in it
        request.write_text(text, "utf-8")
        _store_prices(attempt.home)
        quiet = ("no-git", "no-check-update", "no-show-model-warnings", "no-show-release-notes", "no-detect-urls")
        return [
            *("--model", f"openai/{attempt.place.model}", "--edit-format", edit_format, "--yes-always"),
            *(f"--{name}" for name in quiet),
            *("--analytics-disable", "--no-suggest-shell-commands", "--no-pretty", "--no-fancy-input"),
            # a conversation of two tries is not summarised
            *("--chat-history-file", history, "--max-chat-history-tokens", "4096"),
            *("--input-history-file", str(attempt.home / "input")),
            *(("--restore-chat-history",) if attempt.is_second else ()),
            *("--message-file", str(request), *attempt.exercise.solution_files),
        ]

    return command


def _store_prices(home: Path) -> None:
    """Store an empty list of prices where aider keeps it, so that no start waits for the network."""
    cache = home / ".aider" / "caches" / "model_prices_and_context_window.json"
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text('{"none": {}}', "utf-8")


DEFAULT_ROWS = ("heald", "heald-tools", "aider-whole", "aider-diff")
ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row("heald", "heald", _heald()),
        Row("heald-text", "heald", _heald("--edit-format", "text")),
        Row("heald-tools", "heald", _heald("--edit-format", "tools")),
        Row("aider-whole", "aider", _aider("whole")),
        Row("aider-diff", "aider", _aider("diff")),
    )
}
