"""How `heald run` and `heald chat` choose whether a model calls tools or writes files as text."""

from pathlib import Path

import pytest

from cli_bench import run, run_process, run_with
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check.conform import prompts

NOTE = "m writes files as text, because"


def talk(request: ReceivedRequest) -> Reply:
    """A model that never calls a tool, and can write a file."""
    if prompts.EDIT.encode() in request.content:
        return wire_reply("chat", text="greeting.py\n```\nprint('Good evening')\n```\n")
    return wire_reply("chat", text="I would call a tool.")


@pytest.mark.parametrize("can_write", [True, False])
async def test_what_conform_found_is_used(capsys: pytest.CaptureFixture[str], tmp_path: Path, can_write: bool) -> None:
    work = ["--workspace", str(tmp_path), "Hello."]
    async with ScriptedServer(talk if can_write else lambda _: wire_reply("chat", text="No.")) as server:
        before = await run(capsys, *run_with(server, *work))
        assert "writes files as text" not in before.err
        assert "tools" in server.requests[-1].body
        place = ["--base-url", f"{server.url}/v1", "--model", "m"]
        await run(capsys, "conform", *place, "--only", "tool-call", "text-edit")
        after = await run(capsys, *run_with(server, *work))
        assert (f"{NOTE} `heald conform` found" in after.err) is can_write
        assert ("tools" not in server.requests[-1].body) is can_write
        chosen = await run(capsys, *run_with(server, "--edit-format", "tools", *work))
        assert "writes files as text" not in chosen.err
        assert "tools" in server.requests[-1].body


async def test_the_server_shows_that_the_model_is_small(tmp_path: Path) -> None:
    facts = {"/v1/models": {"data": [{"id": "m", "meta": {"n_params": 1_543_714_304}}]}}
    async with ScriptedServer(talk, facts=facts) as server:
        ran = await run_process(*run_with(server, "--workspace", str(tmp_path), "Hello."))
        assert f"{NOTE} small models call tools badly" in ran.err
        assert "tools" not in server.requests[-1].body


WRITE = '{"name": "write_file", "arguments": {"path": "a.txt", "content": "one"}}'
SMALL = {"/v1/models": {"data": [{"id": "m", "meta": {"n_params": 1_543_714_304}}]}}
SMALL_TOOLS = "read_file,write_file,edit_file,list_files"
FORMS = {
    "hermes": f"<tool_call>\n{WRITE}\n</tool_call>",
    "fence": f"I write it.\n\n```json\n{WRITE}\n```",
    "json": WRITE,
    "python": 'write_file(path="a.txt", content="one")',
    "llama": f"<|python_tag|>{WRITE}",
    "mistral": f"[TOOL_CALLS][{WRITE}]",
}


@pytest.mark.parametrize("form", FORMS)
async def test_a_small_model_with_few_tools_writes_calls_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    options = ["--permissions", "auto", "--edit-format", "tools", "--tool-profile", "compact", "--tools", SMALL_TOOLS]
    replies = [wire_reply("chat", text=FORMS[form]), wire_reply("chat", text="Done.")]
    async with ScriptedServer(replies, facts=SMALL) as server:
        ran = await run(capsys, *run_with(server, "--workspace", str(tmp_path), *options, "Write a.txt."))
    assert ran.out.strip().endswith("Done.")
    assert (tmp_path / "a.txt").read_text() == "one"


async def test_a_model_that_is_not_known_to_write_calls_as_text_writes_nothing_unasked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    work = ["--workspace", str(tmp_path), "--permissions", "auto", "Write a.txt."]
    replies = [wire_reply("chat", text=FORMS["hermes"]), wire_reply("chat", text="I may not.")]
    async with ScriptedServer(replies) as server:
        await run(capsys, *run_with(server, *work))
        assert "may only be a quotation" in server.requests[1].body["messages"][-1]["content"]
    assert not (tmp_path / "a.txt").exists()


