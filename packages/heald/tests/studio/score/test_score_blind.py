"""Each kind of element removed from a page in a real browser: the score falls by at least the area that changed."""

import subprocess
import sys
from pathlib import Path

import pytest

from needed_programs import needs_chromium
from repository import ROOT

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not (ROOT / "benchmarks/blind.py").is_file(), reason="only in a checkout"),
]

PAGE = """<!doctype html><html lang="en"><head><title>Harbour</title><style>
body { margin: 0; font: 16px/1.5 sans-serif; color: #102030; background: #f4efe6 }
main { padding: 24px }
.card { width: 300px; height: 120px; background: #fff; border: 1px solid #ddd; border-radius: 12px }
.badge { padding: 2px 8px; background: #d9f2e3; border-radius: 9px } code { background: #eee }
td { border: 1px solid #e5e7eb; padding: 8px }
</style></head><body><main><h1>Harbour of Oslo</h1>
<img alt="Boats" width="600" height="200" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='600'
 height='200'%3E%3Crect width='600' height='200' fill='%23468'/%3E
 %3Ccircle cx='300' cy='90' r='70' fill='%23fc6'/%3E%3C/svg%3E">
<div class="card"><svg width="24" height="24"><path d="M4 12l6 6L20 6" fill="none" stroke="#1f7a3d"
 stroke-width="3"/></svg>
<p>Boats leave every <b>twenty</b> minutes from <code>pier 4</code>.</p></div>
<table><tr><td>Ferry</td><td><span class="badge">On time</span></td></tr><tr><td>Yacht</td><td>Late</td></tr></table>
</main></body></html>
"""


def test_nothing_that_is_removed_is_overlooked(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/harbour.html").write_text(PAGE, "utf-8")
    command = [sys.executable, "-m", "benchmarks.blind", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = ("cards", "badges", "table borders", "hero picture", "background", "icons", "line of text", "bold")
    assert [kind for kind in kinds if f" {kind} " not in done.stdout] == []
    assert done.stdout.endswith("changes: 8, pages: 1, overlooked: 0\n")
