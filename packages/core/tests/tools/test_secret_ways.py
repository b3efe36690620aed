"""The ways by which the value of a secret file could reach a model or the log, through the real tools."""

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import heald
from heald.core.envelope import Event
from heald.core.json import encode
from heald.events import FileChanged, FilePreview, ToolOutputDelta
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace_secrets import environment_mask

S = heald.testing.ScriptedModel
VALUE = "sk_live_CANARY/4eC39Hq+LyjW"
SHORT = "canary7"
DOTENV = f"# settings\nSTRIPE_SK={VALUE}\nDB_PASSWORD={SHORT}\nPORT=3000\n"
MARK = "[hidden: STRIPE_SK of .env]"


@pytest.fixture(autouse=True)
def _fresh_mask() -> Iterator[None]:
    environment_mask.cache_clear()
    yield
    environment_mask.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".env").write_text(DOTENV)
    return tmp_path


class Outcome:
    """The events of an exchange, and everything that the model was sent."""

    def __init__(self, events: list[Event], model: heald.testing.ScriptedModel) -> None:
        self.events = events
        self.log = "\n".join(encode(event).decode() for event in events)
        self.sent = encode([(request.messages, request.settings.system) for request in model.requests]).decode()

    def check(self) -> None:
        """Check that no form of a value is anywhere, also if it comes in pieces."""
        streamed = "".join(event.data.text for event in self.events if isinstance(event.data, ToolOutputDelta))
        for text in (self.log, self.sent, streamed):
            for form in (VALUE, quote(VALUE, safe=""), VALUE.replace("/", "\\/"), "CANARY", SHORT):
                assert form not in text
            for shift in range(3):
                encoded = base64.b64encode(b"x" * shift + VALUE.encode()).decode()
                assert encoded[4:24] not in text.replace("\\n", "").replace("\n", "")


async def _run(folder: Path, *calls: Any, **options: Any) -> Outcome:
    """Run each call in a turn of its own."""
    model = S([*([call] for call in calls), "Done."])
    events: list[Event] = []
    tools = options.pop("tools", ["files", "shell"])
    async with heald.Agent(model, tools=tools, workspace=folder, **options) as agent:
        agent.subscribe(events.append)
        await agent.run("Go.")
    return Outcome(events, model)


EDIT = S.call("edit_file", path=".env", old_text="PORT=3000", new_text="PORT=3001")
WAYS = {
    "the diff of an edit": [EDIT],
    "the diff of an edit of a copy": [S.call("edit_file", path="copy.txt", old_text="PORT=3000", new_text="PORT=1")],
    "reading it": [S.call("read_file", path=".env")],
    "reading a copy": [S.call("read_file", path="copy.txt")],
    "reading a hard link": [S.call("read_file", path="hard.txt")],
    "reading a link": [S.call("read_file", path="link.txt")],
    "a search of a copy": [S.call("search_files", pattern="STRIPE", path="copy.txt")],
    "a search of it": [S.call("search_files", pattern=".", path=".env", context=2)],
    "an edit that cuts the value": [S.call("edit_file", path=".env", old_text="STRIPE_SK=sk_live_", new_text="x")],
    "an edit that cuts the value in a copy": [S.call("edit_file", path="copy.txt", old_text="=sk_live_", new_text="=")],
    "an edit that cuts a short value": [S.call("edit_file", path=".env", old_text="PASSWORD=can", new_text="x")],
    "an edit of a copy that does not fit": [
        S.call("edit_file", path="copy.txt", old_text="STRIPE_SK=sk_live_CAN\nDB_PASSWORD=x", new_text="x")
    ],
    "a patch": [S.call("apply_patch", patch="--- a/copy.txt\n+++ b/copy.txt\n@@ -4 +4 @@\n-PORT=3000\n+PORT=3001\n")],
}
COMMANDS = {
    "cat": "cat .env",
    "grep": "grep -r . . --include='*'",
    "a copy": "cp .env x; cat x",
    "a hard link": "ln .env y; cat y",
    "a deleted file": "cp .env z; rm .env; cat z",
    "standard error": "cat .env >&2",
    "base64": "base64 .env",
    "base64 in short lines": "base64 -w 20 .env",
    "base64 of the value": "grep STRIPE .env | cut -d= -f2 | tr -d '\\n' | base64 -w 0",
    "URL-encoded": f"echo '{quote(VALUE, safe='')}' > u; cat u",
    "JSON": "python3 -c 'import json; print(json.dumps(open(\".env\").read()))'",
    "pieces": "while read -rn1 char; do printf %s \"${char:-$'\\n'}\"; sleep 0.001; done < .env",
    "a failing command": "cat .env; exit 3",
    "a time limit": "cat .env; sleep 60",
    "a large result": "cat .env; seq 200000; cat .env",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["auto", "ask"])
