"""Secrets of a workspace and of the environment: asked for before they are read, and hidden wherever they appear."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.json import encode
from heald.tools.secrets import hide_file_values, is_secret_file, names_secret_file
from heald.tools.workspace_secrets import environment_mask

S = heald.testing.ScriptedModel
KEY = "sk-CANARY-0123456789abcdef"
PASSWORD = "CANARY-pass-word-77"
DOTENV = f"# settings\nAPI_KEY={KEY}\nexport DB_PASSWORD='{PASSWORD}'\nDEBUG=1\n"


@pytest.fixture(autouse=True)
def _fresh_mask() -> Iterator[None]:
    environment_mask.cache_clear()
    yield
    environment_mask.cache_clear()


SECRET = [
    ".env", "app/.env.local", ".env.production", "prod.env", "server.pem", "deploy.key", "id_rsa", ".ssh/id_ed25519",
    ".aws/credentials", ".aws/config", ".npmrc", ".netrc", ".git-credentials", "x/.docker/config.json", ".KUBE/config",
    "service-account.json", "cert.PFX", "terraform.tfvars", "a\\b\\.env",
]  # fmt: skip
PLAIN = [
    ".env.example",
    ".env.sample",
    "env.py",
    "keys.ts",
    "monkey",
    "src/key.py",
    "README.md",
    "config.json",
    ".envoy",
]


@pytest.mark.parametrize("path", SECRET)
def test_files_that_hold_secrets(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize("path", PLAIN)
def test_files_that_hold_none(path: str) -> None:
    assert not is_secret_file(path)


def test_commands_that_name_one() -> None:
    assert names_secret_file("cat .env")
    assert names_secret_file("source './config/.env.local' && run")
    assert names_secret_file("base64 <.ssh/id_rsa")
    assert not names_secret_file("cat .env.example README.md")


def test_values_of_files() -> None:
    masked = hide_file_values(DOTENV, ".env")
    assert "CANARY" not in masked
    assert masked.count("of .env]") == 3
    assert "API_KEY=[hidden: API_KEY of .env]" in masked
    assert hide_file_values(masked, ".env") == masked
    block = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY}\n{KEY}\n-----END OPENSSH PRIVATE KEY-----\n"
    assert "CANARY" not in hide_file_values(block, "x.pem")
    assert "CANARY" not in hide_file_values(block[:80], "x.pem")  # a page that ends within it
    assert "CANARY" not in hide_file_values(f'{{"client_secret": "{KEY}"}}', "x.json")
    assert "CANARY" not in hide_file_values(f"machine example.org login me password {PASSWORD}\n", ".netrc")
    assert "CANARY" not in hide_file_values(f"//registry/:_authToken={KEY}\n", ".npmrc")
    diff = f"@@ -1,2 +1,2 @@\n-PIN=1234\n+PIN=2345\n API_KEY={KEY}\n"
    assert hide_file_values(diff, ".env").count("[hidden: PIN of .env]") == 2


async def _run(model: heald.testing.ScriptedModel, folder: Path, **options: Any) -> tuple[str, str, list[str]]:
    """Everything of the log, what the model was sent, and the requests for approval."""
    asked: list[str] = []

    async def approve(request: Any) -> heald.Approval:
        asked.append(request.name)
        return heald.Approval(True)

    log: list[bytes] = []
    agent = heald.Agent(model, tools=["files"], workspace=folder, on_approval=approve, **options)
    async with agent:
        agent.subscribe(lambda event: log.append(encode(event)))
        await agent.run("Go.")
        return b"\n".join(log).decode(), encode(agent.messages).decode(), asked


@pytest.mark.parametrize("mode", ["ask", "read-only"])
async def test_reading_one_is_asked_for_and_hidden(tmp_path: Path, mode: str) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    (tmp_path / "plain.txt").write_text("hello\n")
    calls = [S.call("read_file", path="plain.txt"), S.call("read_file", path=".env")]
    log, sent, asked = await _run(S([calls, "Done."]), tmp_path, permissions=mode)
    assert asked == ["read_file"]
    assert "CANARY" not in log
    assert "CANARY" not in sent
    assert "API_KEY=[hidden: API_KEY of .env]" in sent
    assert "DEBUG=[hidden: DEBUG of .env]" in sent
    assert "hello" in sent


async def test_a_link_does_not_bypass_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    (tmp_path / "notes.txt").symlink_to(".env")
    log, _, asked = await _run(S([[S.call("read_file", path="notes.txt")], "Done."]), tmp_path, permissions="ask")
    assert asked == ["read_file"]
    assert "CANARY" not in log


async def test_rules_decide(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    calls = [S.call("read_file", path=".env")]

    async def outcome(mode: Any, *rules: str) -> tuple[int, bool]:
        log, _, asked = await _run(S([calls, "Done."]), tmp_path, permissions=heald.Permissions(mode, rules))
        return len(asked), "CANARY" in log

    assert await outcome("auto") == (0, False)
    assert await outcome("auto", "ask read(secrets)") == (1, False)
    assert await outcome("ask", "allow read_file") == (1, False)
    assert await outcome("ask", "allow read_file(.env)") == (0, False)
    assert await outcome("ask", "deny read(secrets)") == (0, False)
    assert await outcome("ask", "allow read(secrets)") == (0, False)  # a rule spares the question, no more


async def test_a_search_passes_them_by(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    (tmp_path / "a.txt").write_text("API_KEY is in .env\n")
    everywhere, there = (
        S.call("search_files", pattern="API_KEY"),
        S.call("search_files", pattern="API_KEY", path=".env"),
    )
    log, sent, _ = await _run(S([[everywhere], [there], "Done."]), tmp_path)
    assert "CANARY" not in log
    assert "a.txt:1" in sent
    assert "1 files that hold secrets" in sent
    assert "API_KEY=[hidden: API_KEY of .env]" in sent


MARK = "[hidden: API_KEY of .env]"


@pytest.mark.parametrize(
    "call",
    [
        S.call("write_file", path=".env", content=f"API_KEY={MARK}\n"),
        S.call("edit_file", path=".env", old_text=f"API_KEY={MARK}", new_text="API_KEY=1"),
        S.call("edit_file", path="other.txt", old_text="a", new_text=MARK),
        S.call("apply_patch", patch=f"--- a/.env\n+++ b/.env\n@@ -2 +2 @@\n-API_KEY={MARK}\n+API_KEY=x\n"),
    ],
)
async def test_the_mark_is_never_written(tmp_path: Path, call: Any) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    (tmp_path / "other.txt").write_text("a\n")
    _, sent, _ = await _run(S([[S.call("read_file", path=".env")], [call], "Done."]), tmp_path)
    assert "which stands for a secret value that you do not see" in sent
    assert (tmp_path / ".env").read_text() == DOTENV
    assert (tmp_path / "other.txt").read_text() == "a\n"


async def test_a_text_about_marks_can_be_written(tmp_path: Path) -> None:
    call = S.call("write_file", path="notes.md", content=f"{MARK} stands for a value.\n")
    await _run(S([[call], "Done."]), tmp_path)
    assert (tmp_path / "notes.md").read_text().startswith(MARK)  # there is no .env here


async def test_an_edit_elsewhere_in_the_file_keeps_the_values(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(DOTENV)
    edit = S.call("edit_file", path=".env", old_text="DEBUG=1", new_text="DEBUG=0")
    log, _, _ = await _run(S([[S.call("read_file", path=".env")], [edit], "Done."]), tmp_path)
    assert (tmp_path / ".env").read_text() == DOTENV.replace("DEBUG=1", "DEBUG=0")
    assert "CANARY" not in log


async def test_values_of_the_environment_are_hidden_in_results_and_live_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    environment_mask.cache_clear()
    mark = "[hidden: SOME_API_KEY of the environment]"

    @heald.tool
    async def leak(ctx: heald.ToolContext) -> str:
        """Leaks."""
        ctx.output(f"begin {KEY[:10]}")
        ctx.output(f"{KEY[10:]} end {KEY[:5]}")
        if (tmp_path / "fails").exists():
            raise ValueError(f"cannot use {KEY}")
        (tmp_path / "fails").touch()
        return f"the key is {KEY}"

    log: list[bytes] = []
    async with heald.Agent(S([[S.call("leak")], [S.call("leak")], "Done."]), tools=[leak]) as agent:
        agent.subscribe(lambda event: log.append(encode(event)))
        await agent.run("Go.")
        text = b"\n".join(log).decode()
        assert KEY not in text
        assert KEY[10:] not in text
        assert f"begin {mark} end " not in text  # it comes in two pieces
        assert f"{mark} end " in text
        assert KEY[:5] in text  # what only begins like it comes at the end
        assert f"the key is {mark}" in encode(agent.messages).decode()
        assert f"cannot use {mark}" in encode(agent.messages).decode()
