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
            case FilePiece("cut"):
                calls.append(opened)
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
        "App.py\n```\n",
        "```python\n# APP.PY\n",
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


README = TextFiles(
    workspace_paths=frozenset({"README.md", "app.py"}),
    texts={"README.md": "# A\n```sh\nmake\n```\nEnd.\n"},
    patch_tool="apply_patch",
)


@pytest.mark.parametrize("size", [1, 11, 1000])
@pytest.mark.parametrize(
    "content",
    [
        "# A\n```sh\nmake\n```\nEnd.\n",
        "# A\n```\nmake\n```\nEnd.\n",
        "# A\n~~~\nmake\n~~~\n```\nx\n```\n\nEnd.\n",
        "- a\n\n  ```sh\n  make\n  ```\n",
        "No block.\n",
    ],
)
@pytest.mark.parametrize(
    "behind", ["", "\nThat is all.\n", "\nRun it:\n```sh\nmake\n```\n", f"\napp.py\n```\n{CODE}```\n"]
)
def test_blocks_inside_a_file_are_counted(content: str, behind: str, size: int) -> None:
    prose, calls = split(f"README.md\n```markdown\n{content}```\n{behind}", size, README)
    app = "app.py" in behind
    assert calls == [{"path": "README.md", "content": content}, *([WHOLE] if app else [])]
    assert prose.strip() == ("" if app else behind.strip())


def test_a_docstring_with_a_block_does_not_end_the_file() -> None:
    content = 'def f():\n    """Like this:\n\n    ```\n    f()\n    ```\n    """\n'
    assert split(f"app.py\n```python\n{content}```\n", 7)[1] == [{"path": "app.py", "content": content}]


@pytest.mark.parametrize("size", [1, 1000])
def test_a_fence_in_a_list_is_indented_with_its_file(size: int) -> None:
    text = f"1. `app.py`\n   ```python\n{''.join(f'   {line}' for line in CODE.splitlines(keepends=True))}   ```\n"
    assert split(text, size)[1] == [WHOLE]


@pytest.mark.parametrize("size", [1, 1000])
def test_an_answer_with_crlf(size: int) -> None:
    assert split(f"Here.\n\napp.py\n```python\n{CODE}```\n".replace("\n", "\r\n"), size)[1] == [WHOLE]


@pytest.mark.parametrize(("opening", "closing"), [("````", "```"), ("~~~", "```"), ("```", "~~~"), ("```", "~~~\n")])
def test_another_fence_ends_the_file_at_the_end_of_the_answer(opening: str, closing: str) -> None:
    assert split(f"app.py\n{opening}\n{CODE}{closing}", 3)[1] == [WHOLE]
    calls = split(f"app.py\n{opening}\n{CODE}{closing}\nMore.", 3)[1]
    assert isinstance(calls[0], str), "the file has no end"


def test_a_file_without_an_end_before_the_next_one() -> None:
    first, second = split(f"app.py\n```python\n{CODE}\nsrc/x.css\n```css\na {{}}\n```\n", 4)[1]
    assert isinstance(first, str)
    assert second == {"path": "src/x.css", "content": "a {}\n"}


def test_a_file_without_an_end_that_ends_as_before() -> None:
    files = TextFiles(workspace_paths=frozenset({"app.py"}), texts={"app.py": "def f():\n    return 0\n\n\nf()\n"})
    assert split(f"app.py\n```\n{CODE}\n\nf()\n", 4, files)[1] == [{"path": "app.py", "content": f"{CODE}\n\nf()\n"}]
    assert isinstance(split(f"app.py\n```\n{CODE}", 4, files)[1][0], str)


DIFF = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n"


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize(
    ("head", "diff", "patch"),
    [
        ("```diff\n", DIFF, DIFF),
        ("```\n", DIFF, DIFF),
        ("app.py\n```diff\n", DIFF, DIFF),
        ("app.py\n```\n", DIFF, DIFF),
        ("app.py\n```diff\n", DIFF.partition("@@")[1] + DIFF.partition("@@")[2], DIFF),
        ("```diff\n", DIFF.replace("-1,2", "-1,5"), None),
        ("```diff\n", DIFF.replace("+    return 2\n", ""), None),
        ("```diff\n", "@@ -1 +1 @@\n-a\n+b\n", None),
    ],
)
def test_a_complete_diff_is_a_patch(head: str, diff: str, patch: str | None, size: int) -> None:
    text = f"{head}{diff}```\n"
    assert split(text, size, README) == (("", [{"patch": patch}]) if patch else (text, []))
    assert split(text, size, FILES)[1] == [], "without a tool for it"
    assert split(text.removesuffix("```\n"), size, README)[1] == [], "without an end"


def test_parts_hold_fences_and_must_be_complete() -> None:
    part = "<<<<<<< SEARCH\n```sh\n=======\n```bash\n>>>>>>> REPLACE\n"
    edits = [{"old_text": "```sh", "new_text": "```bash"}]
    assert split(f"README.md\n```\n{part}```\n", 5, README)[1] == [{"path": "README.md", "edits": edits}]
    for cut in (f"{part}{part[:20]}", part[:-10], f"{part}<<<<<<< SEARCH\na\n"):
        assert split(f"README.md\n```\n{cut}```\n", 5, README)[1] == []
    assert split(f"README.md\n```\n{part}", 5, README)[1] == []


def test_a_first_comment_that_the_file_has_stays() -> None:
    text = f"app.py\n```\n# app.py\n{CODE}```\n"
    files = TextFiles(workspace_paths=frozenset({"app.py"}), texts={"app.py": "# app.py\nx = 1\n"})
    assert split(text, 5, files)[1] == [{"path": "app.py", "content": f"# app.py\n{CODE}"}]
    assert split(text, 5)[1] == [WHOLE]


@given(st.text(alphabet="ab.py/`#~@+-\n\r *:<>=", max_size=80), st.integers(1, 9))
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