async def test_a_value_does_not_reach_the_model_by_file_tools(folder: Path, way: str, mode: str) -> None:
    (folder / "copy.txt").write_text(DOTENV)
    os.link(folder / ".env", folder / "hard.txt")
    (folder / "link.txt").symlink_to(".env")

    async def approve(_: Any) -> heald.Approval:
        return heald.Approval(True)

    outcome = await _run(folder, *WAYS[way], permissions=mode, on_approval=approve)
    outcome.check()


@pytest.mark.parametrize("way", COMMANDS)
async def test_a_value_does_not_reach_the_model_by_a_command(folder: Path, way: str) -> None:
    limit = {"timeout_s": 1} if way == "a time limit" else {}
    outcome = await _run(folder, S.call("run_command", command=COMMANDS[way], **limit))
    if way != "URL-encoded":
        outcome.check()
    sent = outcome.sent.replace("base64 with ", "")
    assert MARK in sent
    assert (folder / ".env").exists() is (way != "a deleted file")


async def test_the_output_of_a_background_command_is_hidden(folder: Path) -> None:
    outcome = await _run(
        folder,
        S.call("run_command", command="cat .env; sleep 60", background=True),
        S.call("command_output", id="command-1", wait_s=1),
        S.call("stop_command", id="command-1"),
    )
    outcome.check()
    assert MARK in outcome.sent


async def test_a_value_between_two_outputs_of_a_background_command_is_hidden(folder: Path) -> None:
    @heald.tool
    def wait_for(name: str, make: str) -> str:
        """Wait for a file and make another one."""
        while not (folder / name).exists():
            time.sleep(0.01)
        (folder / make).touch()
        return "ok"

    first, rest = "head -c 35 .env; touch begun", "tail -c +36 .env; touch done; sleep 60"
    outcome = await _run(
        folder,
        S.call("run_command", command=f"{first}; while [ ! -e go ]; do sleep 0.01; done; {rest}", background=True),
        S.call("wait_for", name="begun", make="x"),
        S.call("command_output", id="command-1", wait_s=0.2),
        S.call("wait_for", name="begun", make="go"),
        S.call("wait_for", name="done", make="x"),
        S.call("command_output", id="command-1", wait_s=0.2),
        tools=["shell", wait_for],
    )
    assert "CANARY" not in outcome.log
    assert "LyjW" not in outcome.log
    assert MARK in outcome.sent


async def test_results_stay_readable(folder: Path) -> None:
    outcome = await _run(folder, S.call("run_command", command="cat .env"), EDIT)
    assert f"STRIPE_SK={MARK}\\nDB_PASSWORD=[hidden: DB_PASSWORD of .env]\\nPORT=3000" in outcome.sent
    assert (folder / ".env").read_text() == DOTENV.replace("3000", "3001")
    change = next(event.data for event in outcome.events if isinstance(event.data, FileChanged))
    assert f" STRIPE_SK={MARK}\n" in change.diff
    assert "-PORT=[hidden: PORT of .env]\n" in change.diff


async def test_a_file_with_secrets_has_no_preview(folder: Path) -> None:
    (folder / "copy.txt").write_text(DOTENV)
    (folder / "other.txt").write_text("PORT=3000\n")
    edits = [
        S.call("edit_file", path=name, old_text="3000", new_text="1") for name in (".env", "copy.txt", "other.txt")
    ]
    outcome = await _run(folder, *edits)
    assert {event.data.path for event in outcome.events if isinstance(event.data, FilePreview)} == {"other.txt"}
    outcome.check()
    assert (folder / "copy.txt").read_text() == DOTENV.replace("3000", "1")


