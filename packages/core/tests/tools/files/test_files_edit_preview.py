"""What is shown while an edit is still written is what the tool then writes, or stops."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from files_bench import Bench, previewed
from heald.tools.definitions import Growth
from heald.tools.files.edit import edit_file
from heald.tools.files.edit_preview import EditPreview
from heald.tools.workspace.memory import MemoryWorkspace

ALPHABET = 'abc\n"\\é😀'


def _shown(text: str, arguments: dict[str, Any], cuts: list[int]) -> str:
    preview = EditPreview(MemoryWorkspace({"f.txt": text}))
    pieces = previewed(preview, arguments, cuts)
    assert all(path == "f.txt" and piece for path, piece in pieces)
    return "".join(piece for _, piece in pieces)


def _edit(old: str, new: str) -> dict[str, str]:
    return {"old_text": old, "new_text": new}


def test_the_file_grows_edit_by_edit() -> None:
    preview = EditPreview(MemoryWorkspace({"f.txt": "one two three four"}))
    key = ("edits", 0, "old_text"), ("edits", 0, "new_text"), ("edits", 1, "old_text"), ("edits", 1, "new_text")
    growths: list[Growth] = [(("path",), "f.txt"), (key[0], "tw"), (key[0], "o"), (key[1], "2"), (key[1], "2")]
    growths += [(key[2], "four"), (key[3], "4")]
    previews = [[text for _, text in preview.grow([growth])] for growth in growths]
    previews.append([text for _, text in preview.end()])
    assert previews == [[], [], [], ["one ", "2"], ["2"], [], [" three ", "4"], []]


def test_a_deletion_shows_the_rest() -> None:
    assert _shown("one two three", {"path": "f.txt", "edits": [_edit(" two", "")]}, []) == "one three"


def test_top_level_texts_and_a_path_that_comes_last() -> None:
    assert _shown("one two", {"old_text": "two", "new_text": "2", "path": "f.txt"}, [5, 9, 30]) == "one 2"
    assert _shown("one two", {"new_text": "2", "old_text": "two", "path": "f.txt"}, [5, 9, 30]) == "one 2"


def test_an_ambiguous_or_missing_text_shows_nothing() -> None:
    assert _shown("a a", {"path": "f.txt", "edits": [_edit("a", "b")]}, [20]) == ""
    assert _shown("a a", {"path": "f.txt", "edits": [_edit("x", "b")]}, [20]) == ""
    assert _shown("a", {"path": "f.txt", "edits": [_edit("", "b")]}, [20]) == ""


def test_an_edit_out_of_order_stops_the_showing() -> None:
    assert _shown("one two", {"path": "f.txt", "edits": [_edit("two", "2"), _edit("one", "1")]}, []) == "one 2"


def test_a_file_that_cannot_be_read() -> None:
    preview = EditPreview(MemoryWorkspace())
    for path in ("gone", "../x", "/etc/passwd", "a\0"):
        assert previewed(preview, {"path": path, "edits": [_edit("a", "b")]}, [3]) == []


def test_what_is_shown_is_linear_in_the_file() -> None:
    text = "".join(f"line {number};\n" for number in range(2_000))
    edits = [_edit(f"line {number};", f"LINE {number};") for number in range(0, 2_000, 10)]
    preview_text = _shown(text, {"path": "f.txt", "edits": edits}, list(range(0, 20_000, 7)))
    assert preview_text == text.replace("line", "LINE") or len(preview_text) == len(text)


texts = st.text(st.sampled_from(ALPHABET), min_size=1, max_size=40)
small = st.text(st.sampled_from(ALPHABET + "\r"), max_size=5)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    text = draw(texts)
    crlf = draw(st.booleans())
    edits: list[dict[str, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text) - 1))
        old = text[start : start + draw(st.integers(1, 12))] if draw(st.integers(0, 9)) else draw(small)
        pair = [("old_text", old), ("new_text", draw(small))]
        edits.append(dict(pair if draw(st.booleans()) else reversed(pair)))
    arguments: list[tuple[str, Any]] = [("path", "f.txt"), ("edits", edits)]
    if len(edits) == 1 and draw(st.booleans()):
        arguments = [("path", "f.txt"), *edits[0].items()]
    arguments = draw(st.permutations(arguments))
    return text.replace("\n", "\r\n") if crlf else text, dict(arguments)


@settings(max_examples=scaled(200))
@given(calls(), st.lists(st.integers(0, 250)))
@example(("a\r\nb\r\n", {"path": "f.txt", "edits": [_edit("b", "x\r\ny\r")]}), list(range(250)))
@example(("ab\nab", {"path": "f.txt", "edits": [_edit("b\n", ""), _edit("aab", "c")]}), [])
def test_it_is_what_is_written_or_a_beginning_of_it(call: tuple[str, dict[str, Any]], cuts: list[int]) -> None:
    text, arguments = call
    bench = Bench(MemoryWorkspace({"f.txt": text}))
    preview_text = _shown(text, arguments, cuts)
    whole = _shown(text, arguments, [])
    assert preview_text == whole, "how the arguments are cut does not matter"
    done = bench.run_sync(edit_file, **arguments)
    written = bench.text("f.txt")
    if done.is_error or preview_text == written:
        return
    # It stopped: all that came after the edit which did not fit is missing, so it is a true beginning of the file
    # after the edits that fitted.
    edits: list[dict[str, str]] = arguments.get("edits") or [arguments]
    states = [text]
    for count in range(1, len(edits)):
        part = Bench(MemoryWorkspace({"f.txt": text}))
        assert not part.run_sync(edit_file, path="f.txt", edits=[dict(edit) for edit in edits[:count]]).is_error
        states.append(part.text("f.txt"))
    assert any(state.startswith(preview_text) for state in states)
