"""create_file and write_file: whole files, new or replaced."""

import hashlib

import pytest

from files_bench import Bench, previewed
from heald.tools.definitions import Tool
from heald.tools.files.read_tool import read_file
from heald.tools.files.write_tools import create_file, write_file

both = pytest.mark.parametrize("tool", [create_file, write_file], ids=lambda tool: tool.name)


@both
async def test_a_new_file_with_its_folders(bench: Bench, tool: Tool) -> None:
    done = await bench.run(tool, path="./site//index.html", content="<p>\n</p>\n")
    assert bench.text("site/index.html") == "<p>\n</p>\n"
    assert done.text == "Created site/index.html (2 lines)."
    (change,) = done.changes
    assert (change.path, change.revision, change.prev_hash, change.cause) == ("site/index.html", 1, None, "call_1")
    assert change.hash == hashlib.sha256(b"<p>\n</p>\n").hexdigest()


@both
async def test_it_replaces_what_is_there_and_reports_it(bench: Bench, tool: Tool) -> None:
    bench.put("a.txt", "one\ntwo\n")
    await bench.run(read_file, files=[{"path": "a.txt"}])
    done = await bench.run(tool, path="a.txt", content="one\n2\nthree\n")
    assert bench.text("a.txt") == "one\n2\nthree\n"
    assert done.text == "Replaced a.txt (3 lines, +2 −1)."
    assert done.summary == "+2 −1"


async def test_the_same_content_changes_nothing(bench: Bench) -> None:
    bench.put("a.txt", "same")
    done = await bench.run(create_file, path="a.txt", content="same")
    assert "nothing was changed" in done.text
    assert not done.changes


@both
@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("one\r\ntwo\r\n", "one\n2\n", "one\r\n2\r\n"),
        ("one\r\ntwo\r\n", "one\r\n2\r\n", "one\r\n2\r\n"),
        ("one\r\ntwo\n", "one\n2\n", "one\n2\n"),
        ("one\ntwo\n", "one\n2\n", "one\n2\n"),
        ("one", "one\n2\n", "one\n2\n"),
    ],
)
async def test_crlf_stays_crlf(bench: Bench, tool: Tool, before: str, content: str, after: str) -> None:
    bench.put("a.txt", before)
    await bench.run(read_file, files=[{"path": "a.txt"}])
    await bench.run(tool, path="a.txt", content=content)
    assert bench.workspace.read("a.txt").decode() == after


async def test_repeatedly_the_revisions_go_on(bench: Bench) -> None:
    numbers = list[int]()
    for text in ("1", "2", "3"):
        done = await bench.run(create_file, path="index.html", content=text)
        numbers += [change.revision for change in done.changes]
    assert numbers == [1, 2, 3]


async def test_changes_by_others_are_noticed(bench: Bench) -> None:
    await bench.run(create_file, path="a.txt", content="mine")
    bench.put("a.txt", "theirs")
    done = await bench.run(create_file, path="a.txt", content="mine again")
    assert done.kind == "stale_read"
    assert bench.text("a.txt") == "theirs"


@pytest.mark.parametrize("content", ["", "$& \\1 \\\\ ${x}", "\ufeffbom\r\n", "ä€\U0001f600\u2028"])
async def test_content_is_literal(bench: Bench, content: str) -> None:
    await bench.run(write_file, path="a.txt", content=content)
    assert bench.content("a.txt") == content.encode()


async def test_half_a_character_is_refused(bench: Bench) -> None:
    done = await bench.run(write_file, path="a.txt", content="\ud83d")
    assert done.kind == "not_text"
    assert bench.content("a.txt") is None


async def test_the_preview_is_the_content(bench: Bench) -> None:
    assert create_file.preview is not None
    arguments = {"path": "index.html", "content": "<b>ä\n</b>"}
    pieces = previewed(create_file.preview(bench.workspace), arguments, range(0, 80, 3))
    assert {path for path, _ in pieces} == {"index.html"}
    assert "".join(text for _, text in pieces) == arguments["content"]
