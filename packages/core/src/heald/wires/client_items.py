"""Output items of OpenAI Responses that a client has to run or to approve: commands, patches, clicks, MCP calls.

Heald runs none of them. Each is an event with a result that says so, and the next request answers it, because the API
refuses a conversation in which one is open.
"""

from collections.abc import Sequence

from heald.core.json import JsonObject, as_object, as_objects, encode_text
from heald.wires.server_tools import ServerCall, ServerResult, parse_server_input

_NAMES = {
    "local_shell_call": "shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "mcp_approval_request": "mcp_approval",
}
_OUTPUT = "_output"
NOT_RUN = "Heald does not run calls of this kind, so it was not run."


def is_client_item(item: JsonObject) -> bool:
    return str(item.get("type")) in _NAMES


def read_client_call(item: JsonObject) -> ServerCall:
    """Read a call that the client has to run."""
    kind = str(item["type"])
    match kind:
        case "mcp_approval_request":
            arguments = parse_server_input(str(item.get("arguments") or ""))
            call = {"server": item.get("server_label"), "name": item.get("name"), "arguments": arguments}
        case "apply_patch_call":
            call = as_object(item.get("operation"))
        case "computer_call" if item.get("actions"):
            call = {"actions": item["actions"]}
        case _:
            call = as_object(item.get("action"))
    return ServerCall(_call_id(item), _NAMES[kind], call)


def read_client_output(item: JsonObject) -> ServerResult | None:
    """Read the output of such a call that the provider ran itself; None for any other item."""
    name = _NAMES.get(str(item.get("type") or "").removesuffix(_OUTPUT))
    if name is None or is_client_item(item):
        return None
    output = item.get("output")
    pieces = as_objects(output)
    lines = [str(piece[key]) for piece in pieces for key in ("stdout", "stderr") if piece.get(key)]
    text = output if isinstance(output, str) else "\n".join(lines)
    codes = [as_object(piece.get("outcome")).get("exit_code") for piece in pieces]
    failed = item.get("status") == "failed" or any(code not in (None, 0) for code in codes)
    return ServerResult(_call_id(item), name, text, (), failed)


def find_open(items: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the calls that have no output among the items."""
    answered = {_call_id(item) for item in items if str(item.get("type") or "").endswith(_OUTPUT)}
    return [item for item in items if is_client_item(item) and _call_id(item) not in answered]


def describe_open(item: JsonObject) -> str:
    """Return a sentence about a call that was not run, for the person who asked."""
    if item["type"] == "mcp_approval_request":
        return (
            f"The provider asked for approval to call {item.get('name')} of the MCP server {item.get('server_label')}, "
            'and nobody can give it; set `"require_approval": "never"` for the server, or connect it to Heald.'
        )
    return (
        f"The model called the client tool {_NAMES[str(item['type'])]!r}, which Heald does not run; "
        "remove it from `extra` and offer a tool of Heald."
    )


def answer_open(items: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the items with an answer to each open call. A click cannot be answered without a screenshot: it is left
    out, with the reasoning that leads to it."""
    unanswered = find_open(items)
    answers = [answer for item in unanswered if (answer := _refuse(item)) is not None]
    echoed: list[JsonObject] = []
    for item in items:
        if item in unanswered and _refuse(item) is None:
            while echoed and echoed[-1].get("type") == "reasoning":
                echoed.pop()
            continue
        echoed.append(item)
    return [*echoed, *answers]


def _refuse(item: JsonObject) -> JsonObject | None:
    call_id = _call_id(item)
    match item["type"]:
        case "mcp_approval_request":
            return {
                "type": "mcp_approval_response",
                "approval_request_id": call_id,
                "approve": False,
                "reason": "Nobody can approve it.",
            }
        case "shell_call":
            outcome = {"type": "exit", "exit_code": 1}
            output = [{"stdout": "", "stderr": NOT_RUN, "outcome": outcome}]
            return {"type": "shell_call_output", "call_id": call_id, "output": output}
        case "apply_patch_call":
            return {"type": "apply_patch_call_output", "call_id": call_id, "status": "failed", "output": NOT_RUN}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call_id, "output": encode_text({"error": NOT_RUN})}
        case _:
            return None


def _call_id(item: JsonObject) -> str:
    """The id that joins a call and its output."""
    return str(item.get("call_id") or item.get("approval_request_id") or item.get("id") or "")
