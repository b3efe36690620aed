"""Audio in requests: Chat Completions, Gemini and Converse have a form for it, the other APIs have none.

A request whose newest message holds audio that the API cannot carry is refused before it is sent. Older audio, and
audio in the result of a tool, becomes a note in the text, so that a conversation can continue with another model.
"""

from collections.abc import Sequence

from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject
from heald.core.messages import Block, File, Message
from heald.wires.wire import Wire

_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/vnd.wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
"""The formats of Chat Completions by media type. https://platform.openai.com/docs/guides/audio"""
_CONVERSE_FORMATS = frozenset(
    ("mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "m4a", "mpga", "pcm", "webm")
)
"""https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html"""


def is_audio(block: Block) -> bool:
    return isinstance(block, File) and block.media_type.lower().startswith("audio/")


def encode_chat_audio(file: File) -> JsonObject | None:
    """Encode audio for Chat Completions; None if it has another format, or only a URL."""
    kind = _FORMATS.get(_media_type(file))
    if kind is None or not file.data:
        return None
    return {"type": "input_audio", "input_audio": {"data": file.data, "format": kind}}


_SIGNATURES = {
    "UklGR": "audio/wav",
    "SUQz": "audio/mpeg",
    **dict.fromkeys(("//s", "//o", "//M", "//I"), "audio/mpeg"),
    "ZkxhQ": "audio/flac",
    "T2dnU": "audio/ogg",
}
"""The first characters of audio files in base64."""
STREAMED_AUDIO = "audio/pcm;rate=24000"
"""The only format that OpenAI streams: 16-bit samples of one channel."""


def find_audio_type(data: str) -> str:
    """Return the media type of a whole audio file in an answer of Chat Completions, which does not name it."""
    return next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), STREAMED_AUDIO)


def find_converse_format(file: File) -> str | None:
    """Return the name that Amazon's Converse API has for the format of audio; None if it has none."""
    subtype = _media_type(file).removeprefix("audio/").removeprefix("x-").removeprefix("vnd.").replace("wave", "wav")
    subtype = {"mp3": "mp3", "mpeg": "mp3"}.get(subtype, subtype)
    return subtype if subtype in _CONVERSE_FORMATS else None


def describe_unsent(file: File) -> str:
    """Return the text that stands for audio that the API cannot carry."""
    return f"[not sent: {file.media_type} {file.url or file.name or ''}".rstrip() + "]"


def check_audio(wire: Wire, messages: Sequence[Message]) -> None:
    """Refuse the newest user messages if they hold audio that the wire cannot carry."""
    for message in reversed(messages):
        if message.role == "assistant":
            return
        for block in message.content:
            if isinstance(block, File) and is_audio(block):
                _check(wire, block)


def _check(wire: Wire, file: File) -> None:
    if "audio_input" not in wire.features:
        raise InvalidRequest(
            f"The {wire.name} wire carries no audio; send a transcript, or use a model over the chat or gemini wire, "
            "such as openai-chat/gpt-4o-audio-preview."
        )
    if wire.check_audio is not None:
        wire.check_audio(file)


def check_chat_audio(file: File) -> None:
    """Raise InvalidRequest for audio that Chat Completions has no form for."""
    if encode_chat_audio(file) is None:
        unsupported = "audio by URL" if file.url else _media_type(file)
        raise InvalidRequest(
            f"The chat wire carries audio as WAV or MP3 data and not {unsupported}; convert it, or use Gemini."
        )


def check_converse_audio(file: File) -> None:
    """Raise InvalidRequest for audio that Amazon's Converse API has no form for."""
    if find_converse_format(file) is None or not file.data:
        raise InvalidRequest(
            f"The converse wire carries audio as data and not as {_media_type(file)} or by URL; convert it to "
            "WAV, MP3, FLAC or Ogg."
        )


def _media_type(file: File) -> str:
    return file.media_type.lower().partition(";")[0].strip()
