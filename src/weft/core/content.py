"""What a message can hold beside tool calls: text, reasoning, pictures, files, sources."""

import msgspec


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    text: str
    refusal: bool = False
    """The model declined, in these words."""


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    """Thinking that people may read. What only its provider can read stays in the message's native content."""

    text: str


class Image(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="image"):
    """A picture, as base64 data with its media type, or by URL."""

    media_type: str = "image/png"
    data: str | None = None
    url: str | None = None


class File(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="file"):
    """A document such as a PDF, as base64 data with its media type, or by URL."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    title: str
    url: str | None = None
    quote: str | None = None


class Grounding(msgspec.Struct, frozen=True, tag="grounding"):
    """The sources that an answer says it rests on."""

    sources: list[Source]
