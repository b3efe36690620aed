"""The page at the end of the tutorial: served by the tutorial's own server, used in a real browser."""

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from doc_pages import ROOT, blocks

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The server of the tutorial, at a port that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    for block in blocks(ROOT / "docs" / "tutorial.md"):
        if block.file:
            (tmp_path / block.file).write_text(block.text.replace("7878", str(number)), "utf-8")
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "server:app",
        "--port",
        str(number),
        "--timeout-graceful-shutdown",
        "10",
    ]
    server = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(number, server)
        yield number
    finally:
        server.terminate()
        server.communicate(timeout=60)


def _wait_for(port: int, server: "subprocess.Popen[str]") -> None:
    for _ in range(600):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, "the server of the tutorial does not start"
        time.sleep(0.1)
    raise AssertionError("the server of the tutorial does not answer")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_of_the_tutorial_asks_and_shows(port: int) -> None:
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/bakery#a-token-of-your-own")
        for times in (1, 2):  # the second time with the conversation so far
            page.get_by_role("button", name="Ask").click()
            told = re.compile(r"^(\s*\[opening_hours .*\]\s+On Sunday: closed\.\s*){%d}$" % times)  # noqa: UP031
            expect(page.locator("#said")).to_have_text(told, timeout=60_000)
        page.goto("about:blank")
        page.goto(f"http://127.0.0.1:{port}/bakery#a-wrong-token-of-mine")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#said")).to_contain_text("A token is needed", timeout=60_000)
        browser.close()


def test_the_command_of_the_tutorial_reads_the_answer(port: int) -> None:
    block = next(block for block in blocks(ROOT / "docs" / "tutorial.md") if "curl" in block.text)
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    command = block.text.removeprefix("$ ").replace("7878", str(port))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "event: tool_call_result" in done.stdout
    assert done.stdout.rstrip().endswith("event: done\ndata: {}")
