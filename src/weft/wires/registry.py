"""The wires by name."""

from collections.abc import Callable
from typing import Literal

import msgspec

from weft.core.json import JsonObject
from weft.wires.chat import request as chat
from weft.wires.chat.stream import ChatDecoder
from weft.wires.decoder import Decoder
from weft.wires.gemini import request as gemini
from weft.wires.gemini.stream import GeminiDecoder
from weft.wires.messages import request as messages
from weft.wires.messages.stream import MessagesDecoder
from weft.wires.ollama import request as ollama
from weft.wires.ollama.stream import OllamaDecoder
from weft.wires.request import TurnRequest
from weft.wires.responses import request as responses
from weft.wires.responses.stream import ResponsesDecoder

WireName = Literal["chat", "responses", "messages", "gemini", "ollama"]


class Wire(msgspec.Struct, frozen=True):
    """A codec: where to send a turn, how to write it, how to read the answer."""

    name: WireName
    path: Callable[[str], str]
    build: Callable[[TurnRequest], JsonObject]
    decoder: type[Decoder]


WIRES: dict[str, Wire] = {
    "chat": Wire("chat", chat.path, chat.build, ChatDecoder),
    "responses": Wire("responses", responses.path, responses.build, ResponsesDecoder),
    "messages": Wire("messages", messages.path, messages.build, MessagesDecoder),
    "gemini": Wire("gemini", gemini.path, gemini.build, GeminiDecoder),
    "ollama": Wire("ollama", ollama.path, ollama.build, OllamaDecoder),
}
