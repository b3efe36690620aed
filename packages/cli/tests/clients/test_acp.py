"""`heald acp` with the official client: turns, tools, approvals, cancel, sessions, modes."""

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from acp_bench import SECONDS, Editor, started, text

from heald.commands.stores import open_sessions
from heald.core.messages import ToolCall
from heald.providers.model import Model
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

PIXEL = b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
).decode()


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    folder = tmp_path / "project"
    folder.mkdir()
    return Editor(folder)


def answer(words: str, **more: Any) -> Reply:
    return wire_reply("chat", text=words, **more)


def call(name: str, key: str = "call_1", **arguments: Any) -> Reply:
    return wire_reply("chat", calls=[ToolCall(id=key, name=name, input=arguments)])


async def test_initialize_names_the_capabilities(editor: Editor) -> None:
    async with ScriptedServer([]) as model, started(editor, model) as agent:
        hello = agent.hello
        assert hello is not None
        assert hello.protocol_version == 1
        assert hello.agent_info is not None
        assert hello.agent_info.name == "heald"
        able = hello.agent_capabilities
        assert able is not None
        assert able.load_session
        assert able.prompt_capabilities is not None
        assert able.prompt_capabilities.image
        assert able.prompt_capabilities.embedded_context
        assert not able.prompt_capabilities.audio
        assert able.mcp_capabilities is not None
        assert able.mcp_capabilities.http
        assert hello.auth_methods == []


async def test_two_turns_stream_text_thoughts_and_usage(editor: Editor) -> None:
    replies = [wire_reply("chat", text=["Hel", "lo."], thinking="They greet."), answer("You greeted me.")]
    async with ScriptedServer(replies) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        first = await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        assert (first.stop_reason, editor.text, editor.thoughts) == ("end_turn", "Hello.", "They greet.")
        assert len(editor.of("agent_message_chunk")) == 2
        assert first.usage is not None
        assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 7)
        second = await agent.connection.prompt(session_id=session.session_id, prompt=text("What did I do?"))
        assert second.stop_reason == "end_turn"
        assert editor.text == "Hello.You greeted me."
        assert editor.of("session_info_update")[-1].title == "Hi"
        said = [message["content"] for message in model.requests[1].body["messages"] if message["role"] == "user"]
        assert said == ["Hi", "What did I do?"]


async def test_call_is_shown_with_kind_location_input_and_output(editor: Editor) -> None:
    (editor.folder / "a.txt").write_text("one\ntwo\n")
    script = [call("read_file", path="a.txt", start_line=2), answer("It has two lines.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Read a.txt"))
        statuses = [
            update.status
            for update in editor.updates
            if update.session_update.startswith("tool_call") and update.status
        ]
        assert statuses == ["pending", "in_progress", "completed"]
        read = editor.call("read_file")
        assert read["kind"] == "read"
        assert read["locations"] == [{"path": str(editor.folder / "a.txt"), "line": 2}]
        assert read["raw_input"] == {"path": "a.txt", "start_line": 2}
        assert "two" in read["content"][0]["content"]["text"]
        assert "two" in read["raw_output"]["text"]
        assert editor.asked == []


async def test_files_that_others_changed_are_named_to_the_model(editor: Editor) -> None:
    (editor.folder / "a.txt").write_text("one")
    (editor.folder / "b.txt").write_text("one")
    script = [call("read_file", path="a.txt"), call("read_file", path="b.txt"), *map(answer, ("Read.", "Yes.", "No."))]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Read both"))
        (editor.folder / "a.txt").write_text("two")
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Changed?"))
        await agent.connection.prompt(session_id=session.session_id, prompt=text("And now?"))
    *_, read, changed, later = [str(request.body["messages"][0]["content"]) for request in model.requests]
    assert "Files that changed" in changed
    assert "a.txt" in changed.partition("Files that changed")[2]
    assert "b.txt" not in changed.partition("Files that changed")[2]
    assert "Files that changed" not in read + later


