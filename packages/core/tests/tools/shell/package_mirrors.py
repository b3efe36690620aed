"""Package registries and a repository as small as their tools accept, served over HTTP by the test itself."""

import base64
import hashlib
import io
import json
import os
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing to the output of the test."""


@contextmanager
def serve_folder(folder: Path) -> Generator[int]:
    """Serve the files of a folder on the loopback and yield the port."""

    class Handler(_Quiet):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _archive(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_npm(folder: Path, host: str) -> None:
    """The package demo-package 1.0.0."""
    manifest = {"name": "demo-package", "version": "1.0.0", "main": "index.js"}
    archive = _archive(
        {"package/package.json": json.dumps(manifest), "package/index.js": "module.exports = 'from the mirror';\n"}
    )
    digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
    dist = {
        "tarball": f"http://{host}/demo-package/-/demo-package-1.0.0.tgz",
        "integrity": f"sha512-{digest}",
        "shasum": hashlib.sha1(archive, usedforsecurity=False).hexdigest(),
    }
    document = {
        "name": "demo-package",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {**manifest, "dist": dist}},
    }
    _write(folder / "demo-package/-/demo-package-1.0.0.tgz", archive)
    _write(folder / "demo-package/index.html", json.dumps(document))


def make_pip(folder: Path) -> None:
    """The wheel of demo-package 1.0.0, with an index under /simple."""
    name = "demo_package-1.0.0-py3-none-any.whl"
    buffer = io.BytesIO()
    info = "demo_package-1.0.0.dist-info"
    files = {
        "demo_package.py": "VALUE = 'from the mirror'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: demo-package\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(buffer, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD")))
    wheel_bytes = buffer.getvalue()
    _write(folder / "files" / name, wheel_bytes)
    link = f"/files/{name}#sha256={hashlib.sha256(wheel_bytes).hexdigest()}"
    _write(
        folder / "simple/demo-package/index.html",
        f'<!DOCTYPE html><html><body><a href="{link}">{name}</a></body></html>',
    )


def make_cargo(folder: Path, host: str) -> None:
    """The crate demo-crate 1.0.0, with a sparse index under /index."""
    manifest = '[package]\nname = "demo-crate"\nversion = "1.0.0"\nedition = "2021"\n'
    archive = _archive({"demo-crate-1.0.0/Cargo.toml": manifest, "demo-crate-1.0.0/src/lib.rs": "pub fn value() {}\n"})
    entry: dict[str, object] = {
        "name": "demo-crate",
        "vers": "1.0.0",
        "deps": [],
        "features": {},
        "yanked": False,
        "cksum": hashlib.sha256(archive).hexdigest(),
    }
    _write(folder / "index/config.json", json.dumps({"dl": f"http://{host}/crates"}))
    _write(folder / "index/de/mo/demo-crate", json.dumps(entry) + "\n")
    _write(folder / "crates/demo-crate/1.0.0/download", archive)


def make_git(folder: Path) -> str:
    """A repository with one commit, as files that git can fetch over HTTP. Return the commit."""
    work = folder / "work"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{key}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")},
    }

    def git(*arguments: str, at: Path) -> str:
        done = subprocess.run(["git", *arguments], cwd=at, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    work.mkdir(parents=True)
    git("init", "-q", "-b", "main", at=work)
    (work / "file.txt").write_text("from the mirror\n")
    git("add", "file.txt", at=work)
    git("commit", "-q", "-m", "one", at=work)
    git("clone", "-q", "--bare", str(work), str(folder / "demo.git"), at=folder)
    git("update-server-info", at=folder / "demo.git")
    return git("rev-parse", "HEAD", at=work)
