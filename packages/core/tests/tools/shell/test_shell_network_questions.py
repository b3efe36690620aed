"""A person is asked once for each host that the commands of a folder want to reach."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from network_bench import PUBLIC, start_server

import heald
from heald.core.envelope import Event
from heald.core.events import QuestionAsked
from heald.core.messages import ToolResult
from heald.tools.approvals import NOBODY
from heald.tools.shell.network import command_gate, folder_hosts, proxy
from heald.tools.shell.network.folder_registries import find_registries
from heald.tools.shell.network.proxy import Streams
from heald.tools.shell.sandbox import Sandbox
from heald.tools.web import fetcher
from heald.tools.web.fetcher import allow_hosts

S = heald.testing.ScriptedModel
A, B, EVIL = "a.example.org", "b.example.org", "evil.example.org"
Answer = Callable[[QuestionAsked], Awaitable[str]]


@pytest.fixture
async def folder(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Path]:
    """A folder whose commands reach a server of the test under any public name."""
    if not sandbox.has_network:
        pytest.skip("this bubblewrap or processor has no network for commands")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nREACHED\n")
        writer.close()

    server, port = await start_server(serve)

    async def resolve(host: str, port: int) -> list[str]:
        return [PUBLIC]

    async def dial(address: str, _: int) -> Streams:
        assert address == PUBLIC
        return await asyncio.open_connection("127.0.0.1", port)

    monkeypatch.setattr(fetcher, "_resolve", resolve)
    monkeypatch.setattr(proxy, "dial_address", dial)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace = tmp_path / "ws"
    workspace.mkdir()
    yield workspace
    server.close()
    await server.wait_closed()


def collect_into(results: list[str]) -> Callable[[Event], None]:
    """Return a handler that collects the texts of results."""

    def on_event(event: Event) -> None:
        assert isinstance(event.data, ToolResult)
        results.append(event.data.text)

    return on_event


class Person:
    """Answers questions with the suggestion at an index, or with a text."""

    def __init__(self, answer: int | str) -> None:
        self._answer = answer
        self.asked: list[QuestionAsked] = []

    async def __call__(self, question: QuestionAsked) -> str:
        self.asked.append(question)
        return question.suggestions[self._answer] if isinstance(self._answer, int) else self._answer


async def run(
    folder: Path, commands: list[str], person: Answer | None, *, mode: str = "inside", background: bool = False
) -> list[str]:
    """Run each command in a call of its own. Return the results."""
    calls = [[S.call("run_command", command=command, background=background)] for command in commands]
    results: list[str] = []

    async def approve(_: object) -> bool:
        return True

    async with heald.Agent(
        S([*calls, "Done."]),
        tools=["shell"],
        workspace=folder,
        permissions=mode,  # type: ignore[arg-type]
        on_approval=approve,
        on_question=person,
    ) as agent:
        agent.subscribe(collect_into(results), types=["tool_result"])
        await agent.run("Go.")
    return results


async def test_a_host_is_asked_for_once_and_kept_for_the_folder(folder: Path, tmp_path: Path) -> None:
    person = Person(0)
    results = await run(folder, [f"curl -sS http://{A}/ & curl -sS http://{A}/; wait", f"curl -sS http://{A}/"], person)
    assert results[0].count("REACHED") == 2
    assert "REACHED" in results[1]
    assert f"connected to {A} (2)" in results[0]
    assert len(person.asked) == 1
    assert A in person.asked[0].text
    assert "$ curl" in person.asked[0].text
    assert folder_hosts.allowed_in(str(folder)) == {A}
    assert (tmp_path / "config/heald/hosts.json").stat().st_mode & 0o077 == 0
    again = Person("nobody should be asked")
    assert "REACHED" in (await run(folder, [f"curl -sS http://{A}/"], again))[0]
    assert again.asked == []
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    denying = Person(-1)
    assert "REACHED" not in (await run(elsewhere, [f"curl -sS http://{A}/"], denying))[0]
    assert len(denying.asked) == 1


async def test_a_denial_holds_for_the_session(folder: Path) -> None:
    person = Person(-1)
    results = await run(folder, [f"curl -sS http://{EVIL}/", f"curl -sS http://{EVIL}/"], person)
    assert all(f"{EVIL} was refused. The user did not allow it" in result for result in results)
    assert len(person.asked) == 1
    assert folder_hosts.all_folders() == {}
    assert len((await asked_again(folder)).asked) == 1


async def asked_again(folder: Path) -> Person:
    person = Person(-1)
    await run(folder, [f"curl -sS http://{EVIL}/"], person)
    return person


async def test_hosts_of_the_folder_are_proposed_together(folder: Path) -> None:
    lock = {"packages": {"x": {"resolved": f"https://{A}/x.tgz"}, "y": {"resolved": f"https://{B}/y.tgz"}}}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    person = Person(0)
    results = await run(folder, [f"curl -sS http://{B}/", f"curl -sS http://{A}/"], person)
    assert all("REACHED" in result for result in results)
    assert len(person.asked) == 1
    assert person.asked[0].suggestions == [
        "Allow all 2 hosts in this folder",
        f"Allow {B} in this folder",
        "Deny",
    ]
    assert "package-lock.json" in person.asked[0].text
    assert folder_hosts.allowed_in(str(folder)) == {A, B}
    assert folder_hosts.forget_in(str(folder), [A]) == [A]
    assert folder_hosts.allowed_in(str(folder)) == {B}


async def test_a_host_that_no_lock_file_names_is_asked_for_alone(folder: Path) -> None:
    lock = {"packages": {"x": {"resolved": f"https://{A}/x.tgz"}, "y": {"resolved": f"https://{B}/y.tgz"}}}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    person = Person(0)
    await run(folder, [f"curl -sS http://{EVIL}/"], person)
    assert person.asked[0].suggestions == [f"Allow {EVIL} in this folder", "Deny"]
    assert folder_hosts.allowed_in(str(folder)) == {EVIL}


async def test_only_one_of_the_proposed_hosts(folder: Path) -> None:
    (folder / "Gemfile.lock").write_text(f"GEM\n  remote: https://{A}/\n  remote: https://{B}/\n")
    person = Person(1)
    await run(folder, [f"curl -sS http://{A}/"], person)
    assert folder_hosts.allowed_in(str(folder)) == {A}


async def test_where_nobody_answers_the_result_says_how_to_allow_it(folder: Path) -> None:
    for person, mode in ((Person(NOBODY), "inside"), (Person(NOBODY), "ask"), (Person(0), "auto"), (None, "inside")):
        result = (await run(folder, [f"curl -sS http://{EVIL}/"], person, mode=mode))[0]
        assert f"--allow-host {EVIL}" in result
        assert "REACHED" not in result
        assert folder_hosts.all_folders() == {}


async def test_a_host_of_the_operator_is_not_asked_for(folder: Path) -> None:
    person = Person(-1)
    with allow_hosts([A]):
        for mode in ("ask", "inside", "auto"):
            assert "REACHED" in (await run(folder, [f"curl -sS http://{A}/"], person, mode=mode))[0]
    assert person.asked == []


async def test_a_file_of_the_folder_allows_nothing(folder: Path) -> None:
    (folder / "hosts.json").write_text(json.dumps({str(folder): [EVIL]}))
    (folder / ".heald").mkdir()
    (folder / ".heald/hosts.json").write_text(json.dumps({str(folder): [EVIL]}))
    person = Person(-1)
    assert "REACHED" not in (await run(folder, [f"curl -sS http://{EVIL}/"], person))[0]
    assert len(person.asked) == 1


@pytest.mark.parametrize(
    "place",
    ["127.0.0.1", "10.1.2.3", "93.184.215.14", "localhost", "router", "metadata.google.internal", "nas.local"],
)
async def test_no_person_can_allow_an_address_or_a_private_name(folder: Path, place: str) -> None:
    """A person who says yes to everything is not asked, and only the operator can allow it."""
    person = Person(0)
    result = (await run(folder, [f"curl -sS --noproxy '' http://{place}/"], person))[0]
    assert f"{place} was refused" in result
    assert person.asked == []


async def test_a_background_command_asks_nobody(folder: Path) -> None:
    person = Person(0)
    calls = [
        [S.call("run_command", command=f"curl -sS http://{A}/", background=True)],
        [S.call("command_output", id="command-1", wait_s=10)],
        "Done.",
    ]
    results: list[str] = []
    async with heald.Agent(
        S(calls), tools=["shell"], workspace=folder, permissions="inside", on_question=person
    ) as agent:
        agent.subscribe(collect_into(results), types=["tool_result"])
        await agent.run("Go.")
    assert f"--allow-host {A}" in results[1]
    assert person.asked == []


async def test_the_wait_for_a_person_does_not_count_as_time_of_the_command(folder: Path) -> None:
    async def slow(question: QuestionAsked) -> str:
        await asyncio.sleep(5)
        return question.suggestions[0]

    calls = [[S.call("run_command", command=f"curl -sS http://{A}/", timeout_s=4)], "Done."]
    results: list[str] = []
    async with heald.Agent(
        S(calls), tools=["shell"], workspace=folder, permissions="inside", on_question=slow
    ) as agent:
        agent.subscribe(collect_into(results), types=["tool_result"])
        await agent.run("Go.")
    assert "REACHED" in results[0]


async def test_a_question_ends_with_its_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers: the command goes on after a while, and the question does not stay open in the log."""
    monkeypatch.setattr(command_gate, "PERSON_SECONDS", 1.0)
    events: list[Event] = []
    calls = [[S.call("run_command", command=f"curl -sS -m 20 http://{A}/")], "Done."]
    async with heald.Agent(S(calls), tools=["shell"], workspace=folder, permissions="inside") as agent:
        agent.subscribe(events.append)
        await agent.run("Go.")
        assert agent.questions == []
    kinds = [event.type for event in events]
    assert kinds.index("question_asked") < kinds.index("question_answered") < kinds.index("tool_result")


