"""Pictures that are pasted into `heald chat`: a path as terminals write it, and what is in the clipboard."""

import asyncio
import json
from pathlib import Path

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import picture
from heald.core.errors import HealdError
from heald.core.messages import Image
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.workspace.memory import MemoryWorkspace
from heald_cli.chat import clipboard
from heald_cli.chat.attachments import attach_files
from heald_cli.chat.clipboard import clipboard_picture, normalize_paste


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return picture(tmp_path / "my shot.png")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with these programs only, and a clipboard of its own."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return folder


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_path_is_found_however_it_is_quoted(shot: Path) -> None:
    meant = f'"{shot}" '
    url = str(shot).replace(" ", "%20")
    for text in (f"'{shot}'", f'"{shot}"', str(shot), f"{shot}\n", str(shot).replace(" ", "\\ "), f"file://{url}"):
        assert normalize_paste(text) == meant
    brought = attach_files(f"Build {meant}", MemoryWorkspace({}))
    assert [type(part) for part in brought.parts] == [str, Image]
    plain = picture(shot.parent / "plain.png")
    assert normalize_paste(f"'{plain}'") == f"{plain} "


@pytest.mark.parametrize(
    "text", ["", "hello", "two\nlines.png", "nowhere.png", "'", "''", "file://", "a\0b.png", "x" * 9000 + ".png"]
)
def test_anything_else_is_a_text(text: str) -> None:
    assert normalize_paste(text) == text


def test_the_clipboard(programs: Path, shot: Path) -> None:
    program(programs, "xclip", f'[ "$*" = "-selection clipboard -t image/png -o" ] && cat "{shot}"')
    assert clipboard_picture().media_type == "image/png"
    program(programs, "xclip", "echo 'Error: target image/png not available' >&2; exit 1")
    with pytest.raises(HealdError, match="There is no picture in the clipboard"):
        clipboard_picture()
    program(programs, "xclip", "echo this is a text")
    with pytest.raises(HealdError, match="There is no picture in the clipboard"):
        clipboard_picture()


def test_a_program_that_hangs_or_never_ends(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "_CLIPBOARD_SECONDS", 0.3)
    program(programs, "xclip", "exec sleep 60")
    with pytest.raises(HealdError, match="no picture"):
        clipboard_picture()
    monkeypatch.setattr(clipboard, "_CLIPBOARD_SECONDS", 30.0)
    monkeypatch.setattr(clipboard, "_CLIPBOARD_BYTES", 100_000)
    program(programs, "xclip", "exec cat /dev/zero")
    with pytest.raises(HealdError, match="no picture"):
        clipboard_picture()


def test_nothing_that_can_look(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    program(programs, "xclip", "exit 0")
    with pytest.raises(HealdError, match="install wl-clipboard, xclip or"):
        clipboard_picture()


def test_a_picture_goes_along_with_what_names_it() -> None:
    pictures = {"[picture 1]": Image(data="AA=="), "[picture 2]": Image(data="BB==")}
    assert attach_files("Nothing of it", MemoryWorkspace({}), pictures).parts == ["Nothing of it"]
    assert attach_files("See [picture 2] ", MemoryWorkspace({}), pictures).parts[1:] == [pictures["[picture 2]"]]


@NEEDS_TMUX
async def test_pictures_in_a_terminal(tmp_path: Path, shot: Path, programs: Path) -> None:
    program(programs, "xclip", f'cat "{shot}"')
    async with ScriptedServer(lambda _: wire_reply("chat", text="I see.")) as server:
        words = ["chat", "--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, *words, DISPLAY=":9") as terminal:
            await terminal.shows("heald with m")
            terminal.type("/hel")
            terminal.press("Tab")
            await terminal.shows("› /help")  # it reads keys now
            terminal.press("C-u")
            terminal.paste(f"'{shot}'")
            await terminal.shows(f'› "{shot}"')
            await terminal.enter("what is this?")
            await terminal.shows("I see.", "(1 attached)", "cost unknown")
            terminal.press("C-v")
            await terminal.shows("› [picture 1]")
            await terminal.enter("and this?")
            await terminal.shows("› [picture 1] and this?")
            async with asyncio.timeout(120):
                while len(server.requests) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            program(programs, "xclip", "exit 1")
            terminal.press("C-v")
            await terminal.shows("There is no picture in the clipboard.")
        last = [json.dumps(request.body["messages"][-1]) for request in server.requests]
    assert all(said.count("data:image/png;base64,") == 1 for said in last)
    assert "[picture 1] and this?" in last[1]
