"""Reads the decisions and results in the UI messages of a client of the Vercel AI SDK."""

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.ui_messages import is_tool_part
from heald_server.protocols.shared.client_answers import ClientAnswers, ClientDecision, ClientResult


def read_answers(message: JsonObject) -> ClientAnswers:
    """Return the decisions and results in an assistant message that the client sends back."""
    answers = ClientAnswers()
    for part in as_objects(message.get("parts")):
        call, approval = part.get("toolCallId"), as_object(part.get("approval"))
        if not isinstance(call, str) or not is_tool_part(part):
            continue
        if isinstance(approval.get("approved"), bool) and isinstance(approval.get("id"), str):
            answers.decisions[approval["id"]] = ClientDecision(approval["approved"], str(approval.get("reason") or ""))
        if part.get("state") == "output-available":
            answers.results[call] = ClientResult(part.get("output"))
        elif part.get("state") == "output-error":
            answers.results[call] = ClientResult(str(part.get("errorText") or ""), is_error=True)
    return answers
