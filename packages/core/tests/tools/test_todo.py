"""todo_list: a session's plan."""

import pytest

from heald.core.messages import ToolCall
from heald.tools.context import ToolContext
from heald.tools.session_objects import SessionObjects
from heald.tools.todo_list import TodoList, todo_list
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput


async def call(keep: SessionObjects, items: object) -> ToolOutput:
    assert todo_list.convert is not None
    arguments = todo_list.convert({"items": items})
    ctx = ToolContext(
        ToolCall(id="c1", name="todo_list", input=arguments),
        None,  # pyright: ignore[reportArgumentType]
        emit=lambda _: None,
        keep=keep,
        ask=None,  # pyright: ignore[reportArgumentType]
    )
    return await todo_list.run(arguments, ctx)


async def test_the_list_is_kept_and_replaced_whole() -> None:
    keep = SessionObjects()
    output = await call(keep, [{"text": "plan", "status": "done"}, {"text": "build\n it"}])
    assert output.content == "1 of 2 done\n[x] plan\n[ ] build it"
    assert output.summary == "1 of 2 done"
    output = await call(keep, [{"text": "ship", "status": "in_progress"}])
    assert output.content == "0 of 1 done\n[>] ship"
    assert [item.text for item in keep.get(TodoList).items] == ["ship"]
    assert (await call(keep, [])).content == "The list is empty."
    assert SessionObjects().get(TodoList).items == ()


async def test_two_in_progress_is_advised_against_and_done() -> None:
    both = [{"text": text, "status": "in_progress"} for text in "ab"]
    output = await call(SessionObjects(), both)
    assert "More than one item is in progress" in str(output.content)
    assert not output.is_error


async def test_limits_keep_the_list_as_it_was() -> None:
    keep = SessionObjects()
    await call(keep, [{"text": "stays"}])
    for items in ([{"text": "x"}] * 101, [{"text": "x" * 501}], [{"text": " "}]):
        with pytest.raises(ToolFault):
            await call(keep, items)
    assert [item.text for item in keep.get(TodoList).items] == ["stays"]


@pytest.mark.parametrize("items", [[{"text": "a", "status": "later"}], [{"status": "done"}], "a", [{"text": ""}]])
async def test_other_shapes_are_refused(items: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        await call(SessionObjects(), items)


def test_what_it_may_do() -> None:
    assert todo_list.effect == "none"
    assert todo_list.summary is not None
    assert todo_list.summary({"items": [{}, {}]}) == "Todo list of 2 items"
    assert "ctx" not in todo_list.definition.input_schema["properties"]