async def test_a_question_ends_if_the_command_ends_first(folder: Path) -> None:
    events: list[Event] = []
    calls = [[S.call("run_command", command=f"timeout 4 curl -sS http://{A}/; echo over")], "Done."]
    async with heald.Agent(S(calls), tools=["shell"], workspace=folder, permissions="inside") as agent:
        agent.subscribe(events.append)
        await agent.run("Go.")
    kinds = [event.type for event in events]
    assert kinds.index("question_asked") < kinds.index("question_answered") < kinds.index("tool_result")


def test_hosts_of_lock_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@mirror.example.org/simple")
    for name in ("UV_INDEX_URL", "npm_config_registry", "NPM_CONFIG_REGISTRY", "GOPROXY", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    files = {
        "package-lock.json": '{"packages": {"a": {"resolved": "https://npm.example.org/a.tgz", "funding": "https://no.example.org"}}}',
        "yarn.lock": 'a@1:\n  resolved "https://yarn.example.org/a.tgz#1"\n',
        "pnpm-lock.yaml": "packages:\n  a:\n    resolution: {tarball: https://pnpm.example.org/a.tgz}\n",
        "requirements.txt": "--index-url https://pip.example.org/simple\n# https://no.example.org\na @ git+https://vcs.example.org/a\n",
        "uv.lock": 'source = { registry = "https://uv.example.org/simple" }\n',
        "poetry.lock": '[package.source]\nurl = "https://poetry.example.org/simple"\n',
        "Cargo.lock": 'source = "registry+https://cargo.example.org/index"\n',
        "Gemfile.lock": "GEM\n  remote: https://gem.example.org/\n",
        "go.sum": "go.example.org/x/mod v1.0.0 h1:abc=\n",
        ".git/config": '[remote "origin"]\n\turl = https://token@git.example.org/x.git\nurl = git@ssh.example.org:x\n',
        "composer.lock": '{"url": "http://127.0.0.1/x", "dist": {"url": "https://localhost/x"}}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".npmrc").symlink_to(tmp_path / "yarn.lock")
    registries = find_registries(str(tmp_path))
    tools = ("npm", "yarn", "pnpm", "pip", "vcs", "uv", "poetry", "cargo", "gem", "go", "git", "mirror")
    assert set(registries.hosts) == {f"{tool}.example.org" for tool in tools}
    assert ".git/config" in registries.files
