"""An editor is sent every command whole when it asks for a permission, and every change with what it hides."""

from pathlib import Path

import pytest
from acp import schema
from acp_bench import Editor, started, text

from heald.core.messages import ToolCall
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from hidden_texts import ATTACKS, MARKER, assert_all_visible, assert_harmless, assert_visible


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    folder = tmp_path / "project"
    folder.mkdir()
    return Editor(folder, allow="reject")


async def ask(editor: Editor, *calls: ToolCall) -> list[schema.ToolCallUpdate]:
    """Let a model make these calls. Returns what the editor is asked about."""
    replies = [wire_reply("chat", calls=list(calls)), wire_reply("chat", text="Denied.")]
    async with ScriptedServer(replies) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Go"))
    return [call for call, _ in editor.asked]


def text_of(call: schema.ToolCallUpdate) -> str:
    blocks = [part.content for part in call.content or [] if isinstance(part, schema.ContentToolCallContent)]
    return "\n".join(block.text for block in blocks if isinstance(block, schema.TextContentBlock))


async def test_every_command_is_whole_in_the_title_and_in_the_text(editor: Editor) -> None:
    commands = list(ATTACKS.values())
    calls = [ToolCall(id=f"c{at}", name="run_command", input={"command": text}) for at, text in enumerate(commands)]
    asked = await ask(editor, *calls)
    assert_all_visible([text_of(call) for call in asked], commands)
    titles = [call.title or "" for call in asked]
    for title in titles:
        assert_harmless(title)
    assert_all_visible(titles, commands)


async def test_a_long_command_is_cut_with_a_count_and_the_input_has_all_of_it(editor: Editor) -> None:
    command = "echo start\n" + "echo more\n" * 3_000 + f"{MARKER}\n" + "echo more\n" * 3_000
    [call] = await ask(editor, ToolCall(id="c", name="run_command", input={"command": command, "cwd": "sub"}))
    assert " line breaks left out⟧" in (call.title or "")
    assert " line breaks left out⟧" in text_of(call)
    assert "cwd: sub" in text_of(call)
    assert call.raw_input == {"command": command, "cwd": "sub"}


async def test_a_change_is_a_diff_and_its_hidden_characters_are_named(editor: Editor) -> None:
    content = f"#\u202e\n++ {MARKER}\n"
    plain, hidden, odd = await ask(
        editor,
        ToolCall(id="c1", name="write_file", input={"path": "a.txt", "content": "x\n"}),
        ToolCall(id="c2", name="write_file", input={"path": "b.txt", "content": content}),
        ToolCall(id="c3", name="apply_patch", input={"patch": f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- {MARKER}\n+++ y\n"}),
    )
    by_path = {call.tool_call_id: call for call in (plain, hidden, odd)}
    assert text_of(by_path["c1"]) == ""
    [diff] = [part for part in by_path["c2"].content or [] if isinstance(part, schema.FileEditToolCallContent)]
    assert diff.new_text == content
    assert_visible(text_of(by_path["c2"]), content)
    assert "! content contains 1 hidden character" in text_of(by_path["c2"])
    assert f"--- {MARKER}" in text_of(by_path["c3"])


async def test_a_question_is_escaped(editor: Editor) -> None:
    editor.allow = "0"
    question = f"May I \x1b]0;{MARKER}\x07?"
    suggestions = ["Y\u202ees\r", f"No {MARKER}"]
    await ask(editor, ToolCall(id="c", name="ask_user", input={"question": question, "suggestions": suggestions}))
    [(call, options)] = editor.asked
    assert_visible(call.title or "", question)
    assert [option.name for option in options][:2] == ["Y⟦\\u202e⟧es", f"No {MARKER}"]
