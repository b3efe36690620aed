"""A form with a file (RFC 7578)."""

from heald.core.ids import new_id


def encode_form(fields: dict[str, str], data: bytes, media_type: str, name: str) -> tuple[str, bytes]:
    """Return the boundary and the body of a form with a file (RFC 7578)."""
    boundary = new_id("form")
    quoted = name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_") or "file"
    parts = [
        f'--{boundary}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{quoted}"\r\n'
        f"content-type: {media_type}\r\n\r\n"
    )
    return boundary, "".join([*parts, head]).encode() + data + f"\r\n--{boundary}--\r\n".encode()