async def test_a_model_whose_calls_fail_by_conform_writes_them_as_text_unasked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answers = iter([FORMS["hermes"], "Done."])
    is_checked = False

    def answer(request: ReceivedRequest) -> Reply:
        return wire_reply("chat", text=next(answers)) if is_checked else talk(request)

    work = ["--workspace", str(tmp_path), "--permissions", "auto", "--edit-format", "tools", "Write a.txt."]
    async with ScriptedServer(answer) as server:
        place = ["--base-url", f"{server.url}/v1", "--model", "m"]
        await run(capsys, "conform", *place, "--only", "tool-call", "text-edit")
        is_checked = True
        await run(capsys, *run_with(server, *work))
    assert (tmp_path / "a.txt").read_text() == "one"


async def test_the_text_mode_still_writes_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = ["--workspace", str(tmp_path), "--permissions", "auto", "--edit-format", "text", "Write a.txt."]
    async with ScriptedServer([wire_reply("chat", text="a.txt\n```\none\n```\n")]) as server:
        await run(capsys, *run_with(server, *work))
    assert (tmp_path / "a.txt").read_text() == "one\n"


LONG = "".join(f"def f{number}(a):\n    return a + {number}\n\n\n" for number in range(165))


@pytest.mark.parametrize(
    ("prompt", "answers", "code", "message"),
    [
        ("Fix f3 in a.py.", ["a.py\n```\n    return a\n```\n"] * 2, 1, "a.py as it was written cannot be read"),
        ("Fix f3 in a.py.", ["f3 is right."] * 2, 1, "The model answered without a file that could be written"),
        ("Fix f3 in a.py.", [f"a.py\n```\n{LONG}```\n"] * 2, 1, "The model wrote what the file holds already"),
        ("What does f3 in a.py do?", ["a.py\n```\ndef f3(a):\n    return a\n```\n"], 0, ""),
    ],
)
async def test_the_exit_code_says_whether_a_file_was_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, prompt: str, answers: list[str], code: int, message: str
) -> None:
    (tmp_path / "a.py").write_text(LONG)
    work = ["--workspace", str(tmp_path), "--permissions", "auto", "--edit-format", "text", prompt]
    async with ScriptedServer([wire_reply("chat", text=answer) for answer in answers]) as server:
        ran = await run(capsys, *run_with(server, *work))
    assert (ran.code, message in ran.err) == (code, True)
    assert (tmp_path / "a.py").read_text() == LONG


FILE = "Here is the file.\n\n```python\n# greet.py\nprint('Good evening')\n```\n"


async def test_a_file_as_text_of_a_model_that_calls_tools_is_reminded_once_and_then_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "greet.py").write_text("print('Hello')\n")
    work = ["--workspace", str(tmp_path), "--permissions", "auto", "--edit-format", "tools"]
    async with ScriptedServer(lambda _: wire_reply("chat", text=FILE)) as server:
        ran = await run(capsys, *run_with(server, *work, "Change the greeting in greet.py to Good evening."))
        assert ran.code == 1
        assert len(server.requests) == 2
        assert "Call write_file or edit_file" in server.requests[-1].content.decode()
        assert "answered with a file as text and called no tool, so nothing has changed" in ran.err
        asked = await run(capsys, *run_with(server, *work, "What would greet.py look like with Good evening?"))
        assert asked.code == 0
        assert len(server.requests) == 3  # a question is answered
    assert (tmp_path / "greet.py").read_text() == "print('Hello')\n"


async def test_a_model_that_is_reminded_of_its_file_as_text_makes_the_change(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "greet.py").write_text("print('Hello')\n")
    edit = ToolCall(id="c1", name="edit_file", input={"path": "greet.py", "old_text": "Hello", "new_text": "Bye"})
    replies = [wire_reply("chat", text=FILE), wire_reply("chat", calls=[edit]), wire_reply("chat", text=FILE)]
    work = ["--workspace", str(tmp_path), "--permissions", "auto", "--edit-format", "tools", "Change greet.py."]
    async with ScriptedServer(replies) as server:
        await run(capsys, *run_with(server, *work))
        assert len(server.requests) == 3
    assert (tmp_path / "greet.py").read_text() == "print('Bye')\n"
