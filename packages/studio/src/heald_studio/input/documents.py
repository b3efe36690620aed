"""Reads documents that come with a request: PDF files, and texts such as CSV files and logs."""

from base64 import b64encode

from heald.core.messages import File
from heald_studio.bad_input import BadInput
from heald_studio.input.load import load_bytes

MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
MAX_TEXT_BYTES = 1024 * 1024


async def read_document(data: str, name: str) -> File:
    """Read the document of a data: URL. Raises BadInput."""
    if not data.startswith("data:"):
        raise BadInput(f"{name} is not a data: URL, as a browser writes it.", "bad_data_url")
    content = await load_bytes(data, limit=MAX_DOCUMENT_BYTES, name=name)
    if content.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=b64encode(content).decode(), name=name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{name} is neither a PDF nor a text in UTF-8.", "not_a_document") from None
    if "\0" in text:
        raise BadInput(f"{name} is neither a PDF nor a text in UTF-8.", "not_a_document")
    if len(content) > MAX_TEXT_BYTES:
        raise BadInput(f"{name} is a text of more than 1 MB; attach the part that matters.", "too_large")
    return File(media_type="text/plain", data=b64encode(text.encode()).decode(), name=name)
