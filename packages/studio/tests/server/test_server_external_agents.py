"""External agents as variants: side by side with a model, with their files, questions, cost and end in one project."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from studio_parts import Atelier, atelier, page, variants_of, writer

import scripted_agent
from foreign_agents import AGENTS, NOTES, RIGHT, TASK, WRONG, ScriptedProvider
from heald.core.errors import ConfigurationError
from heald.providers.resolve import find
from heald.sessions.settings import SessionSettings
from heald.testing.server import ScriptedServer
from heald_acp.known_programs import KNOWN_PROGRAMS
from heald_acp.program import AgentProgram
from heald_server.models import KnownModels
from serving_parts import S

AGENT = "acp/mine"
REAL_AGENT = "claude"
"""The agent from its registry: it starts with a quarter of the processor time that opencode needs."""
COST = [
    ["usage_update", {"cost": {"amount": 0.25, "currency": "USD"}}],
    ["answer", {"stopReason": "end_turn", "usage": {"inputTokens": 1000, "outputTokens": 10, "totalTokens": 1010}}],
]


class Player:
    """An agent that plays a script, as one of those that are known."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._script, self._record = folder / "script.json", folder / "record.jsonl"
        command = (sys.executable, scripted_agent.__file__, str(self._script), str(self._record))
        monkeypatch.setitem(KNOWN_PROGRAMS, "mine", AgentProgram(name="mine", command=command))

    def plays(self, *prompts: Any) -> None:
        self._script.write_text(json.dumps(prompts))

    def prompt(self) -> str:
        """The text of the first prompt that it got."""
        entries = [json.loads(line) for line in self._record.read_text().splitlines()]
        blocks = next(entry["params"]["prompt"] for entry in entries if entry.get("method") == "session/prompt")
        return "".join(block.get("text", "") for block in blocks)


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Player:
    return Player(tmp_path, monkeypatch)


def shop_with(folder: Path, name: str = AGENT) -> Any:
    return atelier(folder, {"m": writer("By a model"), name: lambda: find(name)})


def write_page(title: str, path: str = "index.html") -> list[Any]:
    report = {"kind": "edit", "title": f"Write {path}", "rawInput": {"file_path": f"$CWD/{path}"}}
    return ["ask", "c1", {**report, "writes": [path, page(title)]}]


async def event_of(shop: Atelier, session: str, kind: str) -> Any:
    """The first event of a kind in the log of a session, once it is there."""
    async with asyncio.timeout(60):
        while True:
            for event in await shop.log(session):
                if event.type == kind:
                    return event.data
            await asyncio.sleep(0.02)


async def test_a_model_and_an_agent_build_side_by_side(player: Player, tmp_path: Path) -> None:
    player.plays([["say", "I see. "], write_page("By an agent"), ["say", "Built."], *COST])
    async with shop_with(tmp_path) as shop:
        assert AGENT in [model["name"] for model in (await shop.ask("GET", "/studio"))["models"]]
        assert AGENT not in shop.studio.models()  # it is never chosen by itself
        project = await shop.project("A page for a bakery", models=["m", AGENT])
        state = await shop.over(project["id"])
        model, agent = variants_of(state)
        assert [variant["status"] for variant in (model, agent)] == ["completed", "completed"], state
        assert (agent["model"], agent["cost_usd"], agent["usage"]["input"]) == (AGENT, 0.25, 1000)
        assert (agent["entry"], agent["error"], agent["note"]) == ("index.html", None, None)
        assert b"By an agent" in await shop.read(agent["preview"])
        calls = [event.data for event in await shop.log(agent["session"]) if event.type == "tool_call"]
        assert [(call.name, call.input) for call in calls] == [("acp_edit", {"file_path": "index.html"})]
        settings = SessionSettings.of((await shop.store.info(agent["session"])).settings)
        assert (settings.tools, settings.permissions) == ([], "inside")
        await shop.check(state)
    assert "The current folder is the project." in player.prompt()
    assert "A page for a bakery" in player.prompt()
    assert "screenshot_preview" not in player.prompt()


async def test_a_change_starts_from_the_files_and_may_delete_some(player: Player, tmp_path: Path) -> None:
    deletion = {"toolCallId": "c2", "kind": "delete", "status": "in_progress", "locations": [{"path": "x.css"}]}
    player.plays(
        [
            write_page("First", "about.html"),
            ["shell", "test -f index.html"],
            ["tool_call", deletion],
            ["shell", "rm x.css"],
            ["tool_call_update", {"toolCallId": "c2", "status": "completed"}],
            ["say", "Changed."],
        ]
    )
    async with shop_with(tmp_path) as shop:
        imported = await shop.ask("POST", "/projects", 201, prompt={"html": page("Old")})
        version = imported["versions"][-1]["id"]
        edit = {"kind": "edit", "base": {"version": version, "variant": 0}, "files": {"x.css": "p {}"}}
        await shop.ask("POST", f"/projects/{imported['id']}/versions", 201, **edit)
        state = await shop.ask("GET", f"/projects/{imported['id']}")
        base = {"version": state["versions"][-1]["id"], "variant": 0}
        body = {"kind": "update", "base": base, "prompt": {"text": "Add a page"}, "models": [AGENT], "variants": 1}
        await shop.ask("POST", f"/projects/{imported['id']}/versions", 201, **body)
        state = await shop.over(imported["id"])
        changed = state["versions"][-1]
        assert changed["variants"][0]["status"] == "completed", changed
        session = changed["variants"][0]["session"]
        assert set(await shop.studio._runner.read_files(session)) == {"about.html", "index.html"}  # pyright: ignore[reportPrivateUsage]
        await shop.check(state)


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_a_person_decides_on_what_reaches_beyond_the_project(
    decision: str, player: Player, tmp_path: Path
) -> None:
    command = ["ask", "c0", {"kind": "execute", "title": "npm", "rawInput": {"command": "npm install"}}]
    player.plays([command, write_page("By an agent"), ["say", "Built."]])
    async with shop_with(tmp_path) as shop:
        project = await shop.project(models=[AGENT], variants=1)
        session = variants_of(project)[0]["session"]
        question = await event_of(shop, session, "approval_requested")
        assert (question.name, question.input) == ("acp_execute", {"command": "npm install"})
        await shop.ask("POST", f"/sessions/{session}/approvals/{question.approval}", decision=decision)
        state = await shop.over(project["id"])
        assert variants_of(state)[0]["status"] == "completed"
        statuses = [event.data.status for event in await shop.log(session) if event.type == "tool_result"]
        assert statuses == ["ok" if decision == "approve" else "denied", "ok"]
        await shop.check(state)


