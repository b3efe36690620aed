"""Refuses pictures and documents that an API has no form for, before a request is sent.

Only the newest messages of the user are refused. Older ones, and results of tools, become a note in the text, so that a
conversation can continue with another model.
"""

from collections.abc import Collection, Sequence

from heald.core.errors import InvalidRequest
from heald.core.messages import File, Image, Message
from heald.wires.audio import is_audio
from heald.wires.documents import read_text_document
from heald.wires.features import FeatureName
from heald.wires.wire import Wire


def check_media(
    wire: Wire, messages: Sequence[Message], provider: str = "", without: Collection[FeatureName] = ()
) -> None:
    """Raise InvalidRequest if the newest user messages hold a picture or document that the wire cannot carry, or that
    the provider does not have."""
    if wire.check_media is None and not without:
        return
    for message in reversed(messages):
        if message.role == "assistant":
            return
        for block in message.content:
            if isinstance(block, Image | File):
                _check_provider(block, provider, without)
                if wire.check_media is not None and not is_audio(block):
                    wire.check_media(block)


def _check_provider(part: Image | File, provider: str, without: Collection[FeatureName]) -> None:
    if part.file_id and "file_ids" in without:
        raise InvalidRequest(f"The provider {provider} has no uploaded files; send the data of the file.")
    if isinstance(part, Image):
        return
    if is_audio(part):
        if "audio_input" in without:
            raise InvalidRequest(f"The provider {provider} has no audio; send a transcript, or use another provider.")
    elif "pdf_input" in without and not part.url and read_text_document(part) is None:
        raise InvalidRequest(
            f"The provider {provider} has text files and not {part.media_type}; "
            "send the text, or pictures of the pages."
        )
