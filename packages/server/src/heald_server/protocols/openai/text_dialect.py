"""The frames of a text completion: of `/v1/completions`, or of `/v1/fim/completions`, whose form is that of a chat."""

from time import time
from typing import Literal

from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.core.turn import Usage
from heald.providers.text_completion import TextPiece
from heald_server.protocols.openai.dialect import encode_usage

TextForm = Literal["text", "chat"]


class TextDialect:
    """Encodes one completion, whole or piece by piece."""

    def __init__(self, form: TextForm, model: str) -> None:
        self._form: TextForm = form
        self._head: JsonObject = {"id": new_id("cmpl"), "created": int(time()), "model": model}

    def chunk(self, piece: TextPiece) -> JsonObject:
        """A chunk of a stream."""
        if self._form == "text":
            return self._object("text_completion", self._choice(piece))
        choice = {"index": 0, "delta": {"role": "assistant", "content": piece.text}}
        return self._object("chat.completion.chunk", choice | {"finish_reason": piece.finish_reason})

    def usage_chunk(self, usage: Usage, cost: float | None) -> JsonObject:
        """The last chunk of a stream."""
        name = "text_completion" if self._form == "text" else "chat.completion.chunk"
        return {**self._head, "object": name, "choices": [], "usage": encode_usage(usage, cost)}

    def whole(self, piece: TextPiece, usage: Usage, cost: float | None) -> JsonObject:
        """A completion that is not streamed."""
        counts = {"usage": encode_usage(usage, cost)}
        if self._form == "text":
            return self._object("text_completion", self._choice(piece)) | counts
        choice = {"index": 0, "message": {"role": "assistant", "content": piece.text}}
        return self._object("chat.completion", choice | {"finish_reason": piece.finish_reason}) | counts

    def _object(self, name: str, choice: JsonObject) -> JsonObject:
        return {**self._head, "object": name, "choices": [choice]}

    def _choice(self, piece: TextPiece) -> JsonObject:
        return {"index": 0, "text": piece.text, "logprobs": piece.logprobs, "finish_reason": piece.finish_reason}
