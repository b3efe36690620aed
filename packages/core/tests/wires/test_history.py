"""G01-G06: every call answered once, in order, whatever a crash, a cancel or a trimmed window left behind."""

from heald.core.messages import Block, Image, Message, Native, Reasoning, Text, ToolCall, ToolResult, user_message
from heald.wires.history import NO_OUTPUT, UNANSWERED, History, result_parts, split_result


def call(call_id: str, name: str = "f", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id=call_id, name=name, input={}, wire_id=wire_id)


def result(call_id: str, text: str, name: str = "f") -> ToolResult:
    return ToolResult(id=call_id, name=name, status="ok", content=text)


def assistant_message(*blocks: Block) -> Message:
    return Message(role="assistant", content=[*blocks])


def tool(*results: ToolResult) -> Message:
    return Message(role="tool", content=[*results])


def repair(messages: list[Message]) -> list[Message]:
    return History("w", "p", "m").extend(messages)


def ids_of(messages: list[Message], model: str = "m") -> dict[str, str]:
    history = History("w", "p", model)
    history.extend(messages)
    return history.ids


def answers(messages: list[Message]) -> list[list[str]]:
    """The texts of each tool message, after checking that it answers the calls right before it."""
    texts: list[list[str]] = []
    for before, message in zip([None, *messages], messages, strict=False):
        if message.role != "tool":
            continue
        results = [block for block in message.content if isinstance(block, ToolResult)]
        assert before is not None
        assert [result.id for result in results] == [call.id for call in before.tool_calls]
        texts.append([result.text for result in results])
    return texts


def test_a_whole_history_stays_as_it_is() -> None:
    whole = [
        user_message("hi"),
        assistant_message(Text("ok"), call("a"), call("b")),
        tool(result("a", "1"), result("b", "2")),
        assistant_message(),
    ]
    assert repair(whole[:3]) == whole[:3]
    assert repair(whole) == whole[:3]


def test_a_dangling_call_gets_a_result_that_reports_it() -> None:
    repaired = repair([user_message("go"), assistant_message(call("a", "write"))])
    assert repaired[2] == tool(ToolResult(id="a", name="write", status="interrupted", content=UNANSWERED))
    assert repair(repaired) == repaired


def test_only_the_missing_results_are_made_up_and_the_order_is_that_of_the_calls() -> None:
    repaired = repair(
        [assistant_message(call("a"), call("b"), call("c")), tool(result("c", "3")), tool(result("a", "1"))]
    )
    assert answers(repaired) == [["1", UNANSWERED, "3"]]


def test_orphans_and_duplicates_go() -> None:
    history = [
        tool(result("gone", "?")),
        assistant_message(call("a")),
        tool(result("a", "1"), result("a", "again")),
        user_message("next"),
    ]
    repaired = repair(history)
    assert answers(repaired) == [["1"]]
    assert [message.role for message in repaired] == ["assistant", "tool", "user"]


def test_a_result_before_its_call_is_moved_behind_it() -> None:
    repaired = repair([user_message("go"), tool(result("a", "1")), assistant_message(call("a"))])
    assert answers(repaired) == [["1"]]
    assert [message.role for message in repaired] == ["user", "assistant", "tool"]


def test_a_result_behind_the_next_question_is_moved_to_its_call() -> None:
    repaired = repair([assistant_message(call("a")), user_message("still there?"), tool(result("a", "1"))])
    assert [message.role for message in repaired] == ["assistant", "tool", "user"]


def test_ids_repeated_in_a_later_turn_stay_two_calls() -> None:
    history = [
        assistant_message(call("0")),
        tool(result("0", "first")),
        assistant_message(call("0")),
        tool(result("0", "second")),
    ]
    repaired = repair(history)
    assert answers(repaired) == [["first"], ["second"]]
    ids = [made_call.id for message in repaired for made_call in message.tool_calls]
    assert len(set(ids)) == 2


def test_a_dangling_call_does_not_use_the_result_of_a_later_call_with_its_id() -> None:
    history = [
        assistant_message(call("0")),
        user_message("again"),
        assistant_message(call("0")),
        tool(result("0", "second")),
    ]
    assert answers(repair(history)) == [[UNANSWERED], ["second"]]


