"""Keys, the line they make, and the rows it takes: by example, and whatever comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.cli.chatting.keys import Key, Keys
from weft.cli.chatting.line import Line
from weft.cli.chatting.rows import rows
from weft.cli.paint import cut, rows_of, width_of


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("abc", [Key("text", "abc")]),
        ("a\r", [Key("text", "a"), Key("enter")]),
        ("\x1b[A\x1b[B\x1bOC", [Key("up"), Key("down"), Key("right")]),
        ("\x1b[1;5D\x1b[3~", [Key("word_left"), Key("delete")]),
        ("\x1b\r\n", [Key("newline"), Key("newline")]),
        ("\x1b[200~two\r\nlines\x1b[201~x", [Key("paste", "two\r\nlines"), Key("text", "x")]),
        ("\x1b[200~\x1b[31my\x1b[201~", [Key("paste", "\x1b[31my")]),
        ("\x03\x04\x15", [Key("interrupt"), Key("close"), Key("kill_line")]),
        ("\x1b[999;999z", []),
        ("ä€🙂", [Key("text", "ä€🙂")]),
    ],
)
def test_what_keys_send(sent: str, keys: list[Key]) -> None:
    assert Keys().feed(sent.encode()) == keys


def test_a_lone_escape_is_known_by_the_silence_after_it() -> None:
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.waits
    assert keys.settle() == [Key("escape")]
    assert (keys.waits, keys.settle()) == (False, [])
    assert keys.feed(b"\x1b") + keys.feed(b"[A") == [Key("up")]


@given(
    st.lists(st.sampled_from(["a", "ß", "\r", "\x1b[A", "\x1b[3~", "\x1bb", "\x1b[200~p\ny\x1b[201~", "\x7f"])),
    st.data(),
)
def test_pieces_change_nothing(sent: list[str], data: st.DataObject) -> None:
    whole = "".join(sent).encode()
    keys = Keys()
    found: list[Key] = []
    at = 0
    while at < len(whole):
        size = data.draw(st.integers(1, 5))
        found += keys.feed(whole[at : at + size])
        at += size
    assert _joined(found) == _joined(Keys().feed(whole))


def _joined(keys: list[Key]) -> list[Key]:
    """Text that came in pieces is one text."""
    found: list[Key] = []
    for key in keys:
        if key.name == "text" and found and found[-1].name == "text":
            key = Key("text", found.pop().text + key.text)
        found.append(key)
    return found


@given(st.lists(st.binary(max_size=12), max_size=20))
def test_any_bytes_are_taken(pieces: list[bytes]) -> None:
    keys = Keys()
    line = Line()
    for piece in pieces:
        for key in [*keys.feed(piece), *keys.settle()]:
            line.press(key)
            assert 0 <= line.at <= len(line.text)
    assert "\x1b" not in line.text


def typed(*keys: Key) -> Line:
    line = Line()
    for key in keys:
        line.press(key)
    return line


def text(said: str) -> Key:
    return Key("text", said)


def test_editing() -> None:
    line = typed(text("one two"), Key("word_left"), text("big "), Key("home"), Key("delete"), text("O"))
    assert (line.text, line.at) == ("One big two", 1)
    line.press(Key("end"))
    line.press(Key("kill_word"))
    assert line.text == "One big "
    line.press(Key("kill_line"))
    assert line.text == ""
    line.press(Key("backspace"))
    assert (line.text, line.at) == ("", 0)


def test_what_is_pasted_keeps_its_lines_and_loses_its_escapes() -> None:
    line = typed(Key("paste", "a\r\nb\rc\x1b[31m\td"))
    assert line.text == "a\nb\nc    d"
    line.press(Key("home"))
    assert line.at == 4


def test_what_was_typed_before() -> None:
    line = typed(text("first"))
    assert line.take() == "first"
    line.press(text("second"))
    line.take()
    line.press(text("draft"))
    for name, expected in (("up", "second"), ("up", "first"), ("down", "second"), ("down", "draft")):
        assert line.press(Key(name))  # pyright: ignore[reportArgumentType]
        assert line.text == expected
    assert not line.press(Key("down"))


@given(st.text(st.sampled_from("ab 漢\u0301é"), max_size=80), st.integers(4, 30))
def test_rows_are_no_wider_than_the_terminal_and_lose_no_letter(said: str, columns: int) -> None:
    found = rows(f"\x1b[1m{said}\x1b[0m", columns)
    bare = [row.replace("\x1b[1m", "").replace("\x1b[0m", "") for row in found]
    assert all(width_of(row) <= columns for row in bare)
    assert "".join(bare).replace(" ", "") == said.replace(" ", "")
    assert "\x1b[1m" in "".join(found)


def test_rows_break_at_spaces() -> None:
    assert rows("one two three", 7) == ["one two", "three"]
    assert rows("", 10) == [""]


@given(st.text(max_size=40), st.integers(1, 20))
def test_cut_text_fits(said: str, columns: int) -> None:
    assert width_of(cut(said, columns)) <= max(columns, 0)


def test_tables_stand_in_columns() -> None:
    assert rows_of([["a", "b"], ["漢字", "c"]]) == ["a     b", "漢字  c"]
