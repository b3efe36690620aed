"""Files in the messages of clients of other protocols."""

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject


def file_part(url: object, media_type: object, name: object, number: int) -> JsonObject:
    """A picture or file of a client, by its address or as a data: address."""
    if not isinstance(url, str) or not isinstance(media_type, str):
        raise ConfigurationError(f"A file in message {number} has no url or no media type.")
    is_picture = media_type.startswith("image/")
    part: JsonObject = {"type": "image" if is_picture else "file", "media_type": media_type}
    head, _, data = url.partition(";base64,")
    if url.startswith("data:"):
        if not data:
            raise ConfigurationError(f"The data: address of a file in message {number} is not base64.")
        kind = head.removeprefix("data:").partition(";")[0]
        part |= {"data": data, "media_type": kind or media_type}
    elif url.startswith(("https://", "http://")):
        part["url"] = url
    else:
        raise ConfigurationError(f"A file in message {number} is a data: address, or one that begins with https://.")
    return part | ({"name": name} if isinstance(name, str) and not is_picture else {})
