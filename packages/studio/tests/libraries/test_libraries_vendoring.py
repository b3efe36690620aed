"""Fetching the libraries: only what has the hash of the lock is kept, and only the files that the lock names."""

import io
import json
import runpy
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT

SCRIPT = ROOT / "packages" / "studio" / "vendor_libraries.py"


def tarball(*members: tuple[str, bytes | str]) -> bytes:
    """An npm package; a member whose content is a text is a link to it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                tar.addfile(info)
            else:
                info.size, info.mode = len(content), 0o6755
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


class Bench:
    """A registry on loopback, and the script beside a lock and a vendor folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.archives: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.lock, self.vendor = folder / "lock.json", folder / "vendor"
        bench = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                bench.asked.append(self.path)
                body = bench.archives.get(self.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def write(self, integrity: str = "", keep: tuple[str, ...] = ("dist/*.js", "LICENSE")) -> None:
        package = {"name": "@x/y", "version": "1.2.3", "license": "MIT", "integrity": integrity, "main": "dist/y.js"}
        self.lock.write_text(json.dumps({"packages": [{**package, "keep": list(keep)}]}))

    def run(self, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", self.address + "/")
        monkeypatch.setattr("sys.argv", ["vendor_libraries", *arguments])
        script = runpy.run_path(str(SCRIPT))
        main = script["main"]
        main.__globals__.update(LOCK=self.lock, VENDOR=self.vendor, TRIES=1)
        main()

    @property
    def kept(self) -> set[str]:
        members: set[str] = set()
        for file in self.vendor.glob("*.zip"):
            with zipfile.ZipFile(file) as packed:
                members |= {f"{file.name}/{path}" for path in packed.namelist()}
        return members


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    thread = threading.Thread(target=bench.server.serve_forever)
    thread.start()
    yield bench
    bench.server.shutdown()
    bench.server.server_close()
    thread.join()


GOOD = tarball(
    ("package/dist/y.js", b"code"),
    ("package/dist/y.js.map", b"no"),
    ("package/dist/deep/z.js", b"no"),
    ("package/LICENSE", b"MIT"),
    ("package/dist/link.js", "../../../outside"),
    ("package/dist/../../../evil.js", b"no"),
    ("package/index.js", b"no"),
)
URL = "/@x/y/-/y-1.2.3.tgz"


def test_what_the_lock_keeps_is_fetched_once(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bench.archives[URL] = GOOD
    bench.write()
    bench.run(monkeypatch, "--lock")
    assert json.loads(bench.lock.read_text())["packages"][0]["integrity"].startswith("sha512-")
    assert bench.address not in bench.lock.read_text()
    bench.run(monkeypatch)
    assert bench.asked == [URL]
    assert bench.kept == {"@x__y@1.2.3.zip/dist/y.js", "@x__y@1.2.3.zip/LICENSE"}
    assert not list(tmp_path.rglob("evil*"))


def test_another_hash_keeps_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.archives[URL] = GOOD
    bench.write("sha512-" + "A" * 86 + "==")
    with pytest.raises(SystemExit, match="not what the lock expects; nothing of it was kept"):
        bench.run(monkeypatch)
    assert bench.kept == set()


def test_a_new_version_replaces_the_old(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.archives[URL] = GOOD
    bench.write()
    (bench.vendor / "older@1.0.0").mkdir(parents=True)
    (bench.vendor / "old@1.0.0.zip").write_bytes(b"")
    bench.run(monkeypatch, "--lock")
    assert sorted(file.name for file in bench.vendor.iterdir()) == ["@x__y@1.2.3.zip", "THIRD_PARTY_NOTICES.txt"]


@pytest.mark.parametrize("keep", [("none.js",), ()])
def test_a_package_without_its_files_is_reported(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, keep: tuple[str, ...]
) -> None:
    bench.archives[URL] = GOOD
    bench.write(keep=keep)
    with pytest.raises(SystemExit, match="none of the files"):
        bench.run(monkeypatch, "--lock")
    assert bench.kept == set()


def test_a_package_that_is_not_there_is_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write()
    with pytest.raises(SystemExit, match=r"@x/y 1\.2\.3 cannot be fetched: the registry answered 404"):
        bench.run(monkeypatch)


def test_the_script_names_no_registry() -> None:
    assert ".org" not in SCRIPT.read_text("utf-8")
    assert "registry." not in SCRIPT.read_text("utf-8").replace("registry.\n", "")
