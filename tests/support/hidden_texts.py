"""Commands that hide a part of themselves on a screen, and the check that a person is shown all of them."""

import json
import re
from typing import Any

from repository import ROOT

MARKER = "rm -f victim.txt"
_CASES: list[dict[str, Any]] = json.loads(
    (ROOT / "packages" / "core" / "tests" / "tools" / "visible_text_cases.json").read_text()
)["cases"]
ATTACKS: dict[str, str] = {case["name"]: case["text"] for case in _CASES if case["attack"]}
"""Commands with the marker in them, by what they do."""
_ESCAPE = re.compile(r"⟦(\\(?:[nrt]|x..|u....|U........))(?:×(\d+))?⟧")
_BLANK = re.compile(r"⟦[\d,]+ blank lines⟧")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u061c\u115f\u1160\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = re.compile(r"(?m)^ *[│┆] ?")
_BROKEN = re.compile(r"\n *┆ ")


def unescape(text: str) -> str:
    """The text that an escaped text stands for."""

    def character(escape: re.Match[str]) -> str:
        code = {"n": 10, "r": 13, "t": 9}.get(escape[1][1:]) or int(escape[1][2:], 16)
        return chr(code) * int(escape[2] or 1)

    return _ESCAPE.sub(character, text)


def assert_visible(screen: str, command: str) -> None:
    """All characters of the command are on the screen in their order, as themselves or escaped, and nothing acts on it.

    Spaces, tabs and line breaks are not compared: a screen breaks lines.
    """
    assert_harmless(screen)
    assert shows(screen, command), f"{command!a} is not in {screen!a}"


def assert_all_visible(screens: list[str], commands: list[str]) -> None:
    """Each command is on a screen, whatever their order, and there are no other screens."""
    assert len(screens) == len(commands)
    for screen in screens:
        assert_harmless(screen)
    for command in commands:
        assert any(shows(screen, command) for screen in screens), ascii(command)


def assert_harmless(screen: str) -> None:
    """The marker is on the screen, and nothing that acts on a terminal or hides on it."""
    screen = _COLOUR.sub("", screen).replace("\r\n", "\n")
    assert _UNSAFE.search(screen) is None, ascii(screen)
    assert "\r" not in screen, ascii(screen)
    assert MARKER in _MARKS.sub("", _BROKEN.sub("", screen)), ascii(screen)


def shows(screen: str, command: str) -> bool:
    screen = _COLOUR.sub("", screen).replace("\r\n", "\n")
    return _bare(command) in _bare(unescape(_BLANK.sub("", _MARKS.sub("", screen))))


def _bare(text: str) -> str:
    return re.sub(r"[ \t\n]+", "", text)
