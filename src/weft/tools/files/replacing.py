"""Replacing exact text in a file: where the old text stands, and what stands there afterwards.

Nothing in the new text is special. In a file with CRLF line endings an old text written with LF is found too, and the
new text takes the line endings of what it replaces.
"""

from dataclasses import dataclass

from weft.tools.files.nearest import nearest
from weft.tools.outcome import ToolFault

_MAX_NAMED_LINES = 10


@dataclass(frozen=True, slots=True)
class Match:
    """Where an old text stands in a file, as positions of its characters."""

    start: int
    end: int
    crlf: bool
    """The new text takes CRLF line endings here."""

    def fitted(self, new_text: str) -> str:
        return new_text.replace("\r\n", "\n").replace("\n", "\r\n") if self.crlf else new_text


def find_all(text: str, old_text: str, limit: int = 10_000) -> list[Match]:
    """All places of a text that do not overlap, at most as many as the limit."""
    if "\r\n" not in text:
        return [Match(at, at + len(old_text), False) for at in _places(text, old_text, limit)]
    plain, old_plain = text.replace("\r\n", "\n"), old_text.replace("\r\n", "\n")
    crlf_rules = 2 * text.count("\r\n") >= text.count("\n")
    matches: list[Match] = []
    at = plain_at = 0  # the same place in both texts
    for place in _places(plain, old_plain, limit):
        start = _advance(text, at, place - plain_at)
        end = _advance(text, start, len(old_plain))
        found = text[start:end]
        matches.append(Match(start, end, "\r\n" in found if "\n" in found else crlf_rules))
        at, plain_at = end, place + len(old_plain)
    return matches


def replaced(text: str, old_text: str, new_text: str, *, count: int = 1, name: str = "The edit") -> str:
    """The text with exactly `count` places replaced. A ToolFault says why that cannot be done, and what would help."""
    if not old_text:
        raise ToolFault(f"{name} has an empty old_text; give the text to replace, or use write_file.", "invalid_edit")
    if old_text == new_text:
        raise ToolFault(f"{name} has the same old_text and new_text, so it would change nothing.", "invalid_edit")
    matches = find_all(text, old_text)
    if not matches:
        raise ToolFault(f"{name} does not match: its old_text is not in the file.{nearest(text, old_text)}", "no_match")
    if len(matches) != count:
        raise ToolFault(_miscounted(text, matches, count, name), "ambiguous_match")
    out: list[str] = []
    at = 0
    for match in matches:
        out += (text[at : match.start], match.fitted(new_text))
        at = match.end
    out.append(text[at:])
    return "".join(out)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _places(text: str, part: str, limit: int) -> list[int]:
    places: list[int] = []
    at = text.find(part)
    while at >= 0 and len(places) < limit:
        places.append(at)
        at = text.find(part, at + len(part))
    return places


def _advance(text: str, at: int, characters: int) -> int:
    """Go on by so many characters, where CRLF counts as one."""
    end = at + characters
    while True:
        missing = characters - (end - at - text.count("\r\n", at, end))
        if not missing:
            break
        end += missing
    # a CR whose LF was not taken yet: both go together
    return end + 1 if end > at and text[end - 1 : end + 1] == "\r\n" else end


def _miscounted(text: str, matches: list[Match], count: int, name: str) -> str:
    lines = [str(line_of(text, match.start)) for match in matches[:_MAX_NAMED_LINES]]
    more = f" and {len(matches) - len(lines)} more" if len(matches) > len(lines) else ""
    if len(matches) == 1:
        return f"{name} expects {count} places, but its old_text is there once, at line {lines[0]}; set count to 1."
    return (
        f"{name} is ambiguous: its old_text is there {len(matches)} times, at lines {', '.join(lines)}{more}, and "
        f"{count} {'was' if count == 1 else 'were'} asked for; add lines around it until it is the only one, "
        f"or set count to {len(matches)} to replace all."
    )
