"""Reads calls and results of tools that providers run themselves out of the content of their answers."""

from typing import Any

import msgspec

from heald.core.json import JsonObject, as_list, as_object, as_objects, encode_text, parse_strict
from heald.core.messages import Source

MAX_TEXT = 20_000


class ServerCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    input: JsonObject


class ServerResult(msgspec.Struct, frozen=True):
    id: str
    name: str
    text: str = ""
    sources: tuple[Source, ...] = ()
    is_error: bool = False


def parse_server_input(text: str) -> JsonObject:
    """Parse the arguments of a call that the provider ran. Text that is not JSON is kept as such."""
    try:
        return as_object(parse_strict(text)) if text.strip() else {}
    except ValueError:
        return {"INVALID_JSON": text}


_RESULT_SUFFIX = "_tool_result"
_OUTPUT = ("stdout", "stderr", "output", "error_code", "message", "text")


def read_messages_result(block: JsonObject) -> ServerResult | None:
    """Read a result block of Anthropic Messages, such as `web_search_tool_result`; None for any other block."""
    kind = str(block.get("type") or "")
    if not kind.endswith(_RESULT_SUFFIX):
        return None
    content = block.get("content")
    entries = as_objects(content) if isinstance(content, list) else [as_object(content)]
    sources = tuple(_source(entry) for entry in entries if entry.get("url"))
    is_error = block.get("is_error") is True or any(str(entry.get("type")).endswith("_error") for entry in entries)
    lines = [str(entry[key]) for entry in entries for key in _OUTPUT if entry.get(key)]
    name = kind.removesuffix(_RESULT_SUFFIX)
    return ServerResult(str(block.get("tool_use_id") or ""), name, "\n".join(lines), sources, is_error)


def _source(entry: JsonObject) -> Source:
    url = str(entry["url"])
    title = entry.get("title") or as_object(entry.get("content")).get("title") or entry.get("filename")
    return Source(str(title or url), url)


_ITEM_NAMES = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_execution",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp",
    "local_shell_call": "shell",
    "computer_call": "computer",
}
_OWN_RUN = ("local_shell_call", "computer_call")
"""Calls that the provider expects the client to run."""


def read_responses_item(item: JsonObject) -> tuple[ServerCall, ServerResult] | None:
    """Read a finished output item of OpenAI Responses that is a tool of the provider; None for any other item."""
    kind = str(item.get("type") or "")
    name = _ITEM_NAMES.get(kind)
    if name is None or kind in _OWN_RUN:
        return None
    call_id = str(item.get("id") or "")
    failed = item.get("status") == "failed" or bool(item.get("error"))
    match kind:
        case "web_search_call":
            action = as_object(item.get("action"))
            urls = [str(source["url"]) for source in as_objects(action.get("sources"))]
            pages = tuple(Source(url, url) for url in urls)
            arguments = {key: value for key, value in action.items() if key != "sources" and value is not None}
            return ServerCall(call_id, name, arguments), ServerResult(call_id, name, "", pages, failed)
        case "file_search_call":
            results = as_objects(item.get("results"))
            files = tuple(Source(str(result.get("filename") or ""), None, result.get("text")) for result in results)
            call = ServerCall(call_id, name, {"queries": as_list(item.get("queries"))})
            return call, ServerResult(call_id, name, "", files, failed)
        case "code_interpreter_call":
            logs = [str(output["logs"]) for output in as_objects(item.get("outputs")) if output.get("logs")]
            call = ServerCall(call_id, name, {"code": str(item.get("code") or "")})
            return call, ServerResult(call_id, name, "\n".join(logs), (), failed)
        case "mcp_call":
            tool = f"{item.get('server_label') or 'mcp'}.{item.get('name') or ''}"
            arguments = {"arguments": item.get("arguments")} if item.get("arguments") else {}
            text = str(item.get("error") or item.get("output") or "")
            return ServerCall(call_id, tool, arguments), ServerResult(call_id, tool, text, (), failed)
        case _:
            prompt = {"prompt": item["revised_prompt"]} if item.get("revised_prompt") else {}
            return ServerCall(call_id, name, prompt), ServerResult(call_id, name, "", (), failed)


_GEMINI_TOOLS = {
    "GOOGLE_SEARCH_WEB": "web_search",
    "GOOGLE_SEARCH_IMAGE": "web_search",
    "URL_CONTEXT": "web_fetch",
    "FILE_SEARCH": "file_search",
}
_CODE = "code_execution"


def read_gemini_part(part: JsonObject) -> ServerCall | ServerResult | None:
    """Read a part of Gemini that is a call or a result of a tool of the provider; None for any other part."""
    if code := as_object(part.get("executableCode")):
        return ServerCall(
            str(code.get("id") or ""), _CODE, {key: code[key] for key in ("language", "code") if key in code}
        )
    if outcome := as_object(part.get("codeExecutionResult")):
        failed = outcome.get("outcome") not in (None, "OUTCOME_OK")
        return ServerResult(str(outcome.get("id") or ""), _CODE, str(outcome.get("output") or ""), (), failed)
    if call := as_object(part.get("toolCall")):
        return ServerCall(str(call.get("id") or ""), _gemini_name(call), as_object(call.get("args")))
    if response := as_object(part.get("toolResponse")):
        text = encode_text(response.get("response") or {})
        return ServerResult(str(response.get("id") or ""), _gemini_name(response), text)
    return None


def _gemini_name(entry: JsonObject) -> str:
    kind = str(entry.get("toolType") or "")
    return _GEMINI_TOOLS.get(kind, kind.lower())


def read_gemini_queries(grounding: Any) -> list[str]:
    """Return the queries of a search that grounds an answer of Gemini."""
    return [str(query) for query in as_list(as_object(grounding).get("webSearchQueries")) if query]
