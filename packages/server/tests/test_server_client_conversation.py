"""Whether a client's conversation is that of a session: by what was said, not by how it was joined."""

import pytest

from heald.core.messages import Message, Text, ToolCall, ToolResult, assistant, user_message
from heald_server.protocols.shared.conversation_texts import exchanged_texts, is_same_conversation

OURS = [
    user_message("The weather?"),
    Message(role="assistant", content=[Text("Let me see."), ToolCall(id="c", name="weather", input={})]),
    Message(role="tool", content=[ToolResult(id="c", status="ok", content="Snow")]),
    assistant("Take a coat."),
]


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("Let me see.Take a coat.", True),
        ("Let me see.\n\nTake a coat.", True),
        ("Let me", True),
        ("Take a coat.", True),
        ("", True),
        ("A dropped attempt. Let me see. Take a coat.", True),
        ("Something else.", False),
        ("Let me see. Take a hat.", False),
    ],
)
def test_answers_are_compared_by_their_words(said: str, same: bool) -> None:
    theirs = exchanged_texts([user_message("The  weather?"), *([assistant(said)] if said else [])])
    assert is_same_conversation(theirs, exchanged_texts(OURS)) is same


def test_other_requests_are_another_conversation() -> None:
    ours = exchanged_texts(OURS)
    assert not is_same_conversation(exchanged_texts([user_message("The news?"), assistant("Let me see.")]), ours)
    assert not is_same_conversation(exchanged_texts([*OURS, user_message("And now?")]), ours)
    assert not is_same_conversation([], ours)