async def test_allowed_edit_is_shown_as_a_diff(editor: Editor) -> None:
    (editor.folder / "a.txt").write_text("old line\nkept\n")
    script = [call("edit_file", path="a.txt", old_text="old line", new_text="new line"), answer("Done.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Edit it"))
        assert done.stop_reason == "end_turn"
        [(asked, options)] = editor.asked
        assert [option.kind for option in options] == ["allow_once", "allow_always", "reject_once"]
        assert asked.kind == "edit"
        assert asked.content is not None
        assert asked.content[0].model_dump(include={"old_text", "new_text"}) == {
            "old_text": "old line",
            "new_text": "new line",
        }
        assert (editor.folder / "a.txt").read_text() == "new line\nkept\n"
        edit = editor.call("edit_file")
        assert edit["status"] == "completed"
        path = str(editor.folder / "a.txt")
        diff = {"type": "diff", "path": path, "old_text": "old line\nkept\n", "new_text": "new line\nkept\n"}
        assert edit["content"] == [diff]


async def test_rejected_call_does_not_run_and_the_model_reads_why(editor: Editor) -> None:
    editor.allow = "reject"
    script = [call("write_file", path="a.txt", content="x"), answer("I may not.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Write it"))
        assert done.stop_reason == "end_turn"
        assert not (editor.folder / "a.txt").exists()
        assert editor.call("write_file")["status"] == "failed"
        assert "rejected" in str(model.requests[1].body["messages"][-1]["content"])


async def test_always_asks_once_for_equal_calls(editor: Editor) -> None:
    editor.allow = "allow-always"
    script = [
        call("run_command", "call_1", command="echo hi"),
        call("run_command", "call_2", command="echo hi"),
        answer("Twice."),
    ]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Run it twice"))
        assert len(editor.asked) == 1
        assert editor.asked[0][0].kind == "execute"
        assert editor.asked[0][0].title == "echo hi"


@pytest.mark.parametrize(
    "bad",
    [RequestError(-32000, "No window."), {"outcome": 5}, {"outcome": {"outcome": "selected", "optionId": "other"}}],
)
async def test_broken_answer_to_a_permission_denies_the_call(editor: Editor, bad: Any) -> None:
    editor.allow = bad
    script = [call("write_file", path="a.txt", content="x"), answer("I could not ask.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Write it"))
        assert (done.stop_reason, editor.text) == ("end_turn", "I could not ask.")
        assert not (editor.folder / "a.txt").exists()
        assert "could not be asked" in str(model.requests[1].body["messages"][-1]["content"])


