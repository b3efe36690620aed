"""Reads answers of the Gemini API."""

from heald.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from heald_check.conform.reader import StrictReader
from heald_check.conform.reading import ReadCall, ReadUsage


class GeminiReader(StrictReader):
    """Gemini (https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent)."""

    finishes = frozenset(
        (
            *("STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"),
            *("SPII", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"),
        )
    )
    truncated = "MAX_TOKENS"
    wants_ids = False

    def __init__(self) -> None:
        super().__init__()
        self._usage: JsonObject = {}

    def read_event(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.set_error(data["error"])
            return
        self._usage |= as_object(data.get("usageMetadata"))
        for candidate in as_objects(data.get("candidates")):
            if not candidate.get("index"):
                self._read_candidate(candidate)

    def end(self) -> None:
        if not self._usage:
            return
        counts = self._usage
        prompt, written = as_int(counts.get("promptTokenCount")), as_int(counts.get("candidatesTokenCount"))
        thought, tools = as_int(counts.get("thoughtsTokenCount")), as_int(counts.get("toolUsePromptTokenCount"))
        if prompt is None:
            self.add_fault("usage", "usageMetadata has no promptTokenCount", "U04")
        if written is None and (self.calls or any(self.text)):
            self.add_fault("usage", "usageMetadata has no candidatesTokenCount", "U04")
        total = as_int(counts.get("totalTokenCount"))
        self.check_total(total, prompt, written, thought, tools)
        output = None if written is None and thought is None else (written or 0) + (thought or 0)
        self.tokens = ReadUsage(prompt, output, total)

    def _read_candidate(self, candidate: JsonObject) -> None:
        content = as_object(candidate.get("content"))
        parts = as_objects(content.get("parts"))
        if parts:
            self.role = self.role or ("assistant" if content.get("role") == "model" else content.get("role"))
        for part in parts:
            self._read_part(part)
        finish = candidate.get("finishReason")
        if not finish:
            return
        if self.finish and self.finish != finish:
            self.add_fault("finish", "two finish reasons", "T14")
        self.finish = str(finish)

    def _read_part(self, part: JsonObject) -> None:
        if part.get("text") and not part.get("thought"):
            self.text.append(str(part["text"]))
        if "functionCall" not in part:
            return
        function = as_object(part["functionCall"])
        if "partialArgs" in function or "willContinue" in function:
            self.add_fault("arguments", "arguments in pieces, which were not asked for")
        arguments = function.get("args")
        call = ReadCall(str(function.get("id") or ""), str(function.get("name") or ""))
        call.pieces.append("{}" if arguments is None else encode_text(arguments))
        self.calls.append(call)
