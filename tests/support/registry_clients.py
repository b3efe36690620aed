"""Clients from their registries, installed once into a cache of the user, and run in processes of their own.

A test is skipped with the reason where a registry cannot be reached. What a compiler makes of the same sources is kept
there too: it is made anew when one of them has changed.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from node_host import node_host
from repository import ROOT

NODE_SCRIPTS = ROOT / "packages" / "server" / "tests" / "clients" / "node"
"""The scripts of JavaScript clients that several packages test with, and the packages that they import."""
_SECONDS = 300
_BUILD_SECONDS = 900


def _cache(name: str) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = base / "heald-tests" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _install(folder: Path, *commands: Sequence[str], seconds: int = _SECONDS) -> None:
    """Run the commands that install packages into a folder, unless they were installed before."""
    if (folder / "installed").exists():
        return
    for command in commands:
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"{command[0]} got no answer from its registry within {seconds} s")
        if done.returncode:
            pytest.skip(f"the packages of the client cannot be fetched: {done.stderr[-300:]}")
    (folder / "installed").touch()


def _copy_whole(file: Path, copy: Path) -> None:
    """Copy a file, unless its copy is equal. Another process never reads half of it."""
    if copy.exists() and copy.read_bytes() == file.read_bytes():
        return
    draft = copy.with_name(f".{copy.name}.{os.getpid()}")
    shutil.copy(file, draft)
    draft.replace(copy)


def node_folder(source: Path = NODE_SCRIPTS) -> Path:
    """Return a folder with the node packages that the lock file of a folder names, and with its scripts."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    folder = _cache(f"{source.name}-{sha256((source / 'package-lock.json').read_bytes()).hexdigest()[:16]}")
    for file in source.iterdir():
        if file.is_file() and (not (folder / file.name).exists() or file.suffix == ".mjs"):
            _copy_whole(file, folder / file.name)
    _install(folder, ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
    return folder


def python_folder(*packages: str, seconds: int = _SECONDS) -> Path:
    """The `bin` of an environment with Python packages."""
    key = sha256("\n".join([sys.version, *packages]).encode()).hexdigest()[:16]
    folder = _cache(f"python-{key}")
    _install(
        folder,
        [sys.executable, "-m", "venv", "env"],
        ["env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
        seconds=seconds,
    )
    return folder / "env" / "bin"


def npm_folder(*packages: str) -> Path:
    """A folder with node packages of these versions."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = _cache(f"npm-{sha256(' '.join(packages).encode()).hexdigest()[:16]}")
    (folder / "package.json").write_text("{}")
    _install(folder, ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages])
    return folder


def template_folder(template: str, *options: str) -> Path:
    """A project that a template of a registry made, such as `create-vite@9`, with its packages installed."""
    if shutil.which("npx") is None:
        pytest.skip("npm is not installed")
    folder = _cache(f"template-{sha256(' '.join((template, *options)).encode()).hexdigest()[:16]}")
    _install(
        folder,
        ["npx", "--yes", template, "site", *options],
        ["npm", "--prefix", "site", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
    )
    return folder / "site"


def built_page(tarball: Path, **environment: str) -> Path:
    """The built page of a project in a tarball, which pnpm installs and vite builds in its folder `frontend`."""
    if not tarball.exists():
        pytest.skip(f"{tarball.name} is not here")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    key = sha256(tarball.read_bytes() + json.dumps(environment).encode()).hexdigest()[:16]
    folder = _cache(f"page-{key}")
    pnpm = npm_folder("pnpm@10.32.1") / "node_modules" / ".bin" / "pnpm"
    page = folder / "frontend"
    _install(
        folder,
        ["tar", "xf", str(tarball)],
        [str(pnpm), "--dir", str(page), "install", "--frozen-lockfile", "--ignore-scripts"],
    )
    if not (page / "dist" / "index.html").exists():
        command = [str(page / "node_modules" / ".bin" / "vite"), "build"]
        settings = {**os.environ, **environment}
        done = subprocess.run(
            command, cwd=page, env=settings, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    return page / "dist"


async def build_once(name: str, sources: Sequence[bytes], build: Callable[[Path], Awaitable[object]]) -> Path:
    """The folder in which `build` has succeeded with these sources, in this run or in an earlier one."""
    key = sha256(b"".join(sha256(source).digest() for source in sources)).hexdigest()[:16]
    folder = _cache(f"{name}-{key}")
    if (folder / "built").exists():
        return folder
    for other in folder.parent.glob(f"{name}-*"):
        shutil.rmtree(other)
    folder.mkdir()
    await build(folder)
    (folder / "built").touch()
    return folder


async def run_node(script: str, *arguments: Any) -> list[Any]:
    """Run a script with arguments as JSON. Returns the lines that it prints."""
    folder = await asyncio.to_thread(node_folder)
    texts = [json.dumps(argument) for argument in arguments]
    return [json.loads(line) for line in await node_host().run(folder / script, *texts)]


async def run_process(*command: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
        cwd=cwd,
    )
    try:
        async with asyncio.timeout(120):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, (err or out).decode()[-3000:]
    return out.decode().splitlines()
