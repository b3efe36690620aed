"""Clients of other systems that run in node, installed once into a cache outside the project."""

import asyncio
import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from node_host import node_host

_HERE = Path(__file__).parent / "node"


def installed() -> Path:
    """The folder with the packages and our scripts. Skips where they cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    key = sha256((_HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "heald-tests" / f"clients-{key}"
    cache.mkdir(parents=True, exist_ok=True)
    for file in _HERE.iterdir():
        if file.is_file():
            shutil.copy(file, cache / file.name)
    if not (cache / "installed").exists():
        _install(cache)
        (cache / "installed").touch()
    return cache


def _install(cache: Path) -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=cache, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("the packages of the clients could not be fetched: the registry does not answer")
    if done.returncode:
        pytest.skip(f"the packages of the clients could not be fetched: {done.stderr[-300:]}")


async def played(script: str, *arguments: str, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run a script with steps. Gives what it said after each."""
    folder = await asyncio.to_thread(installed)
    told = [json.loads(line) for line in await node_host().run(folder / script, *arguments, json.dumps(steps))]
    assert len(told) == len(steps)
    return told
