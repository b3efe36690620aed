"""Coding agents of others, unchanged from their registry, with the server as their model: codex, opencode and aider."""

import asyncio
import json
import os
from functools import partial
from pathlib import Path

import pytest

from heald.core.errors import AuthenticationFailed
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from registry_clients import npm_folder, python_folder
from serving_parts import TOKEN, S, Served, served

pytestmark = pytest.mark.clients

CODEX, OPENCODE, AIDER = "@openai/codex@0.169.0", "opencode-ai@1.18.18", "aider-chat==0.86.*"
MARK = "the mark is 42"


def script(request: ScriptedRequest) -> Script:
    """Uses the client's own tool to find the mark, and repeats the result."""
    names = {tool.name for tool in request.tools}
    last = request.messages[-1]
    if last.role == "tool":
        return "Result: " + "".join(block.text for block in last.content if isinstance(block, ToolResult))
    if "mark" not in last.words:
        return f"Answer {sum(message.role == 'user' for message in request.messages)}."
    if "exec_command" in names:
        return ["I look.", S.call("exec_command", cmd="cat mark.txt")]
    return ["I look.", S.call("read", filePath=str(Path(os.environ["HEALD_TEST_FOLDER"]) / "mark.txt"))]


async def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    """Run a command to its end, and return what it printed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**os.environ, "PWD": str(cwd), **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(600):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, output.decode()[-3000:]
    return output.decode()


async def _program(package: str, pattern: str) -> str:
    """A program of a package. Scripts of packages are not run, so it is the one for this machine itself."""
    folder = await asyncio.to_thread(npm_folder, package)
    program = next((folder / "node_modules").glob(pattern), None)
    if program is None:
        pytest.skip(f"{package} has no program for this machine")
    return str(program)


def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mark.txt").write_text(MARK)
    monkeypatch.setenv("HEALD_TEST_FOLDER", str(folder))
    return folder


def _configure_codex(home: Path, server: Served) -> None:
    home.mkdir()
    (home / "config.toml").write_text(
        'model = "heald"\nmodel_provider = "heald"\n[model_providers.heald]\nname = "heald"\n'
        f'base_url = "{server.url}/v1"\nenv_key = "HEALD_TOKEN"\nwire_api = "responses"\n'
    )


@pytest.mark.client("codex", "0.169.0", "`/v1/responses`", "streamed answer, its shell, second turn (`resume`)")
async def test_codex_runs_its_shell_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codex = await _program(CODEX, ".bin/codex")
    folder, home = _folder(tmp_path, monkeypatch), tmp_path / "codex"
    async with served(tmp_path, lambda: S([script] * 60)) as server:
        _configure_codex(home, server)
        env = {"CODEX_HOME": str(home), "HEALD_TOKEN": TOKEN}
        # codex has a sandbox of its own, which does not work inside of every other one
        begin = (codex, "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access")
        first = await run(*begin, "Find the mark", cwd=folder, env=env)
        second = await run(*begin, "resume", "--last", "Thanks", cwd=folder, env=env)
        assert (await server.context.sessions.list()).sessions == []  # it asks for store: false
    assert "I look." in first
    assert MARK in first.rpartition("Result:")[2]
    assert "Answer" in second


@pytest.mark.client("codex", "0.169.0", "`/v1/responses`", "error")
async def test_codex_does_not_repeat_a_permanent_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codex = await _program(CODEX, ".bin/codex")
    folder, home = _folder(tmp_path, monkeypatch), tmp_path / "codex"
    requests: list[ScriptedRequest] = []

    def fails(request: ScriptedRequest) -> Script:
        requests.append(request)
        return [S.fail(AuthenticationFailed("The key is not valid.", status=401))]

    async with served(tmp_path, lambda: S([fails] * 60)) as server:
        _configure_codex(home, server)
        env = {"CODEX_HOME": str(home), "HEALD_TOKEN": TOKEN}
        with pytest.raises(AssertionError, match="The key is not valid"):
            await run(codex, "exec", "--skip-git-repo-check", "Hello", cwd=folder, env=env)
    assert len(requests) == 1


@pytest.mark.client("opencode", "1.18.18", "`/v1/chat/completions`", "streamed answer, its tools, second turn (`-c`)")
async def test_opencode_runs_its_tools_and_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opencode = await _program(OPENCODE, "opencode-*-*/bin/opencode")
    folder, home = _folder(tmp_path, monkeypatch), tmp_path / "home"
    home.mkdir()
    async with served(tmp_path, lambda: S([script] * 60)) as server:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Heald",
            "options": {"baseURL": f"{server.url}/v1", "apiKey": TOKEN},
            "models": {"heald": {"name": "heald"}},
        }
        (folder / "opencode.json").write_text(json.dumps({"provider": {"heald": provider}, "model": "heald/heald"}))
        env = {"OPENCODE_CONFIG": str(folder / "opencode.json"), "OPENCODE_DISABLE_AUTOUPDATE": "1", "HOME": str(home)}
        env |= {f"XDG_{name}_HOME": str(home / name) for name in ("DATA", "CONFIG", "STATE")}
        begin = (opencode, "run", "--model", "heald/heald")
        first = await run(*begin, "Find the mark", cwd=folder, env=env)
        second = await run(*begin, "-c", "Thanks", cwd=folder, env=env)
    assert MARK in first
    assert "Answer 2." in second


def _write_files(requests: list[ScriptedRequest], request: ScriptedRequest) -> Script:
    """Answers as aider expects a model to: with whole files."""
    requests.append(request)
    last = request.messages[-1].words
    if "Please fail" in last:
        return [S.fail(AuthenticationFailed("The key is not valid.", status=401))]
    if "Write it down" not in last:
        return "Nothing to change."
    return f"I write it.\n\nmark.txt\n```\n{MARK}\n```\n"


@pytest.mark.client(
    "aider", f"pip:{AIDER}", "`/v1/chat/completions`", "streamed answer, edited files, second turn, error"
)
async def test_aider_edits_a_file_continues_and_does_not_repeat_a_permanent_error(tmp_path: Path) -> None:
    aider = str(await asyncio.to_thread(python_folder, AIDER, seconds=900) / "aider")
    folder, home, requests = tmp_path / "project", tmp_path / "home", list[ScriptedRequest]()
    folder.mkdir()
    (folder / "mark.txt").write_text("nothing\n")
    prices = home / ".aider" / "caches" / "model_prices_and_context_window.json"
    prices.parent.mkdir(parents=True)
    prices.write_text('{"nothing": {}}')  # else each start looks for them in the network
    async with served(tmp_path, lambda: S([partial(_write_files, requests)] * 60, piece=6)) as server:
        env = {"HOME": str(home), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_API_KEY": TOKEN}
        env |= {"OPENAI_API_BASE": f"{server.url}/v1", "AIDER_ANALYTICS": "false"}
        quiet = ("--no-git", "--yes-always", "--no-check-update", "--no-show-model-warnings", "--no-pretty")
        begin = (aider, "--model", "openai/heald", "--edit-format", "whole", "--map-tokens", "0", *quiet)
        first = await run(*begin, "--message", "Write it down", "mark.txt", cwd=folder, env=env)
        begin = (*begin, "--restore-chat-history")
        second = await run(*begin, "--message", "Thanks", "mark.txt", cwd=folder, env=env)
        texts = [message.words for message in requests[-1].messages]
        count = len(requests)
        failed = await run(*begin, "--message", "Please fail", "mark.txt", cwd=folder, env=env)
    assert "I write it." in first
    assert (folder / "mark.txt").read_text().strip() == MARK
    assert "Nothing to change." in second
    assert any("Write it down" in text for text in texts)
    assert "The key is not valid" in failed
    assert len(requests) == count + 1
