"""What a user's type checkers say of the docs, of the examples, and of a program that uses every public module.

Both checkers run once, in their strict modes, over all blocks of code. A file is named after its page and line.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doc_pages import PAGES, blocks
from repository import ROOT
from test_doors import DOORS

PROGRAM = ROOT / "tests" / "support" / "typed_program.py"
BIN = Path(sys.executable).parent
_PYRIGHT = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "venvPath": str(ROOT), "venv": ".venv"}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all blocks, each under the name that its page gives it or under its line."""
    folder = tmp_path_factory.mktemp("typed")
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python":
                home = folder / f"page_{page.stem.lower().replace('-', '_')}"
                home.mkdir(exist_ok=True)
                (home / (block.file or f"line_{block.line}.py")).write_text(block.text, "utf-8")
    (folder / "examples").mkdir()
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, folder / "examples" / example.name)
    shutil.copy(PROGRAM, folder)
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT), "utf-8")
    return folder


def _errors(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stdout, done.stderr
    return [line.strip().removeprefix(f"{folder}/") for line in done.stdout.splitlines() if " error: " in line]


def test_pyright_finds_no_fault(code: Path) -> None:
    assert _errors(code, str(BIN / "pyright"), "-p", str(code), "--pythonpath", sys.executable) == []


def test_mypy_finds_no_fault(code: Path) -> None:
    homes = {file.parent for file in code.glob("page_*/*.py") if not file.name.startswith("line_")}
    settings = ["[mypy]", "strict = true", f"mypy_path = {':'.join(map(str, sorted(homes)))}"]
    (code / "mypy.ini").write_text("\n".join(settings), "utf-8")
    cache = ROOT / ".mypy_cache"  # kept between runs: reading the packages takes most of the time
    options = ["--python-executable", sys.executable, "--cache-dir", str(cache), "--explicit-package-bases"]
    assert _errors(code, str(BIN / "mypy"), *options, ".") == []


def test_a_wrong_use_is_a_fault_for_both(code: Path) -> None:
    wrong = code / "wrong.py"
    wrong.write_text(
        "import heald\n\nagent = heald.Agent('m', output=int)\n"
        "a: str = agent.run_sync('Hi').output\nagent.run_sync('Hi', outptu=str)\n",
        "utf-8",
    )
    try:
        options = ["--python-executable", sys.executable, "--cache-dir", str(ROOT / ".mypy_cache"), "--strict"]
        for command in (["pyright", "--pythonpath", sys.executable], ["mypy", *options]):
            lines = {line.split(":")[1] for line in _errors(code, str(BIN / command[0]), *command[1:], wrong.name)}
            assert lines == {"4", "5"}
    finally:
        wrong.unlink()


def test_the_program_uses_every_public_module() -> None:
    text = PROGRAM.read_text("utf-8")
    assert [door for door in DOORS if f"{door}." not in text] == []
