"""The forms in which a model may write the right answer to a task, and the ways in which an answer goes wrong."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from answer_tasks import Task


@dataclass(frozen=True)
class Answer:
    """What a model sends: a text, or a call."""

    text: str = ""
    call: tuple[str, dict[str, object]] | None = None
    is_cut: bool = False
    """Whether the provider says that the answer was cut off."""


def _marks(text: str) -> str:
    return "````" if "```" in text else "```"


def whole_file(task: Task, _: Task) -> Answer:
    marks = _marks(task.after)
    return Answer(f"{task.path}\n{marks}\n{task.after}{marks}\n")


def fence_with_path(task: Task, _: Task) -> Answer:
    marks = _marks(task.after)
    return Answer(f"{marks}{task.language} {task.path}\n{task.after}{marks}")


def diff(task: Task, _: Task) -> Answer:
    before, after = task.before.splitlines(), task.after.splitlines()
    lines = unified_diff(before, after, f"a/{task.path}", f"b/{task.path}", lineterm="")
    body = "\n".join(lines)
    return Answer(f"The change:\n\n```diff\n{body}\n```\n")


def search_replace(task: Task, _: Task) -> Answer:
    old, new = changed_lines(task, context=2)
    part = "\n".join(["<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"])
    return Answer(f"{task.path}\n```\n{part}\n```\n")


def tool_call(task: Task, _: Task) -> Answer:
    return Answer("I write the file.", ("write_file", {"path": task.path, "content": task.after}))


def text_call(task: Task, _: Task) -> Answer:
    call = {"name": "write_file", "arguments": {"path": task.path, "content": task.after}}
    return Answer(f"I write the file.\n<tool_call>\n{json.dumps(call)}\n</tool_call>")


def with_prose(task: Task, _: Task) -> Answer:
    marks = _marks(task.after)
    return Answer(
        f"I looked at `{task.path}` and found the place.\n\n1. Here it is.\n2. Nothing else changes.\n\n"
        f"**{task.path}**\n\n{marks}{task.language}\n{task.after}{marks}\n\nRun it with:\n\n```bash\nmake check\n```\n"
        "That is all."
    )


def nested_fences(task: Task, _: Task) -> Answer:
    """Blocks inside the file, with the same fence as around it."""
    return Answer(f"Here:\n\n{task.path}\n```{task.language}\n{task.after}```\n")


def crlf(task: Task, _: Task) -> Answer:
    """An answer of which all lines end with CRLF."""
    marks = _marks(task.after)
    return Answer(f"Done:\n\n{task.path}\n{marks}\n{task.after}{marks}\n".replace("\n", "\r\n"))


def two_files(task: Task, other: Task) -> Answer:
    blocks = [
        f"{written.path}\n{_marks(written.after)}\n{written.after}{_marks(written.after)}\n"
        for written in (task, other)
    ]
    return Answer("Both change.\n\n" + "\n".join(blocks))


Form = Callable[[Task, Task], Answer]
FORMS: tuple[Form, ...] = (
    whole_file,
    fence_with_path,
    diff,
    search_replace,
    tool_call,
    text_call,
    with_prose,
    nested_fences,
    crlf,
    two_files,
)


def changed_lines(task: Task, context: int) -> tuple[list[str], list[str]]:
    """The lines around the change, before and after it."""
    before, after = task.before.split("\n"), task.after.split("\n")
    head = next(at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start, end = max(head - context, 0), max(tail - context, 1)
    return before[start : len(before) - end], after[start : len(after) - end]


# --- what goes wrong ----------------------------------------------------------------------------------------------


def cut(task: Task, other: Task, chance: random.Random) -> Answer:
    """The answer ends somewhere, and the provider says so or does not."""
    form = chance.choice(
        [whole_file, fence_with_path, diff, search_replace, text_call, with_prose, nested_fences, crlf, two_files]
    )
    text = form(task, other).text
    return Answer(text[: chance.randrange(1, len(text))], is_cut=chance.random() < 0.3)


def quoted(task: Task, other: Task, chance: random.Random) -> Answer:
    """The answer quotes the file, or an answer, instead of giving one."""
    lines = task.before.split("\n")
    start = chance.randrange(len(lines) - 3)
    excerpt = "\n".join(lines[start : start + chance.randrange(1, 8)])
    match chance.randrange(4):
        case 0:
            return Answer(f"The place is here:\n\n{task.path}\n````\n{excerpt}\n````\n")
        case 1:
            text = chance.choice(FORMS[:4])(task, other).text
            return Answer("You could write:\n\n" + "\n".join(f"> {line}" for line in text.split("\n")))
        case 2:
            return Answer(f"The file is:\n\n{task.path}\n````\n{task.before}````\n\nIt can be changed.")
        case _:
            return Answer(f"In `{task.path}`:\n\n````{task.language}\n{excerpt}\n````\nThis must change.")


def wrong_fence(task: Task, other: Task, chance: random.Random) -> Answer:
    """Fences that are missing, too short, of the other kind or of another language."""
    after = task.after
    match chance.randrange(8):
        case 0:
            text = f"{task.path}\n````\n{after}```\n"
        case 1:
            text = f"{task.path}\n~~~\n{after}```\n"
        case 2:
            text = f"{task.path}\n```\n{after}\nThat is the file."
        case 3:
            text = f"{task.path}\n{after}```\n"
        case 4:
            text = f"{task.path}\n```\n{after}\n{other.path}\n```\n{other.after}```\n"
        case 5:
            text = f"{task.path}\n````{other.language}\n{after}````"
        case 6:
            text = f"{task.path}\n```{task.language}\n{after}\n\n{other.path}\n```{other.language}\n{other.after}```\n"
        case _:
            text = f"{task.path}\n\n{after}"
    return Answer(text)


def excerpt(task: Task, other: Task, chance: random.Random) -> Answer:
    """Some lines of the right file, with all of the change or with none of it."""
    after = task.after.split("\n")[:-1]
    new = changed_lines(task, context=0)[1]
    first = next(at for at in range(len(after)) if after[at : at + len(new)] == new) if new else len(after)
    while True:
        start, end = sorted(chance.sample(range(len(after) + 1), 2))
        if end - start == len(after):
            continue
        if (start <= first and first + len(new) <= end) or end <= first or start >= first + len(new):
            break
    lines = after[start:end]
    if chance.random() < 0.25:
        lines = [
            *lines,
            {"py": "# ... rest of the code", "html": "<!-- ... -->"}.get(task.language, "// ... existing code ..."),
        ]
    head = f"{task.path}\n````" if chance.random() < 0.8 else f"In {task.path}:\n````{task.language}"
    return Answer(f"{head}\n" + "\n".join(lines) + "\n````\n")


def other_file(task: Task, other: Task, chance: random.Random) -> Answer:
    """The content of another file, or another path."""
    text = chance.choice([other.before, other.after])
    match chance.randrange(3):
        case 0:
            return Answer(f"{task.path}\n````\n{text}````\n")
        case 1:
            return Answer(f"{other.path}\n````\n{task.after}````\n")
        case _:
            return Answer(f"src/{task.path}\n````\n{task.after}````\n")


Mutation = Callable[[Task, Task, random.Random], Answer]
MUTATIONS: Sequence[Mutation] = (cut, quoted, wrong_fence, excerpt, other_file)
