"""The text of a result: characters that an event can hold, and its size limit."""

from heald.core.json import encode_text
from heald.core.messages import Text
from heald.tools.tool_output import Parts


def plain_text(text: str) -> str:
    """Replace characters that an event cannot hold: NUL and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


TEXT_BYTES = 240 * 1024
"""Maximum encoded size of a result's text. A character takes up to four bytes, an escaped one six."""


def truncate_content(content: Parts, limit: int) -> tuple[Parts, bool]:
    """Limit the text to `limit` characters, keeping head and tail. Return the content and whether text was cut."""
    if isinstance(content, str):
        return _cut(content, limit, TEXT_BYTES)
    texts = max(sum(isinstance(part, Text) for part in content), 1)
    share, room = max(limit // texts, 200), TEXT_BYTES // texts
    cuts = [_cut(part.text, share, room) if isinstance(part, Text) else None for part in content]
    parts = [part if cut is None else Text(cut[0]) for part, cut in zip(content, cuts, strict=True)]
    return parts, any(cut is not None and cut[1] for cut in cuts)


def _cut(text: str, limit: int, room: int) -> tuple[str, bool]:
    text = plain_text(text)
    if len(text) <= limit and (len(text) <= room // 6 or encoded_size(text) <= room):
        return text, False
    limit = min(limit, len(text))
    while True:
        head, tail = limit * 2 // 3, max(limit - limit * 2 // 3, 1)
        weight = encoded_size(text[:head] + text[-tail:])
        if weight <= room or limit <= 200:
            break
        limit = min(limit * room // weight, limit * 9 // 10)
    left_out = len(text) - head - tail
    return f"{text[:head]}\n\n[… {left_out:,} characters left out …]\n\n{text[-tail:]}", True


def encoded_size(text: str) -> int:
    """Return the bytes of a text as JSON."""
    return len(encode_text(text).encode())