def test_a_duplicate_result_does_not_answer_a_later_call_with_its_id() -> None:
    history = [
        assistant_message(call("0")),
        tool(result("0", "first"), result("0", "first again")),
        assistant_message(call("0")),
        tool(result("0", "second")),
    ]
    assert answers(repair(history)) == [["first"], ["second"]]


def test_an_id_made_up_for_a_repeated_call_accepts_no_result_of_its_namesake() -> None:
    history = [
        assistant_message(call("a")),
        tool(result("a", "1")),
        assistant_message(call("a")),
        tool(result("a", "2")),
        assistant_message(call("a_2")),
        tool(result("a_2", "3")),
    ]
    assert answers(repair(history)) == [["1"], ["2"], ["3"]]


def test_one_id_twice_in_one_message_stays_two_calls() -> None:
    repaired = repair([assistant_message(call("a", "f"), call("a", "g")), tool(result("a", "1"), result("a", "2"))])
    calls = repaired[0].tool_calls
    assert len({made_call.id for made_call in calls}) == 2
    assert answers(repaired) == [["1", "2"]]


def test_a_result_uses_the_name_of_its_call() -> None:
    repaired = repair([assistant_message(call("a", "write")), tool(result("a", "1", name=""))])
    assert repaired[1] == tool(result("a", "1", name="write"))


def test_blank_texts_and_what_they_keep_empty_go() -> None:
    blank = assistant_message(Text(" \n"))
    assert repair([user_message("a", "", "  "), blank, user_message("")]) == [user_message("a")]
    assert repair([assistant_message(Text(""), call("a")), tool(result("a", "1"))])[0] == assistant_message(call("a"))
    assert repair([assistant_message(Reasoning("hm"), Text(""))]) == [assistant_message(Reasoning("hm"))]


def test_native_content_keeps_a_message_that_shows_nothing() -> None:
    native = Native(wire="messages", provider="p", model="m", content=[{"type": "thinking"}])
    message = Message(role="assistant", content=[], native=native)
    assert repair([message]) == [message]


def test_ids_are_made_legal_and_distinguished() -> None:
    history = [assistant_message(call("a:1"), call("a;1"), call("x" * 70 + "1"), call("x" * 70 + "2"), call(""))]
    ids = ids_of(history)
    assert ids["a:1"] == "a_1"
    assert len(set(ids.values())) == 5
    assert all(0 < len(legal) <= 64 and ":" not in legal and ";" not in legal for legal in ids.values())


def test_the_providers_own_ids_go_back_to_it_as_they_came() -> None:
    native = Native(wire="w", provider="p", model="m", content={})
    message = Message(role="assistant", content=[call("call_x", wire_id="functions.f:0")], native=native)
    assert ids_of([message]) == {"call_x": "functions.f:0"}
    assert ids_of([message], "other") == {"call_x": "call_x"}


def test_the_same_native_id_twice_is_distinguished() -> None:
    native = Native(wire="w", provider="p", model="m", content={})
    first = Message(role="assistant", content=[call("0")], native=native)
    second = Message(role="assistant", content=[call("call_2", wire_id="0")], native=native)
    ids = ids_of([first, second])
    assert ids["0"] == "0"
    assert ids["call_2"] != "0"


def test_results_are_never_empty() -> None:
    picture = Image(data="AAAA")
    assert split_result(result("a", "")) == (NO_OUTPUT, [])
    assert split_result(ToolResult(id="a", status="ok", content=[])) == (NO_OUTPUT, [])
    assert split_result(ToolResult(id="a", status="ok", content=[Text("x"), picture])) == ("x", [picture])
    text, images = split_result(ToolResult(id="a", status="ok", content=[picture]))
    assert (images, "attached" in text) == ([picture], True)
    assert result_parts(result("a", "")) == [Text(NO_OUTPUT)]
    assert result_parts(ToolResult(id="a", status="ok", content=[Text(" ")])) == [Text(NO_OUTPUT)]
    assert result_parts(ToolResult(id="a", status="ok", content=[Text(""), picture])) == [picture]
