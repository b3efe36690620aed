"""The tutorial, typed into one shell with an empty home: every command works, and its outcome is there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doc_pages import ROOT
from tutorial_script import as_script, free_port, typed


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
        ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, timeout=1200, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    steps = {part.partition("\n")[0]: part.partition("\n")[2] for part in ran.stdout.split("@@ ")[1:]}
    assert "index.html" in steps["ls out"]
    printed = steps['heald run --model local/vision --workspace out "read index.html" --json'].splitlines()
    events = [json.loads(line) for line in printed]
    assert any(event["type"] == "tool_result" and event["data"]["status"] == "ok" for event in events)
    assert events[-1]["type"] == "exchange_response"
    assert "No model is configured" in ran.stderr  # the chat says what it needs
    [answer] = [text for line, text in steps.items() if line.startswith("curl")]
    assert "7 to 18" in answer or "closed" in answer
    assert "event: done" in answer
