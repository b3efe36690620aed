"""Notes of a repository for agents that work in a subfolder of it."""

import pytest
from cli_repository import make_repository

from cli_bench import run, run_with
from cli_pages import here
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply


async def test_notes_above_the_folder_are_followed_up_to_the_top_of_the_repository(
    capsys: pytest.CaptureFixture[str],
) -> None:
    here("site/web").mkdir(parents=True)
    here("AGENTS.md").write_text("Write short tests.\n")
    here("site/web/AGENTS.md").write_text("Use tabs.\n")
    work = ["--workspace", "site/web", "--permissions", "read-only", "Hello."]
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hi.")) as server:
        assert (await run(capsys, "trust", "--yes", "site/web")).code == 0
        await run(capsys, *run_with(server, *work))
        alone = str(server.requests[-1].body["messages"][0]["content"])
        make_repository()
        await run(capsys, *run_with(server, *work))
        before = str(server.requests[-1].body["messages"][0]["content"])
        assert (await run(capsys, "trust", "--yes", "site/web")).code == 0
        await run(capsys, *run_with(server, *work))
        after = str(server.requests[-1].body["messages"][0]["content"])
    assert "Use tabs." in alone
    assert "Write short tests." not in alone + before  # no repository, then no trust
    top = after.index("from ../../AGENTS.md:\n\nWrite short tests.")
    assert top < after.index("from AGENTS.md:\n\nUse tabs.")
