"""Calls that models write as text: every form, in every split; other text passes unchanged."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.wires.text_call import TextCall
from heald.wires.text_calls import TextCalls

TOOLS = {"read_file": ["path", "start"], "write_file": ["path", "content"], "weather": ["city"]}
READ = [("read_file", {"path": "a.txt"})]
BOTH = [*READ, ("weather", {"city": "Oslo"})]
OBJECT = '{"name": "read_file", "arguments": {"path": "a.txt"}}'

CALLS = {
    "hermes": (f"<tool_call>\n{OBJECT}\n</tool_call>", READ),
    "hermes twice": (
        f'<tool_call>{OBJECT}</tool_call>\n<tool_call>{{"name":"weather","arguments":{{"city":"Oslo"}}}}</tool_call>',
        BOTH,
    ),
    "hermes not ended": (f"<tool_call>{OBJECT}", READ),
    "qwen coder": (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\none\ntwo\n"
        "</parameter>\n</function>\n</tool_call>",
        [("write_file", {"path": "a.txt", "content": "one\ntwo"})],
    ),
    "qwen agent": ('✿FUNCTION✿: read_file\n✿ARGS✿: {"path": "a.txt"}\n✿RESULT✿', READ),
    "fenced": (f"```json\n{OBJECT}\n```", READ),
    "fenced without a language": (f"```\n{OBJECT}\n```", READ),
    "fenced over lines": (
        '```json\n{\n  "name": "read_file",\n  "arguments": {\n    "path": "a.txt"\n  }\n}\n```',
        READ,
    ),
    "bare": (OBJECT, READ),
    "bare list": (f"[{OBJECT}]", READ),
    "python quotes": ("{'name': 'read_file', 'arguments': {'path': 'a.txt'}}", READ),
    "raw line breaks": (
        '{"name": "write_file", "arguments": {"path": "a.txt", "content": "one\ntwo"}}',
        [("write_file", {"path": "a.txt", "content": "one\ntwo"})],
    ),
    "trailing comma": ('{"name": "read_file", "arguments": {"path": "a.txt",}}', READ),
    "as the API has it": (
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.txt\\"}"}}',
        READ,
    ),
    "tool_calls": (f'{{"tool_calls": [{OBJECT}]}}', READ),
    "action": ('{"action": "read_file", "action_input": {"path": "a.txt"}}', READ),
    "name as key": ('{"read_file": {"path": "a.txt"}}', READ),
    "arguments beside the name": ('{"tool": "read_file", "path": "a.txt"}', READ),
    "llama": ('<|python_tag|>{"name": "read_file", "parameters": {"path": "a.txt"}}', READ),
    "llama builtin": ('<|python_tag|>read_file.call(path="a.txt")', READ),
    "llama function": ('<function=read_file>{"path": "a.txt"}</function>', READ),
    "llama list": ('[read_file(path="a.txt"), weather(city="Oslo")]', BOTH),
    "mistral": (f"[TOOL_CALLS][{OBJECT}]", READ),
    "mistral new": ('[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}', READ),
    "deepseek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n"
        '{"path": "a.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        READ,
    ),
    "deepseek new": (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        READ,
    ),
    "python": ('read_file("a.txt")', READ),
    "python with names": ('read_file(path="a.txt")\n', READ),
    "python fenced": ('```python\nread_file(path="a.txt")\n```', READ),
    "gemma": ('```tool_code\nprint(default_api.read_file(path="a.txt"))\n```', READ),
    "python over lines": (
        'write_file(path="a.py", content="""def f():\n    return 1\n""")\n',
        [("write_file", {"path": "a.py", "content": "def f():\n    return 1\n"})],
    ),
}
QUOTING = [
    row["text"]
    for row in json.loads((Path(__file__).parents[1] / "agent" / "quoting_texts.json").read_text(encoding="utf-8"))
]
TEXTS = [
    'Hello.\nThis is {"a": 1} text.',
    "```python\ndef f():\n    return 1\n```\nDone.",
    '{"name": "Bob", "age": 3}',
    '{"name": "delete_all", "arguments": {}}',
    '{"city": "Oslo"}',
    "[1, 2, 3]\nok",
    "[link](http://x)\n- item",
    "read_file is a tool (path).",
    "foo(bar)\nbaz",
    "<b>html</b> < 3 ``` x",
    '```json\n{"a": 1}\n```\ntail',
    "<tool_call>nothing</tool_call>",
    "[TOOL",
    "   ",
    "```",
    "{",
]


def split(text: str, size: int) -> tuple[str, list[tuple[str, object]], TextCalls]:
    reader = TextCalls(TOOLS)
    parts = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])] + reader.close()
    prose = "".join(part for part in parts if isinstance(part, str))
    return prose, [(part.name, part.arguments) for part in parts if isinstance(part, TextCall)], reader


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("name", CALLS)
def test_a_call(name: str, size: int) -> None:
    text, expected = CALLS[name]
    assert split(text, size)[:2] == ("", expected)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_among_prose(name: str) -> None:
    text, expected = CALLS[name]
    prose, calls, _ = split(f"I look it up.\n\n{text}", 4)
    assert (prose, calls) == ("I look it up.\n\n", expected)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("text", TEXTS)
def test_other_text_is_unchanged(text: str, size: int) -> None:
    assert split(text, size)[:2] == (text, [])


def test_words_that_begin_no_call_wait_for_nothing() -> None:
    for text, is_passed in (
        ("The", True),
        ("  The loom stood", True),
        ("a loom", True),
        ("\nThe", False),
        ("f", False),
        ("print", False),
        ("f(", False),
        ("functions.f", False),
        ("The `loom`", False),
        ('{"name"', False),
    ):
        assert TextCalls({"f": ["x"]}).skip_plain(text) is is_passed, text


@pytest.mark.parametrize("text", [*(text for text, _ in CALLS.values()), *QUOTING])
def test_the_split_of_a_text_makes_no_difference(text: str) -> None:
    outcomes = [split(text, size)[:2] for size in (1, 2, 3, 7, 100_000)]
    assert all(outcome == outcomes[0] for outcome in outcomes)


def test_text_behind_a_call_makes_it_text() -> None:
    for text, _ in CALLS.values():
        prose = f"{text}\n\nI have not done it. Shall I?"
        assert split(prose, 4)[:2] == (prose, [])


def test_tokens_behind_a_call_are_no_text() -> None:
    for token in (
        "\n\n",
        "<|im_end|>",
        "</s>",
        "<|eot_id|>\n",
        "<end_of_turn>",
        "</tool_call>",
        "<｜end▁of▁sentence｜>",
    ):
        for size in (1, 1000):
            assert split(f"<tool_call>{OBJECT}</tool_call>{token}", size)[:2] == ("", READ)


def test_a_long_blank_tail_ends_a_call() -> None:
    assert split(OBJECT + "\n" * 20_000, 1)[:2] == ("", READ)


def test_text_between_two_calls_makes_the_first_one_text() -> None:
    call = f"<tool_call>{OBJECT}</tool_call>"
    for between in ("then", "<b", "<b>", "\n\nThen:\n\n"):
        for size in (1, 1000):
            assert split(f"{call}{between}{call}", size)[:2] == (f"{call}{between}", READ)


@given(st.text(alphabet="ab{}[]()<>`\"':,\n _=|toolcall", max_size=60), st.integers(1, 9))
def test_no_text_is_lost(text: str, size: int) -> None:
    prose, calls, _ = split(text, size)
    assert calls or prose == text


def test_a_marked_call_that_cannot_be_read_is_noticed() -> None:
    assert split('<tool_call>{"name": "read_file", "argu', 5)[2].failed
    assert not split("A plain answer.", 5)[2].failed
