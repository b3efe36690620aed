"""The names that fields of stored events had in earlier versions.

An event is read with its present names first. One that lacks a required field is read a second time, with the fields of
this table renamed, so events of this version pay nothing for it. A log that is stored or exported again has the present
names.
"""

from collections.abc import Mapping

from heald.core.json import JsonObject, as_object

_MESSAGE_ID = {"message": "message_id"}
_CALL_ID = {"call": "call_id"}

OLD_EVENT_FIELDS: Mapping[str, Mapping[str, str]] = {
    "message_start": _MESSAGE_ID,
    "message_delta": _MESSAGE_ID,
    "message_stop": _MESSAGE_ID,
    "message_discarded": _MESSAGE_ID,
    "retry_scheduled": _MESSAGE_ID,
    "prompt_progress": _MESSAGE_ID,
    "server_tool_call": _MESSAGE_ID,
    "server_tool_result": _MESSAGE_ID,
    "citation_added": _MESSAGE_ID,
    "approval_requested": _CALL_ID,
    "approval_resolved": _CALL_ID,
    "question_asked": _CALL_ID,
    "question_answered": _CALL_ID,
    "conversation_waiting": {"calls": "call_ids"},
}
"""The present name of each old field, by event type. All of them are required fields."""


def rename_old_fields(kind: str, data: object) -> JsonObject | None:
    """Return the data of an event under the present names; None if it has no old name to replace."""
    names, fields = OLD_EVENT_FIELDS.get(kind, {}), as_object(data)
    if not any(old in fields and new not in fields for old, new in names.items()):
        return None
    return {names.get(name, name): value for name, value in fields.items()}
