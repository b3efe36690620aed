"""A small model writes files as text; they go through the same gate, previews and log as calls."""

from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, FileChanged, FilePreview
from heald.core.messages import ToolCall, ToolResult
from heald.providers.model_size import is_small_model
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

SMALL = "qwen2.5-coder-1.5b-instruct"


async def run(
    folder: Path,
    replies: list[Reply],
    prompt: str,
    *,
    name: str = SMALL,
    facts: dict[str, object] | None = None,
    **options: Any,
) -> tuple[heald.AgentResult, list[Event], ScriptedServer]:
    events: list[Event] = []
    async with ScriptedServer(replies, facts=facts) as server:
        model = heald.Model(name, base_url=server.url + "/v1", api_key="no-key")
        async with heald.Agent(model, tools=["files"], workspace=folder, **options) as agent:
            agent.subscribe(events.append)
            result = await agent.send(prompt).result()
    assert check_log(events) == []
    return result, events, server


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event.data for event in events if isinstance(event.data, kind)]


async def test_a_whole_file(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text("def add(a, b):\n    return a - b\n")
    (tmp_path / "notes.txt").write_text("remember\n")
    answer = "The sign is wrong.\n\nadd.py\n```python\ndef add(a, b):\n    return a + b\n```\n"
    result, events, server = await run(tmp_path, [wire_reply("chat", text=list(answer))], "Fix the sum in add.py.")
    assert (tmp_path / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert (result.status, result.turns) == ("completed", 1)
    assert [(call.name, call.form) for call in of(events, ToolCall)] == [("write_file", "file")]
    assert "".join(preview.text for preview in of(events, FilePreview)) == "def add(a, b):\n    return a + b\n"
    body = server.requests[0].body
    assert "tools" not in body
    assert "its path alone on a line" in body["messages"][0]["content"]
    assert "works with tools" not in body["messages"][0]["content"]
    assert "return a - b" in str(body["messages"][-1]["content"])


async def test_parts_that_do_not_fit_are_reported_to_the_model(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    part = "a.py\n```\n<<<<<<< SEARCH\n{}\n=======\ny = 3\n>>>>>>> REPLACE\n```\n"
    replies = [wire_reply("chat", text=part.format("y = 7")), wire_reply("chat", text=part.format("y = 2"))]
    result, events, server = await run(tmp_path, replies, "Set y to 3 in a.py.")
    assert (tmp_path / "a.py").read_text() == "x = 1\ny = 3\n"
    assert result.turns == 2
    assert [call.form for call in of(events, ToolCall)] == ["search-replace"] * 2
    sent = server.requests[1].body["messages"]
    assert [message["role"] for message in sent] == ["system", *["user", "assistant"] * 2, "user"]
    assert "could not be done" in str(sent[-1]["content"])


async def test_a_person_is_asked(tmp_path: Path) -> None:
    seen: list[ApprovalRequested] = []

    def refuse(request: ApprovalRequested) -> bool:
        seen.append(request)
        return False

    _, events, _ = await run(
        tmp_path,
        [wire_reply("chat", text="b.txt\n```\nhello\n```"), wire_reply("chat", text="Then not.")],
        "Write b.txt.",
        permissions="ask",
        on_approval=refuse,
    )
    assert len(seen) == 1
    assert not (tmp_path / "b.txt").exists()
    assert [result.status for result in of(events, ToolResult)] == ["denied"]
    assert of(events, FileChanged) == []


async def test_a_file_that_is_cut_off_is_not_written(tmp_path: Path) -> None:
    cut = wire_reply("chat", text="b.txt\n```\nhello\nwor", stop="max_tokens")
    result, events, _ = await run(tmp_path, [cut, wire_reply("chat", text="Too long.")], "Write b.txt.")
    assert [call.invalid.reason for call in of(events, ToolCall)] == ["truncated"]
    assert not (tmp_path / "b.txt").exists()
    assert (result.status, result.turns) == ("failed", 2)


async def test_words_need_no_file(tmp_path: Path) -> None:
    result, events, _ = await run(tmp_path, [wire_reply("chat", text="It is a folder.")], "What is this?")
    assert (result.text, of(events, ToolCall)) == ("It is a folder.", [])


@pytest.mark.parametrize(
    ("path", "before", "first", "reminder"),
    [
        ("a.py", "x = 1\n", "x = 1\n", "nothing has changed"),
        ("a.py", "def f():\n    return 1\n", "def f(x):\n    return 1\n", "The parameter x of f in a.py is never used"),
    ],
)
async def test_a_fault_is_reported_once(tmp_path: Path, path: str, before: str, first: str, reminder: str) -> None:
    (tmp_path / path).write_text(before)
    replies = [wire_reply("chat", text=f"{path}\n```\n{text}```\n") for text in (first, first.replace("1", "3"))]
    result, _, server = await run(tmp_path, [*replies, wire_reply("chat", text="Never.")], f"Change f and x in {path}.")
    assert (result.status, result.turns) == ("completed", 2)
    assert reminder in str(server.requests[1].body["messages"][-1]["content"])


LONG = "".join(f"def f{number}(a):\n    total = a + {number}\n    return total\n\n\n" for number in range(130))
PAGE = "<html>\n<body>\n<div id='a'>\n<p>one</p>\n</div>\n<div id='b'>\n<p>two</p>\n</div>\n</body>\n</html>\n"
TABLES = "CREATE TABLE a (\n    id INTEGER\n);\n\nCREATE TABLE b (\n    id INTEGER\n);\n"


@pytest.mark.parametrize(
    ("path", "before", "written", "reason"),
    [
        ("a.py", "x = 1\n", "x = (2\n", "cannot be read: '(' was never closed in line 1"),
        ("a.json", '{"x": 1}\n', '{"x": 2,}\n', "cannot be read"),
        ("a.py", LONG, "total = 3\n" * 14, "leaves out f0, f1, f2, f3, f4 of a.py"),
        (
            "a.py",
            "def f():\n    pass\n\n\ndef g():\n    pass\n",
            "def f():\n    # ... same as before\n",
            "cannot be read",
        ),
        ("a.yaml", "a: 1\nb:\n  c: 2\nd: 3\n", "c: 4\n", "leaves out a, b, b.c, d of a.yaml"),
        ("a.css", "a { color: red; }\nb { color: red; }\n", "a { color: blue;\n", "the { in line 1 was never closed"),
        ("a.html", PAGE, "<div id='b'>\n<p>three</p>\n</div>\n", "leaves out <a>, <html>, <body> of a.html"),
        ("a.sql", TABLES, "    id INTEGER,\n    x TEXT\n", "leaves out CREATE TABLE A, CREATE TABLE B of a.sql"),
        ("a.txt", "one\ntwo\nthree\n", "one\nTWO\n", "leaves out the end of a.txt"),
    ],
)
async def test_a_fragment_never_replaces_a_file(
    tmp_path: Path, path: str, before: str, written: str, reason: str
) -> None:
    """The model is shown the file once more; if no whole one comes, nothing is written."""
    (tmp_path / path).write_text(before)
    answer = wire_reply("chat", text=f"{path}\n```\n{written}```\n")
    result, events, server = await run(tmp_path, [answer, answer], f"Change x and f in {path}.")
    assert (tmp_path / path).read_text() == before
    assert (result.status, result.turns, of(events, FileChanged)) == ("failed", 2, [])
    assert result.error is not None
    assert reason in result.error.message
    reminder = str(server.requests[1].body["messages"][-1]["content"])
    assert "Write the complete file" in reminder
    assert before.splitlines()[0] in reminder


@pytest.mark.parametrize(
    ("path", "before", "written", "after"),
    [
        (
            "a.py",
            "def f():\n    pass\n\n\ndef g():\n    pass\n",
            "def f():\n    return 1\n",
            "def f():\n    return 1\n\n\ndef g():\n    pass\n",
        ),
        (
            "a.py",
            "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n\n\nx = 1\n",
            "def g(self):\n    return 3\n",
            "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 3\n\n\nx = 1\n",
        ),
        (
            "a.js",
            "const A = 1;\n\nfunction f() {\n  return 1;\n}\n\nfunction g() {\n  return 2;\n}\n",
            "function f() {\n  return 3;\n}\n",
            "const A = 1;\n\nfunction f() {\n  return 3;\n}\n\nfunction g() {\n  return 2;\n}\n",
        ),
        (
            "a.css",
            "a {\n  top: 0;\n}\n\nb {\n  top: 1px;\n}\n",
            "b {\n  top: 2px;\n}\n",
            "a {\n  top: 0;\n}\n\nb {\n  top: 2px;\n}\n",
        ),
        (
            "a.yaml",
            "a: 1\nb:\n  - x\n  - y\nc: 3\nd: 4\n",
            "b:\n  - x\n  - z\n  - y\n",
            "a: 1\nb:\n  - x\n  - z\n  - y\nc: 3\nd: 4\n",
        ),
        ("a.toml", "a = 1\n\n[b]\nc = 2\n\n[d]\ne = 3\n", "[b]\nc = 4\n", "a = 1\n\n[b]\nc = 4\n\n[d]\ne = 3\n"),
        (
            "a.json",
            '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n',
            '{\n  "b": 5\n}\n',
            '{\n  "a": 1,\n  "b": 5,\n  "c": 3\n}\n',
        ),
        (
            "a.sql",
            TABLES,
            "CREATE TABLE b (\n    id INTEGER,\n    x TEXT\n);\n",
            TABLES[:36] + "CREATE TABLE b (\n    id INTEGER,\n    x TEXT\n);\n",
        ),
        (
            "a.md",
            "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n",
            "## B\n\nTWO\n",
            "# A\n\none\n\n## B\n\nTWO\n\n## C\n\nthree\n",
        ),
    ],
)
async def test_a_fragment_is_merged_where_its_place_is_certain(
    tmp_path: Path, path: str, before: str, written: str, after: str
) -> None:
    (tmp_path / path).write_text(before)
    asked: list[ApprovalRequested] = []

    def allow(request: ApprovalRequested) -> bool:
        asked.append(request)
        return True

    answer = wire_reply("chat", text=f"{path}\n```\n{written}```\n")
    result, _, _ = await run(tmp_path, [answer], f"Change {path}.", permissions="ask", on_approval=allow)
    assert (result.status, result.turns, (tmp_path / path).read_text()) == ("completed", 1, after)
    assert asked[0].input["content"] == after, "the merged file is what is approved"


@pytest.mark.parametrize(
    "prompt", ["What does f in a.py do?", "Only answer: what must be renamed in a.py?", "Explain a.py."]
)
async def test_a_question_changes_nothing(tmp_path: Path, prompt: str) -> None:
    before = "".join(f"def f{number}():\n    return {number}\n" for number in range(5))
    (tmp_path / "a.py").write_text(before)
    text = "It returns:\n\na.py\n```python\ndef f1():\n    return 7\n```\n"
    result, events, server = await run(tmp_path, [wire_reply("chat", text=text)], prompt)
    assert (result.status, result.text, of(events, ToolCall)) == ("completed", text, [])
    assert (tmp_path / "a.py").read_text() == before
    messages = server.requests[0].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "Answer the question in words" in messages[0]["content"]
    assert "def f4" in str(messages[1]["content"])


async def test_a_call_does_not_write_either_when_a_question_was_asked(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    call = ToolCall(id="c1", name="write_file", input={"path": "a.py", "content": "x = 2\n"})
    replies = [wire_reply("chat", calls=[call], stop="tool_use"), wire_reply("chat", text="It is 1.")]
    result, _, _ = await run(tmp_path, replies, "What is x in a.py?")
    assert (result.status, result.text, (tmp_path / "a.py").read_text()) == ("completed", "It is 1.", "x = 1\n")


async def test_a_quotation_is_no_change(tmp_path: Path) -> None:
    """Of a request that may ask for an answer, in any language."""
    before = "def f():\n    x = 1\n    return x\n\n\ndef g():\n    return 2\n"
    (tmp_path / "a.py").write_text(before)
    answer = wire_reply("chat", text="Das hier:\n\na.py\n```python\ndef f():\n    x = 1\n```\n")
    result, _, _ = await run(tmp_path, [answer], "Zeig mir den Anfang von f in a.py.")
    assert (result.status, result.turns, (tmp_path / "a.py").read_text()) == ("completed", 1, before)


@pytest.mark.parametrize(
    "answer",
    [
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
        "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n-x = 1\n+x = 2\n```\n",
        '{"name": "run_command", "arguments": {"command": "sed -i s/1/2/ a.py"}}',
        'write_file("a.py", ',
        "Set x to 2.",
        "```js\nx = 2\n```\n",
    ],
)
async def test_no_file_is_one_reminder_and_then_a_failure(tmp_path: Path, answer: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    replies = [wire_reply("chat", text=answer), wire_reply("chat", text=answer), wire_reply("chat", text="Never.")]
    result, events, server = await run(tmp_path, replies, "Set x in a.py to 2.")
    assert (result.status, result.turns, of(events, FileChanged)) == ("failed", 2, [])
    assert result.error is not None
    assert result.error.message.startswith("The model answered without a file that could be written")
    assert "holds no file that could be written" in str(server.requests[1].body["messages"][-1]["content"])
    right = wire_reply("chat", text="a.py\n```\nx = 2\n```\n")
    result, _, _ = await run(tmp_path, [wire_reply("chat", text=answer), right], "Set x in a.py to 2.")
    assert (result.status, result.turns, (tmp_path / "a.py").read_text()) == ("completed", 2, "x = 2\n")


@pytest.mark.parametrize(
    ("answer", "stop", "is_attempt"),
    [
        ("Change a.py like this:\n```python\nx = 2\n", "end_turn", True),
        ("This is how:\n```python\nx = ", "max_tokens", True),
        ("a.py holds this:\n\n```python\nx = 1\n```\n", "end_turn", False),
        ("In general:\n\n```python\nprint(5)\n```\n", "end_turn", False),
        ("It was saved in the wrong ord", "max_tokens", False),
    ],
)
async def test_a_fault_that_is_only_described_asks_for_a_file_if_the_answer_holds_code(
    tmp_path: Path, answer: str, stop: str, is_attempt: bool
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("x = 1\ny = 5\n")
    (tmp_path / "lib/b.py").write_text("y = 3\n")
    replies = [wire_reply("chat", text=answer, stop=stop) for _ in range(2)]
    result, events, _ = await run(tmp_path, replies, "Policies cannot be loaded again: x is complained about.")
    assert (result.turns, result.status == "failed", of(events, FileChanged)) == (1 + is_attempt, is_attempt, [])


async def test_the_turn_limit_leaves_no_reminder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    result, _, _ = await run(
        tmp_path, [wire_reply("chat", text="Done.")], "Set x in a.py to 2.", budget=heald.Budget(turns=1)
    )
    assert (result.status, result.turns) == ("failed", 1)


async def test_two_parts_of_a_file_are_both_merged(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(6)))
    blocks = [f"a.py\n```\ndef f{number}():\n    return -{number}\n```\n" for number in (1, 4)]
    result, _, _ = await run(tmp_path, [wire_reply("chat", text="\n".join(blocks))], "Negate f1 and f4 in a.py.")
    text = (tmp_path / "a.py").read_text()
    assert (result.status, text.count("def "), text.count("return -")) == ("completed", 6, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def area():\n    pass\n", "def rectangle_area():\n    pass\n"),
        ("def f():\n    pass\n\n\ndef g():\n    pass\n", "def f():\n    pass\n"),
        ("def f(:\n", "def f(x:\n"),
    ],
)
async def test_no_fault(tmp_path: Path, before: str, after: str) -> None:
    (tmp_path / "a.py").write_text(before)
    reply = wire_reply("chat", text=f"a.py\n```\n{after}```\n")
    result, _, _ = await run(tmp_path, [reply], "Remove g from a.py, or rename the function.")
    assert (result.status, result.turns, (tmp_path / "a.py").read_text()) == ("completed", 1, after)


@pytest.mark.parametrize(
    ("name", "edit_format", "as_text"),
    [
        (SMALL, "auto", True),
        (SMALL, "tools", False),
        ("qwen2.5-coder-32b", "auto", False),
        ("big-model", "text", True),
    ],
)
async def test_who_writes_text(tmp_path: Path, name: str, edit_format: Any, as_text: bool) -> None:
    reply = wire_reply("chat", text="Hello.")
    _, _, server = await run(tmp_path, [reply], "Hello.", name=name, edit_format=edit_format)
    assert ("tools" not in server.requests[0].body) is as_text


@pytest.mark.parametrize(
    ("name", "parameters", "as_text"),
    [("mine", 1_543_714_304, True), ("mine", 32_763_876_352, False), ("mine-32b", 1_543_714_304, False)],
)
async def test_a_server_states_the_size_of_its_model(tmp_path: Path, name: str, parameters: int, as_text: bool) -> None:
    facts: dict[str, object] = {"/v1/models": {"data": [{"id": "/m.gguf", "meta": {"n_params": parameters}}]}}
    _, _, server = await run(tmp_path, [wire_reply("chat", text="Hello.")], "Hello.", name=name, facts=facts)
    body = server.requests[0].body
    assert ("tools" not in body) is as_text
    assert ("works with tools" in body["messages"][0]["content"]) is not as_text


def test_sizes_in_names() -> None:
    assert is_small_model("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf")
    assert is_small_model("llama3.2:3b")
    assert is_small_model("org/smollm2-360m-0.36b")
    for name in ("gpt-5", "qwen3:8b", "mixtral-8x7b", "claude-sonnet-4-6", "gemma-2b9b", "phi-4"):
        assert not is_small_model(name), name


async def test_files_that_may_not_be_read_unasked_are_not_shown(tmp_path: Path) -> None:
    """Neither secrets, under any name, nor what a rule forbids; the rest is shown."""
    (tmp_path / "app.py").write_text("print('hello')\n")
    (tmp_path / ".env").write_text("API_KEY=sk-CANARY-0123456789abcdef\n")
    (tmp_path / "settings.txt").symlink_to(".env")
    (tmp_path / "private.txt").write_text("CANARY of a rule\n")
    answers = [wire_reply("chat", text="Nothing to do.")]
    permissions = heald.Permissions("auto", ["deny read_file(private.txt)"])
    prompt = "Look at app.py, .env, settings.txt and private.txt."
    _, _, server = await run(tmp_path, answers, prompt, permissions=permissions)
    sent = str(server.requests[0].body)
    assert "hello" in sent
    assert "CANARY" not in sent
