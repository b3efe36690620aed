"""The examples run, without a key and without a network, and say what they are meant to say."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SAID = {
    "tool.py": "take a warm coat",
    "console.py": "completed after 2 turns",
    "metrics.py": "tools.error 1",
    "approval.py": "there: ['notes.txt']",
    "provider.py": "Hello from a server of your own.",
}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert SAID[name] in done.stdout
