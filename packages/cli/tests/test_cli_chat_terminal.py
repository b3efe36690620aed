"""`heald chat` in a real terminal: what a person types, sees, allows, interrupts and goes on with."""

import asyncio
import json
from pathlib import Path
from typing import Any

from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here, picture
from heald.core.messages import ToolCall
from heald.testing.server import Cut, Hang, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

pytestmark = NEEDS_TMUX

ANSWER = "# Greeting\n\nHello **there**, see `a.py`:\n\n```python\nprint('hi')\n```\n\n- one\n- two\n"
WRITE = ToolCall(id="c1", name="create_file", input={"path": "a.txt", "content": "alpha\nbeta\n"})


def chat(server: ScriptedServer, tmp_path: Path, *words: str, **env: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return Tmux(tmp_path, "chat", *place, *words, **env)


def last_role(request: Any) -> str:
    return request.body["messages"][-1]["role"]


def writer(request: Any) -> Reply:
    if last_role(request) == "tool":
        denied = "did not allow" in json.dumps(request.body["messages"][-1])
        return wire_reply("chat", text="As you like." if denied else "It is written.")
    return wire_reply("chat", calls=[WRITE])


async def test_an_answer_is_shown_as_markdown(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text=ANSWER)) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m in ", "›")
        await terminal.enter("Say hello")
        screen = await terminal.shows("› Say hello", "• two", "out, cost unknown")
        assert "Hello there, see a.py:" in screen
        assert "│ print('hi')" in screen
        assert "**" not in screen
        await terminal.enter("/cost")
        await terminal.shows("1 exchange with m: 11 tokens in, 7 out, cost unknown.")
        await terminal.enter("/exit")
        await terminal.shows("continues from here.", "status 0")


async def test_a_call_is_allowed_by_a_key_and_withdrawn(tmp_path: Path) -> None:
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        screen = await terminal.shows("Allow create_file? y yes", "path: a.txt", "+alpha", "+beta")
        assert "content:" not in screen
        assert not here("a.txt").exists()
        await asyncio.sleep(0.6)
        terminal.press("y")
        screen = await terminal.shows("It is written.", "allowed", "✓ create_file (", without="Esc interrupts")
        assert "Allow create_file?" not in screen
        assert screen.count("+alpha") == screen.count("a.txt") == 1, "what was asked for is not repeated"
        assert here("a.txt").read_text() == "alpha\nbeta\n"
        await terminal.enter("/undo")
        await terminal.shows("Undone: Write it", "a.txt is deleted again.")
        assert not here("a.txt").exists()
        await terminal.enter("/undo")
        await terminal.shows("There is nothing to undo.")


async def test_a_file_that_was_changed_since_is_not_withdrawn(tmp_path: Path) -> None:
    async with ScriptedServer(writer) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        await terminal.shows("It is written.", "cost unknown")
        here("a.txt").write_text("mine")
        await terminal.enter("/undo")
        await terminal.shows("a.txt stays as it is: it was changed since.")
        assert here("a.txt").read_text() == "mine"


async def test_a_call_is_refused_by_a_key(tmp_path: Path) -> None:
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        await terminal.shows("Allow create_file?")
        await asyncio.sleep(0.6)
        terminal.press("n")
        await terminal.shows("Why not? Enter denies the call")
        await terminal.enter("Name it b.txt")
        await terminal.shows("denied", "As you like.")
        assert "Name it b.txt" in json.dumps(server.requests[-1].body)
        assert not here("a.txt").exists()


async def test_what_is_typed_ahead_allows_nothing(tmp_path: Path) -> None:
    """A person who is in the middle of a word when a call comes up has not said yes."""
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        terminal.type("Also sa")
        await terminal.shows("Allow create_file?")
        await asyncio.sleep(0.6)
        terminal.type("y")
        await terminal.shows("› Also say")
        await asyncio.sleep(0.5)
        assert not here("a.txt").exists()
        terminal.press("C-u")
        await terminal.shows("Allow create_file?", without="Also say")
        terminal.press("y")
        await terminal.shows("It is written.")