async def test_the_page_is_there_while_the_agent_works_and_a_cancel_ends_it(player: Player, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = f"(setsid sh -c 'echo $$ >> {pids}; exec sleep 600' &) >/dev/null 2>&1"
    player.plays([write_page("Half"), ["shell", f"echo $PPID >> {pids}; {child}"], ["say", "More."], ["ignore"]])
    async with shop_with(tmp_path) as shop:
        project = await shop.project(models=[AGENT], variants=1)
        session = variants_of(project)[0]["session"]
        assert (await event_of(shop, session, "file_changed")).path == "index.html"
        await event_of(shop, session, "text_delta")
        version = project["versions"][0]["id"]
        await shop.ask("POST", f"/projects/{project['id']}/versions/{version}/variants/0/cancel")
        variant = variants_of(await shop.over(project["id"]))[0]
        assert (variant["status"], variant["entry"]) == ("cancelled", "index.html")
        await shop.wait_idle()
        numbers = pids.read_text().split()
        assert len(numbers) == 2
        assert [number for number in numbers if is_alive(number)] == []


def is_alive(number: str) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_an_agent_that_fails_leaves_the_others_alone(player: Player, tmp_path: Path) -> None:
    player.plays([["exit", 3, "fatal: out of figs"]])
    async with shop_with(tmp_path) as shop:
        state = await shop.over((await shop.project(models=["m", AGENT]))["id"])
        model, agent = variants_of(state)
        assert (model["status"], agent["status"]) == ("completed", "failed")
        assert "out of figs" in agent["error"]["message"]


def test_the_operator_chooses_the_agents_of_a_server(player: Player) -> None:
    player.plays([])
    models = KnownModels(named={"m": S(["Hi."])}, agents=[AGENT])
    assert "acp/mine" in [model.name for model in models.list_models()]
    assert getattr(models.open("acp/mine"), "name", "") == "acp/mine"
    assert getattr(models.open("acp/mine/large"), "name", "") == "acp/mine/large"
    for name in ("acp/claude", "acp/mine2"):
        with pytest.raises(ConfigurationError, match="operator's to choose"):
            models.open(name)
    assert AGENT not in [model.name for model in KnownModels().list_models()]


async def test_an_unchanged_agent_changes_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = await asyncio.to_thread(AGENTS[REAL_AGENT].command)
    home = tmp_path / "home"
    home.mkdir()
    async with ScriptedServer(ScriptedProvider()) as server, shop_with(tmp_path, f"acp/{REAL_AGENT}") as shop:
        preset = KNOWN_PROGRAMS[REAL_AGENT]
        env = {**preset.env, **AGENTS[REAL_AGENT].environment(server.url), "HOME": str(home)}
        monkeypatch.setitem(KNOWN_PROGRAMS, REAL_AGENT, replace(preset, command=tuple(command), env=env))
        imported = await shop.ask("POST", "/projects", 201, prompt={"html": page("A calculator")})
        base = {"version": imported["versions"][-1]["id"], "variant": 0}
        edit = {"kind": "edit", "base": base, "files": {"calc.py": WRONG}}
        await shop.ask("POST", f"/projects/{imported['id']}/versions", 201, **edit)
        state = await shop.ask("GET", f"/projects/{imported['id']}")
        body = {"kind": "update", "prompt": {"text": TASK}, "models": ["m", f"acp/{REAL_AGENT}"], "variants": 2}
        base = {"version": state["versions"][-1]["id"], "variant": 0}
        await shop.ask("POST", f"/projects/{imported['id']}/versions", 201, base=base, **body)
        state = await shop.over(imported["id"], patience=300)
        _, agent = state["versions"][-1]["variants"]
        assert agent["status"] == "completed", agent
        assert agent["cost_usd"] > 0
        files = await shop.studio._runner.read_files(agent["session"])  # pyright: ignore[reportPrivateUsage]
        assert files["calc.py"].decode() == RIGHT
        log = await shop.log(agent["session"])
        assert [event.data.path for event in log if event.type == "file_changed"] == ["calc.py", NOTES]
        await shop.check(state)
