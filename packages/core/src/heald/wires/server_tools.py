"""Reads calls and results of tools that providers run themselves out of the content of their answers."""

from typing import Any

import msgspec

from heald.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text, parse_strict
from heald.core.messages import CitedRange, Source

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
    if isinstance(content, str):
        content = {"text": content}
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
}


def read_responses_item(item: JsonObject) -> tuple[ServerCall, ServerResult] | None:
    """Read a finished output item of OpenAI Responses that is a tool of the provider; None for any other item."""
    kind = str(item.get("type") or "")
    name = _ITEM_NAMES.get(kind)
    if name is None:
        return None
    call_id = str(item.get("id") or "")
    failed = item.get("status") == "failed" or bool(item.get("error"))
    match kind:
        case "web_search_call":
            action = as_object(item.get("action"))
            pages = tuple(_searched(source) for source in as_objects(action.get("sources")))
            arguments = {key: value for key, value in action.items() if key != "sources" and value is not None}
            return ServerCall(call_id, name, arguments), ServerResult(call_id, name, "", pages, failed)
        case "file_search_call":
            results = as_objects(item.get("results"))
            files = tuple(
                Source(str(result.get("filename") or ""), None, str(result["text"]) if result.get("text") else None)
                for result in results
            )
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


def read_provider_item(item: JsonObject) -> ServerCall | ServerResult | None:
    """Read an output item of OpenAI Responses whose call and result are two items: a search for tools, or a program
    that calls tools. None for any other item."""
    call_id = str(item.get("call_id") or item.get("id") or "")
    match item.get("type"):
        case "tool_search_call":
            arguments = item.get("arguments")
            return ServerCall(
                call_id,
                "tool_search",
                parse_server_input(arguments) if isinstance(arguments, str) else as_object(arguments),
            )
        case "tool_search_output":
            names = [str(tool.get("name") or tool.get("type") or "") for tool in as_objects(item.get("tools"))]
            return ServerResult(call_id, "tool_search", "\n".join(names))
        case "program":
            return ServerCall(call_id, "program", {"code": str(item.get("code") or "")})
        case "program_output":
            failed = item.get("status") == "incomplete"
            return ServerResult(call_id, "program", str(item.get("result") or ""), (), failed)
        case _:
            return None


def read_executed_tool(tool: JsonObject) -> tuple[ServerCall, ServerResult | None]:
    """Read a tool that a compound model of Groq ran, and its result once it has one."""
    call_id, name = f"executed_{tool.get('index') or 0}", str(tool.get("type") or "tool")
    call = ServerCall(call_id, name, parse_server_input(str(tool.get("arguments") or "")))
    results = as_objects(as_object(tool.get("search_results")).get("results")) or as_objects(
        tool.get("browser_results")
    )
    sources = tuple(_source(result) for result in results if result.get("url"))
    texts = [str(result["text"]) for result in as_objects(tool.get("code_results")) if result.get("text")]
    text = str(tool.get("output") or "") or "\n".join(texts)
    return call, ServerResult(call_id, name, text, sources) if text or sources else None


def _searched(source: JsonObject) -> Source:
    """Read a source of a search: a page, or a service of the provider, which has a name and no address."""
    url = source.get("url")
    if isinstance(url, str) and url:
        return Source(url, url)
    return Source(str(source.get("name") or source.get("title") or source.get("type") or ""), None)


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


def read_gemini_source(chunk: JsonObject) -> Source | None:
    """Read a source that grounds an answer of Gemini: a page, a place of Google Maps, a picture or a document."""
    for kind in ("web", "maps", "image", "retrievedContext"):
        entry = as_object(chunk.get(kind))
        if not entry:
            continue
        url, text, page = entry.get("uri") or entry.get("sourceUri"), entry.get("text"), as_int(entry.get("pageNumber"))
        title = str(entry.get("title") or url or entry.get("documentName") or "")
        cited = CitedRange("page", page, page + 1) if page is not None else None
        quote = text if isinstance(text, str) and text else None
        return Source(title, url if isinstance(url, str) else None, quote, cited)
    return None


def read_gemini_queries(grounding: Any) -> list[str]:
    """Return the queries of a search that grounds an answer of Gemini."""
    return [str(query) for query in as_list(as_object(grounding).get("webSearchQueries")) if query]
