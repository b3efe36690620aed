"""Gemini's generateContent, read plainly.

https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
"""

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.testing.conform.plain.reader import OpenCall, Reader, Tokens


class GeminiReader(Reader):
    finishes = frozenset(
        {
            "STOP",
            "MAX_TOKENS",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "OTHER",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MALFORMED_RESPONSE",
        }
    )
    truncated = "MAX_TOKENS"
    wants_ids = False

    def __init__(self) -> None:
        super().__init__()
        self._usage: JsonObject = {}

    def take(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.failed(data["error"])
            return
        self._usage |= as_object(data.get("usageMetadata"))
        for candidate in as_objects(data.get("candidates")):
            if not candidate.get("index"):
                self._candidate(candidate)

    def end(self) -> None:
        if not self._usage:
            return
        counts = self._usage
        prompt, written = as_int(counts.get("promptTokenCount")), as_int(counts.get("candidatesTokenCount"))
        thought, tools = as_int(counts.get("thoughtsTokenCount")), as_int(counts.get("toolUsePromptTokenCount"))
        if prompt is None:
            self.fault("usage", "usageMetadata has no promptTokenCount", "U04")
        if written is None and (self.calls or any(self.text)):
            self.fault("usage", "usageMetadata has no candidatesTokenCount", "U04")
        total = as_int(counts.get("totalTokenCount"))
        self.sum_up(total, prompt, written, thought, tools)
        output = None if written is None and thought is None else (written or 0) + (thought or 0)
        self.tokens = Tokens(prompt, output, total)

    def _candidate(self, candidate: JsonObject) -> None:
        content = as_object(candidate.get("content"))
        parts = as_objects(content.get("parts"))
        if parts:
            self.role = self.role or ("assistant" if content.get("role") == "model" else content.get("role"))
        for part in parts:
            self._part(part)
        finish = candidate.get("finishReason")
        if not finish:
            return
        if self.finish and self.finish != finish:
            self.fault("finish", "two finish reasons", "T14")
        self.finish = str(finish)

    def _part(self, part: JsonObject) -> None:
        if part.get("text") and not part.get("thought"):
            self.text.append(str(part["text"]))
        if "functionCall" not in part:
            return
        function = as_object(part["functionCall"])
        if "partialArgs" in function or "willContinue" in function:
            self.fault("arguments", "arguments in pieces, which were not asked for")
        arguments = function.get("args")
        call = OpenCall(str(function.get("id") or ""), str(function.get("name") or ""))
        call.pieces.append("{}" if arguments is None else encode_text(arguments))
        self.calls.append(call)
