"""The time of a message, for clients that store messages by it. Models never see it."""

from time import time

import msgspec

from heald.core.messages import Message


def with_time(message: Message) -> Message:
    """Return the message with the current time, unless its caller gave it one."""
    if message.timestamp is not None:
        return message
    return msgspec.structs.replace(message, timestamp=float(round(time() * 1000)))
