"""Rules about paths see through links: another name for the same file is no way around a rule."""

from pathlib import Path

import pytest

import heald
from heald.core.events import ApprovalRequested

S = heald.testing.ScriptedModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "there.txt").write_text("kept\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("secrets")
    (tmp_path / "src" / "deep").symlink_to("../link")
    (tmp_path / "one.txt").symlink_to("secrets/there.txt")
    return tmp_path


async def _statuses(folder: Path, rules: list[str], *calls: object) -> list[str]:
    asked: list[str] = []

    async def refuse(request: ApprovalRequested) -> heald.Approval:
        asked.append(request.name)
        return heald.Approval(False, "No.")

    statuses: list[str] = []
    permissions = heald.Permissions("ask", rules)
    model = S([calls, "Done."])  # pyright: ignore[reportArgumentType]
    async with heald.Agent(
        model, tools=["files"], workspace=folder, permissions=permissions, on_approval=refuse
    ) as agent:
        agent.subscribe(lambda event: statuses.append(event.data.status), types=["tool_result"])  # pyright: ignore
        await agent.run("Go on.")
    return [*statuses, f"asked {len(asked)}"]


@pytest.mark.parametrize("path", ["secrets/x", "link/x", "src/deep/x", "src/deep/new/x", "one.txt"])
async def test_a_rule_that_forbids_holds_behind_links(folder: Path, path: str) -> None:
    rules = ["allow write_file(*)", "deny write_file(secrets/*)"]
    assert await _statuses(folder, rules, S.call("write_file", path=path, content="y\n")) == ["denied", "asked 0"]
    assert (folder / "secrets" / "there.txt").read_text() == "kept\n"
    assert [entry.name for entry in (folder / "secrets").iterdir()] == ["there.txt"]


@pytest.mark.parametrize("path", ["src/deep/there.txt", "link/there.txt"])
async def test_reading_is_held_to_them_too(folder: Path, path: str) -> None:
    assert await _statuses(folder, ["deny read_file(secrets/*)"], S.call("read_file", path=path)) == [
        "denied",
        "asked 0",
    ]


async def test_a_rule_that_allows_does_not_reach_through_a_link(folder: Path) -> None:
    rules = ["allow write_file(src/*)"]
    assert await _statuses(folder, rules, S.call("write_file", path="src/plain.txt", content="y\n")) == [
        "ok",
        "asked 0",
    ]
    behind = await _statuses(folder, rules, S.call("write_file", path="src/deep/x.txt", content="y\n"))
    assert behind == ["denied", "asked 1"]
