"""The tutorial, typed into one shell with an empty home: every command works, and its outcome is there."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from doc_commands import lines
from doc_pages import ROOT, blocks

PAGE = ROOT / "docs" / "tutorial.md"
SERVER, CHAT = "python -m uvicorn", "heald chat"
INSTALLS = ("python3 -m venv", ".venv/bin/pip")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def typed(port: int) -> list[str]:
    """What a person types, in the order of the page. Only the installation is left out: the environment is there."""
    commands: list[str] = []
    for block in blocks(PAGE):
        if block.file is not None:
            commands.append(f"cat > {block.file} <<'END_OF_FILE'\n{block.text}\nEND_OF_FILE")
        elif block.language == "console":
            commands += [line for line in lines(block) if not line.startswith(INSTALLS)]
    return [line.replace("7878", str(port)) for line in commands]


def as_script(line: str, port: int) -> str:
    """A line of the script. A server runs beside the rest until the end; a chat ends by itself: nobody is there."""
    mark = f"echo '@@ {line.splitlines()[0]}'"
    if line.startswith(SERVER):
        wait = f"until curl -s -o /dev/null http://127.0.0.1:{port}/; do sleep 0.2; done"
        return f"{mark}\n{line} > server.log 2>&1 &\nserver=$!\ntrap 'kill $server' EXIT\ntimeout 60 sh -c '{wait}'"
    if line.startswith(CHAT):
        return f"{mark}\nif {line} < /dev/null; then exit 7; fi"
    if line == "heald doctor":
        return f"{mark}\n{line} || true"  # it names what is missing on this machine
    return f"{mark}\n{line}"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_step_works(tmp_path: Path) -> None:
    home, checkout = tmp_path / "home", tmp_path / "checkout"
    home.mkdir()
    checkout.mkdir()
    (checkout / "examples").symlink_to(ROOT / "examples")
    binaries = Path(sys.executable).parent
    if not (binaries / "activate").exists():
        pytest.skip("the tests run outside of a virtual environment")
    (checkout / ".venv").symlink_to(binaries.parent)
    port = free_port()
    script = "\n".join(["set -eu", *(as_script(line, port) for line in typed(port))])
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    steps = {part.partition("\n")[0]: part.partition("\n")[2] for part in ran.stdout.split("@@ ")[1:]}
    assert "index.html" in steps["ls out"]
    printed = steps['heald run --model local/vision --workspace out "read index.html" --json'].splitlines()
    events = [json.loads(line) for line in printed]
    assert any(event["type"] == "tool_result" and event["data"]["status"] == "ok" for event in events)
    assert events[-1]["type"] == "exchange_response"
    assert "There is no model to talk to" in ran.stderr  # the chat says what it needs
    [answer] = [text for line, text in steps.items() if line.startswith("curl")]
    assert "7 to 18" in answer or "closed" in answer
    assert "event: done" in answer
