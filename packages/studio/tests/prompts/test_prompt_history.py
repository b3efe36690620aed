"""History within a budget: old files become changes, and the oldest loses most."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.messages import Image, Message
from heald_studio.prompt.build import build_prompt
from heald_studio.prompt.history import history_messages, latest_files
from heald_studio.prompt.request import HistoryMessage, PromptRequest, Shot
from heald_studio.stacks.installed import find_stack

PICTURE = Image(data="aGk=")
ROWS = [f"<p>row {number}</p>\n" for number in range(400)]


def page(changed: int) -> str:
    rows = list(ROWS)
    for number in range(changed):
        rows[10 * number] = f"<p>changed {number}</p>\n"
    return "<html>\n" + "".join(rows) + "</html>\n"


def versions(count: int) -> tuple[HistoryMessage, ...]:
    history: list[HistoryMessage] = []
    for number in range(count):
        history.append(HistoryMessage(role="user", text=f"Request {number}.", shots=(Shot(PICTURE),)))
        history.append(HistoryMessage(role="assistant", text=f"Done {number}.", files={"index.html": page(number)}))
    return tuple(history)


def size(messages: list[Message]) -> int:
    pictures = sum(isinstance(block, Image) for message in messages for block in message.content)
    return sum(len(message.text) for message in messages) + 6_000 * pictures


def test_old_files_become_changes() -> None:
    messages = history_messages(versions(3), "index.html", 1_000_000)
    assert [message.role for message in messages] == ["user", "assistant"] * 3
    assert messages[1].text == "Done 0.\n\n(made index.html (403 lines))"
    assert "--- a/index.html\n+++ b/index.html\n" in messages[3].text
    assert "-<p>row 0</p>\n+<p>changed 0</p>\n" in messages[3].text
    assert len(messages[3].text) < 400
    assert len(page(0)) > 3_000


def test_the_present_files_are_those_of_the_last_answer() -> None:
    assert latest_files(versions(3), "index.html") == {"index.html": page(2)}
    prompt = build_prompt(PromptRequest(text="Again.", history=versions(2)), find_stack("html_css"))
    assert f'<file path="index.html">\n{page(1)}</file>' in prompt.messages[-1].text
    assert sum("<p>row 150</p>" in message.text for message in prompt.messages) == 1


def test_a_page_that_was_answered_as_text_is_a_file() -> None:
    history = (
        HistoryMessage(role="user", text="Go."),
        HistoryMessage(role="assistant", text="Here:\n```html\n<html><p>one</p></html>\n```"),
        HistoryMessage(role="user", text="Two."),
        HistoryMessage(role="assistant", text="<html><p>two</p></html>"),
    )
    assert latest_files(history, "index.html") == {"index.html": "<html><p>two</p></html>\n"}
    messages = history_messages(history, "index.html", 10_000)
    assert messages[1].text == "(made index.html (2 lines))"
    assert "-<html><p>one</p></html>\n+<html><p>two</p></html>" in messages[3].text


def test_files_that_went_are_reported() -> None:
    history = (
        HistoryMessage(role="assistant", files={"a.html": "1", "b.css": "2"}),
        HistoryMessage(role="assistant", files={"a.html": "1"}),
        HistoryMessage(role="assistant", files={"a.html": "1"}),
    )
    (message,) = history_messages(history, "a.html", 10_000)
    assert "(made a.html (1 lines))\n(made b.css (1 lines))" in message.text
    assert "--- a/b.css\n+++ /dev/null" in message.text
    assert message.text.endswith("(nothing was said)")


def test_the_oldest_pictures_go_first_then_the_oldest_changes() -> None:
    full = size(history_messages(versions(4), "index.html", 1_000_000))
    less = history_messages(versions(4), "index.html", full - 100)
    assert less[0].text == "Request 0.\n(a picture was here)"
    assert PICTURE in less[2].content
    without = history_messages(versions(4), "index.html", full - 4 * 6_000 - 100)
    assert not any(PICTURE in message.content for message in without)
    assert "(changed index.html)" in without[3].text
    assert "+++ b/index.html" in without[7].text


def test_the_first_request_and_the_last_answer_stay() -> None:
    messages = history_messages(versions(30), "index.html", 300)
    assert messages[0].text.startswith("Request 0.")
    assert "Done 29." in messages[-1].text
    assert len(messages) < 6


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            HistoryMessage,
            role=st.sampled_from(["user", "assistant"]),
            text=st.text(max_size=200),
            shots=st.sampled_from([(), (Shot(PICTURE, "A"),)]),
            files=st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=300), max_size=2),
        ),
        max_size=12,
    ),
    st.integers(0, 20_000),
)
def test_any_history_fits_and_alternates(history: list[HistoryMessage], room: int) -> None:
    messages = history_messages(history, "a", room)
    roles = [message.role for message in messages]
    assert all(role != next_role for role, next_role in itertools.pairwise(roles))
    assert all(message.content for message in messages)
    if len(history) > 2:
        largest = 2 * (300 + 6_000 + 300 * 2 * 4 + 400)
        assert size(messages) <= room + largest