async def test_esc_interrupts_and_what_was_typed_meanwhile_follows(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        if "Second" in json.dumps(request.body["messages"][-1]):
            return wire_reply("chat", text="The second answer.")
        return Reply([*wire_stream("chat", text=["Let me think\nabout", "it"])[:2], Hang()])

    async with ScriptedServer(answer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("First")
        await terminal.shows("Let me think", "Esc interrupts")
        await terminal.enter("Second")
        await terminal.shows("(waits for its turn) Second", "1 waiting")
        terminal.press("Escape")
        await asyncio.wait_for(server.requests[0].closed_early.wait(), 60)
        screen = await terminal.shows("› Second", "The second answer.")
        assert "stopped; what" in screen
        assert screen.index("stopped; what") < screen.index("The second answer.")


async def test_a_conversation_continues(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="I **remember**.")) as server:
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("!echo 'a line of output'")
            await terminal.shows("exit code 0")
            await terminal.enter("Remember the number 42")
            await terminal.shows("I remember.", "cost unknown")
            terminal.press("C-d")
            await terminal.shows("status 0")
        async with chat(server, tmp_path, "--resume") as terminal:
            await terminal.shows("› Remember the number 42", "I remember.")
            await terminal.shows("› !echo 'a line of output'", "(exit code 0). Its output:", "  a line of output")
            await terminal.enter("Which one?")
            await terminal.shows("› Which one?")
            async with asyncio.timeout(120):
                while len(server.requests) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            said = [message["content"] for message in server.requests[1].body["messages"] if message["role"] == "user"]
            assert [text for text in said if not text.startswith("I ran ")] == ["Remember the number 42", "Which one?"]
            await terminal.enter("/new")
            await terminal.shows("A new conversation.")
            await terminal.enter("/resume")
            await terminal.shows("1. ", "Remember the number 42", "/resume 1 goes on")
            await terminal.enter("/resume 1")
            await terminal.shows("Going on with m.")
        listed = await run_process("sessions", "list", "--json", "--data", str(tmp_path / "data"))
    sessions = [json.loads(line) for line in listed.out.splitlines()]
    assert [info["title"] for info in sessions if info["events"]] == ["Remember the number 42"]


async def test_files_and_pictures_go_along(tmp_path: Path) -> None:
    here("notes.md").write_text("The secret word is **mauve**.")
    picture(tmp_path / "shot.png")
    async with ScriptedServer(lambda _: wire_reply("chat", text="I see.")) as server:
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            terminal.type("Read @not")
            terminal.press("Tab")
            await terminal.shows("› Read @notes.md")
            await terminal.enter(f" and {tmp_path}/shot.png")
            await terminal.shows("I see.", "(2 attached)")
        sent = json.dumps(server.requests[0].body["messages"])
    assert "The secret word is **mauve**." in sent
    assert "data:image/png;base64," in sent


async def test_commands_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server:
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("/modell")
            await terminal.shows("There is no /modell; did you mean /model?")
            await terminal.enter("/model anthropic/claude-sonnet-4-6")
            await terminal.shows("There is no key for anthropic: set ANTHROPIC_API_KEY")
            await terminal.enter("/model local/vision")
            await terminal.shows("local/vision builds pages and does not talk")
            await terminal.enter("/model")
            await terminal.shows("The model is m.")
            await terminal.enter("/help")
            await terminal.shows("/undo", "Esc interrupts.")
            await terminal.enter("Still there?")
            await terminal.shows("Hello.")
            terminal.press("C-c")
            await terminal.shows("Press Ctrl-C again")
            terminal.press("C-c")
            await terminal.shows("status 0")
        assert server.requests[0].body["model"] == "m"


async def test_a_model_is_changed_in_the_middle(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server:
        (tmp_path / "config/heald").mkdir(parents=True)
        (tmp_path / "config/heald/heald.toml").write_text(
            f'[providers.mine]\nwire = "chat"\nbase_url = "{server.url}/v1"\n'
        )
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("First")
            await terminal.shows("Hello.", "cost unknown")
            await terminal.enter("/model mine/other")
            await terminal.shows("From here on with mine/other.")
            await terminal.enter("Second")
            async with asyncio.timeout(120):
                while len(server.requests) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        assert server.requests[1].body["model"] == "other"
        assert [message["role"] for message in server.requests[1].body["messages"]][-3:] == [
            "user",
            "assistant",
            "user",
        ]


async def test_no_colours_where_none_are_wanted(tmp_path: Path) -> None:
    async with (
        ScriptedServer(lambda _: wire_reply("chat", text="# Big\n**bold**\n")) as server,
        chat(server, tmp_path) as coloured,
    ):
        await coloured.shows("heald with m")
        await coloured.enter("Hi")
        await coloured.shows("bold", "cost unknown")
        assert "\x1b[1" in coloured.coloured()
    async with (
        ScriptedServer(lambda _: wire_reply("chat", text="# Big\n**bold**\n")) as server,
        chat(server, tmp_path, NO_COLOR="1") as terminal,
    ):
        await terminal.shows("heald with m")
        await terminal.enter("Hi")
        await terminal.shows("bold", "cost unknown")
        assert "\x1b[" not in terminal.coloured()


async def test_without_a_terminal_a_missing_key_is_one_sentence() -> None:
    ran = await run_process("chat", "--model", "anthropic/x")
    assert (ran.code, ran.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ran.err
    assert ran.err.count("\n") == 1


async def test_without_a_model_to_talk_to(tmp_path: Path) -> None:
    nowhere = dict.fromkeys(
        ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"), "http://127.0.0.1:1"
    )
    async with Tmux(tmp_path, "chat", "--data", str(tmp_path / "data"), **nowhere) as terminal:
        await terminal.shows("heald: No model is configured; set a key such as ANTHROPIC_API_KEY", "status 2")


async def test_the_text_of_a_failed_attempt_is_erased(tmp_path: Path) -> None:
    cut = Reply([*wire_stream("chat", text=["A heading\n\nHalf of ", "it\n\nand"])[:3], Pause(0.5), Cut()])
    replies = iter([cut, wire_reply("chat", text="The whole answer.")])
    async with ScriptedServer(lambda _: next(replies)) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m in ", "›")
        await terminal.enter("Go")
        await terminal.shows("A heading")
        screen = await terminal.shows("The whole answer.", "out, cost unknown")
        assert "(the answer broke off)" in screen
        assert "A heading" not in screen
        assert "Half of" not in screen
        await terminal.enter("/exit")
        await terminal.shows("status 0")


async def test_a_refused_request_is_no_answer_that_broke_off(tmp_path: Path) -> None:
    refusal = Reply.json({"error": {"message": "Incorrect API key provided"}}, 401)
    async with ScriptedServer(lambda _: refusal) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m in ", "›")
        await terminal.enter("Go")
        screen = await terminal.shows("Incorrect API key provided", "failed)")
        assert "broke off" not in screen
        await terminal.enter("/exit")
        await terminal.shows("status 0")


async def test_commands_about_the_work(tmp_path: Path) -> None:
    async with ScriptedServer(writer) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/diff")
        await terminal.shows("This conversation changed nothing.")
        await terminal.enter("Write it")
        await terminal.shows("It is written.")
        await terminal.enter("/diff")
        await terminal.shows("+++ b/a.txt", "+alpha")
        await terminal.enter("!echo one; ls no-such-file; exit 3")
        await terminal.shows("! echo one", "  one", "exit code 3")
        await terminal.enter("/model")
        await terminal.shows("The model is m.", "* m")
        await terminal.enter("/compact")
        await terminal.shows("too short to gain anything")
        await terminal.enter("/review")
        await terminal.shows("› Review the changes that this conversation made")
        sent = json.dumps(server.requests[-1].body["messages"])
        assert "I ran `echo one; ls no-such-file; exit 3` (exit code 3)" in sent
        assert "+alpha" in sent
        await terminal.enter("/clear")
        await terminal.enter("/help")
        await terminal.shows("!command runs a shell command")  # the beginning may be above the screen


async def test_a_failed_command_is_not_green(tmp_path: Path) -> None:
    fails = ToolCall(id="c1", name="run_command", input={"command": "echo first; echo broken >&2; exit 4"})

    def reply(request: Any) -> Reply:
        return (
            wire_reply("chat", text="It failed.") if last_role(request) == "tool" else wire_reply("chat", calls=[fails])
        )

    async with ScriptedServer(reply) as server, chat(server, tmp_path, "--unsandboxed") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Run it")
        await terminal.shows("Allow run_command?", "$ echo first; echo broken >&2; exit 4")
        await asyncio.sleep(0.6)
        terminal.press("y")
        screen = await terminal.shows("✗ run_command", "exit code 4", "  broken", "It failed.")
        assert "✓ run_command" not in screen


async def test_the_notes_of_a_project_are_followed(tmp_path: Path) -> None:
    here("AGENTS.md").write_text("Always answer in rhymes.\n")
    async with ScriptedServer(lambda _: wire_reply("chat", text=ANSWER)) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("AGENTS.md is not trusted yet", "Always answer in rhymes.", "trust it?")
        await terminal.enter("y")
        await terminal.shows("heald with m", "AGENTS.md of this folder is followed.")
        await terminal.enter("Say hello")
        await terminal.shows("• two")
    assert "Always answer in rhymes." in server.requests[0].body["messages"][0]["content"]
