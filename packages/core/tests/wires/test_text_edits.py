"""Files that a model writes as text: whole, in parts, named or not; other text passes unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.messages import Message, Text, ToolCall, ToolResult, assistant, tool_results, user_message
from heald.wires.text_conversation import text_conversation
from heald.wires.text_edits import FilePiece, TextEdits, TextFiles

FILES = TextFiles(sizes={"app.py": 20}, workspace_paths=frozenset({"app.py", "Makefile", "src/x.css"}))
CODE = "def f():\n    return 1\n"
WHOLE = {"path": "app.py", "content": CODE}


def split(text: str, size: int, files: TextFiles = FILES) -> tuple[str, list[Any]]:
    reader = TextEdits(files)
    parts = [part for at in range(0, len(text), size) for part in reader.feed(text[at : at + size])] + reader.close()
    prose, calls, opened = "", list[Any](), ""
    for part in parts:
        match part:
            case str():
                prose += part
            case FilePiece("begin", path):
                opened = f'{{"path":{json.dumps(path)},"content":"'
            case FilePiece("grow", piece):
                opened += piece
            case FilePiece("end"):
                calls.append(json.loads(opened + '"}'))
                opened = ""
            case FilePiece(_, arguments):
                calls.append(json.loads(arguments))
    return prose, [*calls, *([opened] if opened else [])]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "head",
    [
        "app.py\n```python\n",
        "app.py\n\n```\n",
        "`app.py`:\n```python\n",
        "**app.py**\n```\n",
        "### app.py\n```py\n",
        "File: app.py\n```\n",
        "1. `app.py`\n```\n",
        "./app.py\n```\n",
        "```python app.py\n",
        "```python:app.py\n",
        "```app.py\n",
        "```python\n# app.py\n",
        "```python\n",
        "path/to/app.py\n```\n",
    ],
)
def test_a_whole_file(head: str, size: int) -> None:
    assert split(f"Here it is.\n\n{head}{CODE}```\nDone.", size) == ("Here it is.\n\nDone.", [WHOLE])


def test_several_files_and_one_without_an_ending() -> None:
    text = f"app.py\n```\n{CODE}```\n\nsrc/x.css\n```css\na {{}}\n```\nMakefile\n```\nall:\n\techo\n```"
    prose, calls = split(text, 3)
    assert prose.strip() == ""
    assert [call["path"] for call in calls] == ["app.py", "src/x.css", "Makefile"]
    assert calls[2]["content"] == "all:\n\techo\n"


@pytest.mark.parametrize("size", [1, 1000])
def test_search_and_replace(size: int) -> None:
    block = "<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n"
    edits = [{"old_text": "    return 1", "new_text": "    return 2"}]
    assert split(f"app.py\n```\n{block}```\n", size) == ("", [{"path": "app.py", "edits": edits}])
    assert split(f"app.py\n```\n{block}{block}```\n", size)[1][0]["edits"] == edits * 2
    assert split(f"```python\n{block}```\n", size)[1] == [] or split(f"```python\n{block}```\n", size)[1][0]["edits"]


def test_a_file_that_is_cut_off_is_incomplete() -> None:
    prose, calls = split("app.py\n```\ndef f():\n    ret", 4)
    assert prose == ""
    assert calls == ['{"path":"app.py","content":"def f():\\n    ret\\n']


@pytest.mark.parametrize(
    "text",
    [
        "Only words.\nAnd e.g. this.",
        "Run it:\n```bash\npython app.py\n```\n",
        "```python\nx\n```\n",
        "See app.py for more.\n",
        "app.py\nis a file.\n",
        "```\nunfinished",
        "\n\n\n",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_other_text_is_unchanged(text: str, size: int) -> None:
    assert split(text, size) == (text, [])


def test_a_block_without_a_path_needs_the_only_file() -> None:
    two = TextFiles(sizes={"a.py": 10, "b.py": 10}, workspace_paths=frozenset({"a.py", "b.py"}))
    assert split(f"```python\n{CODE}```\n", 5, two)[1] == []
    large = TextFiles(sizes={"app.py": 4000}, workspace_paths=frozenset({"app.py"}))
    assert split(f"```python\n{CODE}```\n", 5, large)[1] == []


@pytest.mark.parametrize("size", [1, 9, 1000])
@pytest.mark.parametrize("words", ["f in b.py", "The new `b.py`:", "b.py has changed:\n"])
def test_words_before_a_block_name_its_file(words: str, size: int) -> None:
    two = TextFiles(sizes={"a.py": 10, "b.py": 10}, workspace_paths=frozenset({"a.py", "b.py"}))
    text = f"{words}\n```\n{CODE}```\n"
    assert split(text, size, two) == (f"{words}\n", [{"path": "b.py", "content": CODE}])
    assert split(text.replace("b.py", "a.py and b.py"), size, two)[1] == []
    assert split(f"Run b.py:\n```bash\n{CODE}```\n", size, two)[1] == []


@given(st.text(alphabet="ab.py/`#\n *:<>=", max_size=80), st.integers(1, 9))
def test_the_split_does_not_matter(text: str, size: int) -> None:
    assert split(text, size) == split(text, 10_000)


def test_the_conversation_has_no_calls() -> None:
    call = ToolCall(id="c1", name="write_file", input=WHOLE, form="file")
    messages = [
        user_message("Write f."),
        Message(role="assistant", content=[Text("Sure."), call]),
        tool_results([ToolResult(id="c1", name="write_file", status="ok", content="Created.")]),
        user_message("And now?"),
    ]
    plain = text_conversation(messages, "FILES")
    assert [message.role for message in plain] == ["user", "assistant", "user"]
    assert plain[1].text == f"Sure.\n\napp.py\n```\n{CODE}```"
    assert plain[2].text == "FILES\n\nAnd now?"
    failed = tool_results([ToolResult(id="c1", name="edit_file", status="error", content="It does not fit.")])
    plain = text_conversation([*messages[:2], failed, assistant("Sorry.")], "")
    assert [message.role for message in plain] == ["user", "assistant", "user", "assistant"]
    assert "It does not fit." in plain[2].text