async def test_cancel_stops_the_answer_and_the_session_goes_on(editor: Editor) -> None:
    begun = wire_stream("chat", text=["I beg", "in"])[:2]
    script = [Reply([*begun, Hang()], content_type="text/event-stream"), answer("Here I am.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        running = asyncio.create_task(agent.connection.prompt(session_id=session.session_id, prompt=text("Long")))
        await editor.wait_until(lambda: editor.text)
        await agent.connection.cancel(session_id=session.session_id)
        async with asyncio.timeout(SECONDS):
            assert (await running).stop_reason == "cancelled"
        cancelled = editor.text
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Still there?"))
        assert done.stop_reason == "end_turn"
        assert cancelled in ("I beg", "I begin")  # nothing failed, and nothing begins anew
        assert editor.text == f"{cancelled}Here I am."


async def test_an_answer_that_broke_off_is_said_to_begin_anew(editor: Editor) -> None:
    begun = wire_stream("chat", text=["I beg", "in"])[:2]
    script = [Reply(begun, content_type="text/event-stream"), answer("Here I am.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        first, _, second = editor.text.partition("This answer broke off and begins anew:")
        assert "I beg" in first
        assert second.endswith("Here I am.")


async def test_cancel_while_a_permission_is_open(editor: Editor) -> None:
    editor.allow = "wait"
    script = [call("write_file", path="a.txt", content="x")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        running = asyncio.create_task(agent.connection.prompt(session_id=session.session_id, prompt=text("Write")))
        await editor.wait_until(lambda: editor.asked)
        await agent.connection.cancel(session_id=session.session_id)
        async with asyncio.timeout(SECONDS):
            assert (await running).stop_reason == "cancelled"
        assert not (editor.folder / "a.txt").exists()


async def test_failed_exchange_is_an_error_with_a_sentence(editor: Editor) -> None:
    refused = Reply([b'{"error": {"message": "The name is unknown."}}'], status=400, content_type="application/json")
    async with ScriptedServer([refused, answer("Now.")]) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        with pytest.raises(RequestError, match="The name is unknown"):
            await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        assert (done.stop_reason, editor.text) == ("end_turn", "Now.")


async def test_answer_that_was_cut_off_stops_with_max_tokens(editor: Editor) -> None:
    async with ScriptedServer([answer("Half", stop="max_tokens")]) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        assert done.stop_reason == "max_tokens"


async def test_prompt_with_picture_link_and_embedded_file(editor: Editor) -> None:
    blocks = [
        *text("Look:"),
        schema.ImageContentBlock(type="image", data=PIXEL, mime_type="image/png"),
        schema.ResourceContentBlock(type="resource_link", name="a.py", uri=f"file://{editor.folder}/src/a%20b.py"),
        schema.EmbeddedResourceContentBlock(
            type="resource",
            resource=schema.TextResourceContents(uri=f"file://{editor.folder}/c.py#L3", text="unsaved = 1"),
        ),
    ]
    async with ScriptedServer([answer("Seen.")]) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=blocks)
        sent = model.requests[0].body["messages"][-1]["content"]
        assert sent[1]["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"
        assert "src/a b.py" in sent[2]["text"]
        assert "c.py (L3):\n```\nunsaved = 1\n```" in sent[3]["text"]


async def test_content_that_no_model_reads_is_refused(editor: Editor) -> None:
    sound = schema.AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav")
    picture = schema.ImageContentBlock(type="image", data="AAAA", mime_type="image/png")
    blob = schema.EmbeddedResourceContentBlock(
        type="resource", resource=schema.BlobResourceContents(uri="file:///x.zip", blob="AAAA")
    )
    async with ScriptedServer([answer("Fine.")]) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        for block, why in ((sound, "Audio"), (picture, "not a PNG"), (blob, "x.zip is neither")):
            with pytest.raises(RequestError, match=why):
                await agent.connection.prompt(session_id=session.session_id, prompt=[*text("Hi"), block])
        with pytest.raises(RequestError, match="empty"):
            await agent.connection.prompt(session_id=session.session_id, prompt=[])
        assert (
            await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        ).stop_reason == "end_turn"


async def test_todo_list_is_the_plan(editor: Editor) -> None:
    items = [{"text": "Read", "status": "done"}, {"text": "Write", "status": "in_progress"}]
    async with (
        ScriptedServer([call("todo_list", items=items), answer("Planned.")]) as model,
        started(editor, model) as agent,
    ):
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Plan"))
        [plan] = editor.of("plan")
        entries = [(entry.content, entry.status) for entry in plan.entries]
        assert entries == [("Read", "completed"), ("Write", "in_progress")]


async def test_question_is_asked_with_its_suggestions(editor: Editor) -> None:
    editor.allow = "1"
    script = [call("ask_user", question="Which?", suggestions=["Red", "Blue"]), answer("Blue it is.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Paint"))
        [(asked, options)] = editor.asked
        assert asked.title == "Which?"
        assert [option.name for option in options] == ["Red", "Blue", "Answer in the chat"]
        assert model.requests[1].body["messages"][-1]["content"] == "Blue"


# --- modes and models -------------------------------------------------------------------------------------------------


async def test_modes_decide_on_calls(editor: Editor) -> None:
    script = [
        call("write_file", "call_1", path="a.txt", content="x"),
        answer("Denied."),
        call("write_file", "call_2", path="b.txt", content="y"),
        answer("Written."),
    ]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        assert session.modes is not None
        assert session.modes.current_mode_id == "ask"
        assert [mode.id for mode in session.modes.available_modes] == ["ask", "inside", "auto", "read-only"]
        await agent.connection.set_session_mode(session_id=session.session_id, mode_id="read-only")
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Write a"))
        assert not (editor.folder / "a.txt").exists()
        with pytest.raises(RequestError, match="no mode 'yolo'"):
            await agent.connection.set_session_mode(session_id=session.session_id, mode_id="yolo")
        await agent.connection.set_config_option(config_id="mode", session_id=session.session_id, value="auto")
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Write b"))
        assert (editor.folder / "b.txt").read_text() == "y"
        assert editor.asked == []


async def test_model_is_an_option_of_the_session(editor: Editor) -> None:
    (editor.folder.parent / "config" / "heald").mkdir(parents=True)
    async with ScriptedServer([answer("One."), answer("Two.")]) as model:
        table = f'[providers.own]\nwire = "chat"\nbase_url = "{model.url}/v1"\n'
        (editor.folder.parent / "config" / "heald" / "heald.toml").write_text(table)
        async with started(editor, None, "--model", "own/small") as agent:
            session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
            await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
            changed = await agent.connection.set_config_option(
                config_id="model", session_id=session.session_id, value="own/large"
            )
            assert changed is not None
            assert {choice.id: choice.current_value for choice in changed.config_options} == {
                "mode": "ask",
                "model": "own/large",
            }
            await agent.connection.prompt(session_id=session.session_id, prompt=text("Go on"))
            for option, value in (("model", "nobody/x"), ("model", "local/page"), ("speed", "fast")):
                with pytest.raises(RequestError):
                    await agent.connection.set_config_option(
                        config_id=option, session_id=session.session_id, value=value
                    )
        assert [request.body["model"] for request in model.requests] == ["small", "large"]
        assert len(model.requests[1].body["messages"]) > len(model.requests[0].body["messages"])


async def test_missing_key_is_an_authentication_error_that_names_the_way_out(editor: Editor) -> None:
    async with started(editor, None, "--model", "anthropic/claude-sonnet-4-6") as agent:
        assert agent.hello is not None
        [method] = agent.hello.auth_methods or []
        assert "heald key set" in (method.description or "")
        with pytest.raises(RequestError, match="ANTHROPIC_API_KEY") as refused:
            await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        assert refused.value.code == -32000
        with pytest.raises(RequestError, match="ANTHROPIC_API_KEY"):
            await agent.connection.authenticate(method_id=method.id)


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_load_after_kill_replays_the_conversation(editor: Editor) -> None:
    editor.allow = "allow"
    script = [
        wire_reply(
            "chat", text="I write.", calls=[ToolCall(id="c", name="write_file", input={"path": "a", "content": "x"})]
        ),
        answer("Written."),
        answer("You asked me to write."),
    ]
    async with ScriptedServer(script) as model:
        async with started(editor, model) as agent:
            session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
            await agent.connection.prompt(session_id=session.session_id, prompt=text("Write a"))
            agent.process.kill()
            await agent.process.wait()
        later = Editor(editor.folder)
        async with started(later, model) as agent:
            listed = await agent.connection.list_sessions(cwd=str(editor.folder))
            assert [(info.session_id, info.title) for info in listed.sessions] == [(session.session_id, "Write a")]
            elsewhere = await agent.connection.list_sessions(cwd=str(editor.folder.parent))
            assert elsewhere.sessions == []
            loaded = await agent.connection.load_session(
                cwd=str(editor.folder), session_id=session.session_id, mcp_servers=[]
            )
            assert loaded is not None
            assert loaded.modes is not None
            kinds = [update.session_update for update in later.updates]
            assert kinds[0] == "user_message_chunk"
            assert later.updates[0].content.text == "Write a"
            assert later.text == "I write.Written."
            write = later.call("write_file")
            assert write["status"] == "completed"
            assert write["content"][0]["new_text"] == "x"
            done = await agent.connection.prompt(session_id=session.session_id, prompt=text("What did I ask?"))
            assert done.stop_reason == "end_turn"
        assert later.text.endswith("You asked me to write.")
        assert len(model.requests[2].body["messages"]) >= 5


async def test_kill_in_the_middle_of_an_answer_is_closed_on_load(editor: Editor) -> None:
    begun = wire_stream("chat", text=["I beg", "in"])[:2]
    script = [Reply([*begun, Hang()], content_type="text/event-stream"), answer("Whole.")]
    async with ScriptedServer(script) as model:
        async with started(editor, model) as agent:
            session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
            running = asyncio.create_task(agent.connection.prompt(session_id=session.session_id, prompt=text("Hi")))
            await editor.wait_until(lambda: editor.text)
            agent.process.kill()
            with pytest.raises(ConnectionError):
                await running
        later = Editor(editor.folder)
        async with started(later, model) as agent:
            await agent.connection.resume_session(session_id=session.session_id, cwd=str(editor.folder), mcp_servers=[])
            assert later.updates == []
            done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi?"))
            assert (done.stop_reason, later.text) == ("end_turn", "Whole.")


async def test_load_shows_a_conversation_of_the_terminal_without_what_was_undone(
    editor: Editor, tmp_path: Path
) -> None:
    async with ScriptedServer([answer("One."), answer("Two."), answer("Three.")]) as model:
        async with open_sessions() as sessions:
            info = await sessions.create(kind="chat", model="m", workspace=str(editor.folder), tools=["files"])
            endpoint = Model("m", wire="chat", base_url=f"{model.url}/v1")
            async with await sessions.open(info.id, model=endpoint) as session:
                await session.run("First")
                before = session.last_seq
                await session.run("Second")
                await session.rewind(before)
        async with started(editor, model) as agent:
            await agent.connection.load_session(cwd=str(editor.folder), session_id=info.id, mcp_servers=[])
            assert [update.content.text for update in editor.updates] == ["First", "One."]
            await agent.connection.prompt(session_id=info.id, prompt=text("Third"))
        assert "Second" not in str(model.requests[2].body["messages"])


async def test_fork_and_close(editor: Editor) -> None:
    async with ScriptedServer([answer("One."), answer("Two.")]) as model, started(editor, model) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        fork = await agent.connection.fork_session(
            session_id=session.session_id, cwd=str(editor.folder), mcp_servers=[]
        )
        assert fork.session_id != session.session_id
        await agent.connection.prompt(session_id=fork.session_id, prompt=text("Go on"))
        assert "Hi" in str(model.requests[1].body["messages"])
        await agent.connection.close_session(session_id=fork.session_id)
        with pytest.raises(RequestError, match="no open session"):
            await agent.connection.prompt(session_id=fork.session_id, prompt=text("Hi"))


async def test_sessions_and_folders_that_cannot_be_opened(editor: Editor) -> None:
    here = str(editor.folder)
    async with ScriptedServer([answer("Fine."), answer("Still fine.")]) as model, started(editor, model) as agent:
        open_session = agent.connection.new_session
        with pytest.raises(RequestError, match="not an absolute path"):
            await open_session(cwd="project", mcp_servers=[])
        with pytest.raises(RequestError, match="There is no folder"):
            await open_session(cwd=f"{here}/missing", mcp_servers=[])
        with pytest.raises(RequestError, match="one folder"):
            await open_session(cwd=here, additional_directories=["/tmp"], mcp_servers=[])
        session = await open_session(cwd=here, mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        with pytest.raises(RequestError, match="There is no session") as missing:
            await agent.connection.load_session(cwd=here, session_id="ses_none", mcp_servers=[])
        assert missing.value.code == -32002
        with pytest.raises(RequestError, match="works in"):
            await agent.connection.load_session(
                cwd=str(editor.folder.parent), session_id=session.session_id, mcp_servers=[]
            )
        with pytest.raises(RequestError, match="no open session"):
            await agent.connection.prompt(session_id="ses_none", prompt=text("Hi"))
        done = await agent.connection.prompt(session_id=session.session_id, prompt=text("Hi"))
        assert done.stop_reason == "end_turn"


async def test_session_without_a_prompt_is_not_kept(editor: Editor) -> None:
    async with ScriptedServer([]) as model:
        async with started(editor, model) as agent:
            await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        assert agent.process.returncode == 0
        async with open_sessions() as sessions:
            assert (await sessions.list()).sessions == []