async def test_a_file_that_appears_between_two_calls_is_known(tmp_path: Path) -> None:
    def make_file(_: Any) -> Any:
        (tmp_path / "app").mkdir()
        (tmp_path / "app" / ".env.local").write_text(DOTENV)
        return [S.call("run_command", command="cat app/.env.local > copy; cat copy")]

    model = S([[S.call("run_command", command="ls -a")], make_file, "Done."])
    events: list[Event] = []
    async with heald.Agent(model, tools=["shell"], workspace=tmp_path) as agent:
        agent.subscribe(events.append)
        await agent.run("Go.")
    Outcome(events, model).check()
    assert "[hidden: STRIPE_SK of app/.env.local]" in encode(model.requests[-1].messages).decode()


async def test_a_value_that_a_command_changed_stays_hidden(folder: Path) -> None:
    outcome = await _run(
        folder,
        S.call("run_command", command="cp .env old; sed -i s/sk_live_C/sk_live_D/ .env"),
        S.call("run_command", command="cat old; diff old .env"),
    )
    outcome.check()
    assert "sk_live_DANARY" not in outcome.log


async def test_structured_data_pieces_errors_and_questions_of_tools_are_hidden(folder: Path) -> None:
    @heald.tool
    async def leak(ctx: heald.ToolContext, how: str) -> Any:
        """Leaks."""
        text = ctx.workspace.read_text(".env")
        if how == "error":
            raise ValueError(text)
        ctx.partial(text)
        if how == "pieces":
            raise heald.ToolFault("That is all.")
        return ToolOutput(content="ok", summary=text, data={"all": [text]})

    calls = [S.call("leak", how=how) for how in ("error", "pieces", "data")]
    (await _run(folder, *calls, tools=[leak])).check()


async def test_a_subagent_sees_no_value(folder: Path) -> None:
    inner = S([[S.call("run_command", command="cat .env")], "I saw it."])
    helper = heald.Agent(inner, tools=["shell"], workspace=folder).as_tool("helper", "Helps.")
    outcome = await _run(folder, S.call("helper", prompt="Look."), tools=[helper])
    outcome.check()
    assert MARK in encode(inner.requests[-1].messages).decode()


async def test_the_diff_of_an_approval_shows_what_is_added_and_hides_what_was_there(folder: Path) -> None:
    requests: list[Any] = []

    async def approve(request: Any) -> heald.Approval:
        requests.append(request)
        return heald.Approval(False)

    edit = S.call("edit_file", path=".env", old_text="PORT=3000", new_text="PORT=evil")
    (await _run(folder, edit, permissions="ask", on_approval=approve)).check()
    assert "+PORT=evil" in requests[0].diff
    assert MARK in requests[0].diff


async def test_a_project_in_memory_hides_its_own_file() -> None:
    workspace = heald.MemoryWorkspace({".env": DOTENV, "copy.txt": DOTENV})
    model = S([[S.call("read_file", path="copy.txt")], "Done."])
    async with heald.Agent(model, tools=["files"], workspace=workspace) as agent:
        await agent.run("Go.")
    sent = encode(model.requests[-1].messages).decode()
    assert "CANARY" not in sent
    assert MARK in sent


async def test_the_user_can_show_them(folder: Path) -> None:
    model = S([[S.call("run_command", command="cat .env")], [S.call("read_file", path=".env")], "Done."])
    async with heald.Agent(model, tools=["files", "shell"], workspace=folder) as agent:
        agent.shows_secrets = True
        await agent.run("Go.")
    assert encode(model.requests[-1].messages).decode().count(VALUE) == 2


async def test_what_the_model_writes_itself_stays_its_own_text(tmp_path: Path) -> None:
    """Arguments are not changed, and the file holds them exactly. From then on the value is hidden."""
    write = S.call("write_file", path=".env", content=DOTENV)
    outcome = await _run(tmp_path, write, S.call("run_command", command="cat .env"))
    assert (tmp_path / ".env").read_text() == DOTENV
    results = [event.data for event in outcome.events if event.type == "tool_result"]
    assert not any("CANARY" in encode(result).decode() for result in results)
    assert MARK in encode(results[-1]).decode()


async def test_a_short_value_outside_of_its_file_is_left_alone(folder: Path) -> None:
    outcome = await _run(folder, S.call("run_command", command=f"echo {SHORT} 3000 localhost; grep DB_ .env"))
    assert f"{SHORT} 3000 localhost\\nDB_PASSWORD=[hidden: DB_PASSWORD of .env]" in outcome.sent
