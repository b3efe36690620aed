"""Helpers of the newsletter."""


def chop(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"


def plural(count, word):
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def initials(name):
    return "".join(part[0].upper() for part in name.split())


def bullet(lines):
    return "\n".join(f"* {line}" for line in lines)


def quote(text):
    return "\n".join(f"> {line}" for line in text.splitlines())
