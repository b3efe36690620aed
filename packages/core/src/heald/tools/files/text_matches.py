"""Finds and replaces exact texts, with the line endings of the file."""

import msgspec

from heald.tools.files.nearest_lines import describe_nearest
from heald.tools.tool_fault import ToolFault

_MAX_NAMED_LINES = 10


class Match(msgspec.Struct, frozen=True):
    """An occurrence of an old text in a file, as character positions."""

    start: int
    end: int
    crlf: bool
    """Whether the new text gets CRLF line endings."""

    def fitted(self, new_text: str) -> str:
        return new_text.replace("\r\n", "\n").replace("\n", "\r\n") if self.crlf else new_text


def find_all(text: str, old_text: str, limit: int = 10_000) -> list[Match]:
    """Return the non-overlapping occurrences of a text, at most `limit`."""
    if "\r\n" not in text:
        return [Match(at, at + len(old_text), False) for at in _places(text, old_text, limit)]
    plain, old_plain = text.replace("\r\n", "\n"), old_text.replace("\r\n", "\n")
    crlf_rules = 2 * text.count("\r\n") >= text.count("\n")
    matches: list[Match] = []
    at = plain_at = 0  # the same position in both texts
    for place in _places(plain, old_plain, limit):
        start = _advance(text, at, place - plain_at)
        end = _advance(text, start, len(old_plain))
        matched = text[start:end]
        matches.append(Match(start, end, "\r\n" in matched if "\n" in matched else crlf_rules))
        at, plain_at = end, place + len(old_plain)
    return matches


def replace_text(text: str, old_text: str, new_text: str, *, count: int = 1, name: str = "The edit") -> str:
    """Replace all occurrences of a text. Raises ToolFault with advice if there are not exactly `count`."""
    if not old_text:
        raise ToolFault(f"{name} has an empty old_text; give the text to replace, or use write_file.", "invalid_edit")
    if old_text == new_text:
        raise ToolFault(f"{name} has the same old_text and new_text, so it would change nothing.", "invalid_edit")
    matches = find_all(text, old_text)
    if not matches:
        raise ToolFault(
            f"{name} does not match: its old_text is not in the file.{describe_nearest(text, old_text)}", "no_match"
        )
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
    """Return the position after `characters` characters, where CRLF counts as one."""
    end = at + characters
    while True:
        missing = characters - (end - at - text.count("\r\n", at, end))
        if not missing:
            break
        end += missing
    # do not stop between CR and LF
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
