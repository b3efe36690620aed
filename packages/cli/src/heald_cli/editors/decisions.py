"""The options of approvals and questions that a person chooses from in the editor, and what a choice means."""

from acp import schema

from heald.core.events import QuestionAsked
from heald.tools.approvals import Approval
from heald.tools.visible_text import cut_line, excerpt

_ALLOW, _ALWAYS, _REJECT, _OTHER = "allow", "allow-always", "reject", "other"
_EDITOR = "editor"
"""The name in logs of the person at the editor."""
PERMISSIONS = [
    schema.PermissionOption(option_id=_ALLOW, name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id=_ALWAYS, name="Always allow this call", kind="allow_always"),
    schema.PermissionOption(option_id=_REJECT, name="Reject", kind="reject_once"),
]


def decided_approval(chosen: str) -> Approval:
    """Return the decision for the id of an option, or for a sentence that says why none was chosen."""
    if chosen in (_ALLOW, _ALWAYS):
        return Approval(True, always=chosen == _ALWAYS, by=_EDITOR)
    return Approval(False, "The user rejected it in the editor." if chosen == _REJECT else chosen, by=_EDITOR)


def question_options(question: QuestionAsked) -> list[schema.PermissionOption]:
    """Return the suggestions of a question as buttons: every editor can show those."""
    options = [
        schema.PermissionOption(option_id=str(number), name=cut_line(suggestion, 500), kind="allow_once")
        for number, suggestion in enumerate(question.suggestions)
    ]
    return [*options, schema.PermissionOption(option_id=_OTHER, name="Answer in the chat", kind="reject_once")]


def describe_question(call: schema.ToolCallUpdate, question: QuestionAsked) -> schema.ToolCallUpdate:
    return call.model_copy(update={"title": "\n".join(excerpt(question.text).rows)})


def chosen_answer(chosen: str, question: QuestionAsked) -> str:
    """Return the answer for the id of an option."""
    if chosen.isdecimal() and int(chosen) < len(question.suggestions):
        return question.suggestions[int(chosen)]
    return "The user answers with their next message: end your turn now, and repeat the question in it."
