"""`heald serve FOLDER`: the repository is offered, and the printed address opens it."""

import asyncio

import pytest

from cli_bench import is_one_line_error, run, started
from cli_pages import here

Capture = pytest.CaptureFixture[str]


async def test_the_address_opens_the_repository() -> None:
    here("my site").mkdir()
    async with started("serve", "my site", "--port", "0", "--no-open") as process:
        assert process.stdout is not None
        async with asyncio.timeout(120):
            line = (await process.stdout.readline()).decode()
        process.terminate()
        await asyncio.wait_for(process.communicate(), 120)
    assert line.startswith("Heald is at http://127.0.0.1:")
    assert line.strip().endswith("&open=/repository/my%20site")


async def test_a_folder_that_is_missing_is_one_sentence(capsys: Capture) -> None:
    ran = await run(capsys, "serve", "nowhere", "--port", "0", "--no-open")
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert "There is no folder 'nowhere'" in ran.err


async def test_several_workers_cannot_open_one(capsys: Capture) -> None:
    here("site").mkdir()
    ran = await run(capsys, "serve", "site", "--workers", "2", "--port", "0", "--no-open")
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert "start the server without --workers" in ran.err
