"""A git server over HTTP for tests: git's own CGI program behind a small web server, with a password if it has one."""

import base64
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

EXEC = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
BACKEND = Path(EXEC) / "git-http-backend"


def make_remote(folder: Path) -> Path:
    """An empty repository to push to."""
    remote = folder / "site.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    subprocess.run(["git", "-C", str(remote), "config", "http.receivepack", "true"], check=True)
    return remote


def read(remote: Path, *command: str) -> str:
    """The output of a git command in a repository."""
    return subprocess.run(["git", "-C", str(remote), *command], capture_output=True, text=True, check=True).stdout


@contextmanager
def serve_git(folder: Path, password: str = "") -> Generator[str]:
    """Serve the repositories of a folder; with a password only to the user ann."""
    expected = "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._run()

        def do_POST(self) -> None:
            self._run()

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

        def _run(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if password and self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            environment = os.environ | {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type") or "",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
                "REMOTE_USER": "ann",
            }
            done = subprocess.run([BACKEND], input=body, capture_output=True, env=environment, check=False)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
