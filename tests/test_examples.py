"""The examples run, without a key and without a network, and say what they are meant to say."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from repository import ROOT

EXAMPLES = ROOT / "examples"
SAID = {
    "tool.py": "take a warm coat",
    "console.py": "completed after 2 turns",
    "metrics.py": 'heald_calls_total{tool="divide",status="error"} 1',
    "approval.py": "there: ['notes.txt']",
    "handover.py": "billing: Your money is on its way.",
    "adapter.py": "It is 3 °C in Oslo now. 30 tokens",
    "provider.py": "Hello from a server of your own.",
}
PAGE = EXAMPLES / "ai_sdk_page"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    strangers = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        env=strangers | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert SAID[name] in done.stdout
    assert not done.stderr


async def test_the_page_is_built_and_its_reader_reads_an_answer(tmp_path: Path) -> None:
    folder = await asyncio.to_thread(_installed)
    vite = str(folder / "node_modules" / ".bin" / "vite")
    built = await asyncio.to_thread(_node, folder, vite, "build", "--outDir", str(tmp_path / "dist"))
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "dist" / "index.html").is_file()
    async with ScriptedServer([wire_reply("chat", text="A warm coat.")]) as model:
        command = ["serve", "--port", "0", "--no-open", "--json", "--data", str(tmp_path), "--model", "m"]
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "heald_cli.main", *command, "--base-url", model.url), stdout=asyncio.subprocess.PIPE
        )
        try:
            assert server.stdout is not None
            ready = json.loads(await server.stdout.readline())
            asked = ("node", "check.mjs", ready["url"], ready["token"], "What should I wear?")
            read = await asyncio.to_thread(_node, folder, *asked)
        finally:
            server.terminate()
            await server.wait()
    assert read.stdout.strip() == "A warm coat.", read.stderr


def _installed() -> Path:
    """A copy of the page with its packages, kept between runs. Skips where they cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "heald-tests" / "ai-sdk-page"
    manifest = (PAGE / "package.json").read_text("utf-8")
    is_there = (cache / "installed").is_file() and (cache / "installed").read_text("utf-8") == manifest
    shutil.copytree(PAGE, cache, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    if not is_there:
        try:
            done = _node(cache, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
        except subprocess.TimeoutExpired:
            pytest.skip("the packages of the page could not be fetched: the registry does not answer")
        if done.returncode:
            pytest.skip(f"the packages of the page could not be fetched: {done.stderr[-300:]}")
        (cache / "installed").write_text(manifest, "utf-8")
    return cache


def _node(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
