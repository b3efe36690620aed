from heald.core.json import encode
from heald.core.messages import Message, decode_messages, user_message
from heald_pictures.design_request import DesignRequest, FileSpan, SelectedElement, design_data, design_of

STORED = (
    b'[{"role":"user","content":[{"type":"text","text":"Build this"}],"design":{"kind":"update",'
    b'"instruction":"Wider","element":{"html":"<h1>","number":2},'
    b'"files":[{"path":"index.html","block":0,"start":1,"end":5}],"pages":["a.html"]}}]'
)
REQUEST = DesignRequest(
    kind="update",
    instruction="Wider",
    element=SelectedElement(html="<h1>", number=2),
    files=[FileSpan("index.html", 0, 1, 5)],
    pages=["a.html"],
)


def test_the_design_request_of_a_stored_message_is_read() -> None:
    (message,) = decode_messages(STORED)
    assert design_of(message) == REQUEST


def test_a_message_with_a_design_request_is_stored_in_the_same_form() -> None:
    message = Message(role="user", content=list(user_message("Build this").content), structured=design_data(REQUEST))
    assert encode([message]) == STORED


def test_a_message_without_a_design_request_has_none() -> None:
    assert design_of(user_message("Build this")) is None
    assert design_of(Message(role="user", content=[], structured={"kind": "invoice"})) is None
