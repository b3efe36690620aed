"""Strict readers of the streams of Anthropic, Gemini and Ollama."""

from msgspec.structs import replace

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.testing.conform.reader import ReadCall, ReadUsage, StrictReader, split_lines


class MessagesReader(StrictReader):
    """Anthropic Messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming)."""

    finishes = frozenset(
        {
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        }
    )
    truncated = "max_tokens"

    def __init__(self) -> None:
        super().__init__()
        self._began = False
        self._blocks = 0
        self._open: int | None = None
        self._call: ReadCall | None = None
        self._usage: JsonObject = {}
        self._counted = False  # by message_delta, which has the final figure

    def read_event(self, data: JsonObject, event: str) -> None:
        kind = str(data.get("type") or "")
        self.check_event_name(kind, event)
        if not self._began and kind not in ("message_start", "ping", "error"):
            self.add_fault("order", f"{kind} came before message_start")
        match kind:
            case "message_start":
                self._read_start(as_object(data.get("message")))
            case "content_block_start":
                self._start_block(as_int(data.get("index")), as_object(data.get("content_block")))
            case "content_block_delta":
                self._add_delta(as_int(data.get("index")), as_object(data.get("delta")))
            case "content_block_stop":
                self._stop_block(as_int(data.get("index")))
            case "message_delta":
                self.finish = str(as_object(data.get("delta")).get("stop_reason") or self.finish)
                self._usage |= as_object(data.get("usage"))
                self._counted = "output_tokens" in as_object(data.get("usage"))
            case "message_stop":
                self.ended = True
            case "error":
                self.set_error(data.get("error"))
            case _:
                pass

    def end(self) -> None:
        if not self.ended:
            self.add_fault("terminal", "no message_stop", "F10")
        if self._open is not None:
            self.add_fault("order", "a content block was never stopped")
        if not self._usage:
            return
        if not self._counted:
            self.add_fault("usage", "message_delta counts no output_tokens", "U01")
        self.tokens = replace(self.read_usage(self._usage, "input_tokens", "output_tokens"), total=None)

    def _read_start(self, message: JsonObject) -> None:
        if self._began:
            self.add_fault("order", "message_start came twice")
        self._began = True
        self.role = message.get("role")
        self.require("envelope", message, "the message", id=str, model=str, content=list)
        if message.get("type") != "message":
            self.add_fault("envelope", "the message's type is not “message”")
        self._usage |= as_object(message.get("usage"))

    def _start_block(self, index: int | None, block: JsonObject) -> None:
        if self._open is not None:
            self.add_fault("order", "a content block started before the one before it was stopped")
        if index != self._blocks:
            self.add_fault("order", f"content block {self._blocks} has the index {index}")
        self._blocks += 1
        self._open, self._call = index, None
        if block.get("type") == "text":
            self.text.append(str(block.get("text") or ""))
        if block.get("type") != "tool_use":
            return
        given = as_object(block.get("input"))
        if not isinstance(block.get("input"), dict):
            self.add_fault("call-fields", "a tool_use block starts without an input object")
        self._call = ReadCall(str(block.get("id") or ""), str(block.get("name") or ""))
        if given:
            self._call.pieces.append(encode_text(given))
        self.calls.append(self._call)

    def _add_delta(self, index: int | None, delta: JsonObject) -> None:
        if self._open is None or index != self._open:
            self.add_fault("order", "a delta belongs to no open content block")
        if delta.get("type") == "text_delta":
            self.text.append(str(delta.get("text") or ""))
        if delta.get("type") == "input_json_delta" and self._call is not None:
            self._call.pieces.append(str(delta.get("partial_json") or ""))

    def _stop_block(self, index: int | None) -> None:
        if self._open is None or index != self._open:
            self.add_fault("order", "a content block was stopped that was not open")
        if self._call is not None and not self._call.arguments.strip():
            self._call.pieces = ["{}"]  # a call without parameters has no deltas
        self._open = self._call = None


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


class OllamaReader(StrictReader):
    """Ollama (https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion)."""

    finishes = frozenset({"stop", "length"})
    truncated = "length"
    split = staticmethod(split_lines)
    wants_ids = False

    def read_event(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.set_error(data["error"])
            return
        self.require("envelope", data, "a line", model=str, created_at=str, message=dict, done=bool)
        message = as_object(data.get("message"))
        self.role = self.role or message.get("role")
        self.text.append(str(message.get("content") or ""))
        for call in as_objects(message.get("tool_calls")):
            self._read_call(as_object(call.get("function")), str(call.get("id") or ""))
        if data.get("done") is not True:
            return
        self.ended = True
        self.finish = str(data.get("done_reason") or "")
        self.tokens = replace(self.read_usage(data, "prompt_eval_count", "eval_count"), total=None)

    def end(self) -> None:
        if not self.ended:
            self.add_fault("terminal", "no line with done: true", "F10")

    def _read_call(self, function: JsonObject, call_id: str) -> None:
        arguments = function.get("arguments")
        call = ReadCall(call_id, str(function.get("name") or ""))
        self.calls.append(call)
        if isinstance(arguments, str):
            self.add_fault("arguments", "arguments that are a string", "V08")
            call.pieces.append(arguments)
        else:
            call.pieces.append("{}" if arguments is None else encode_text(arguments))
