"""Which picture a file is, by its first bytes. Its name does not count."""


def media_type(content: bytes) -> str | None:
    """The media type of a PNG, JPEG, GIF or WebP; None for anything else."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return None
