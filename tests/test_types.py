"""What a user's type checkers say of the docs, of the examples, and of a program that uses every public module.

Both checkers run once, in their strict modes, over all blocks of code. A file is named after its page and line.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest

from doc_pages import PAGES, blocks
from passed_checks import PassedChecks, digest_files
from repository import ROOT
from test_public_modules import MODULES

PROGRAM = ROOT / "tests" / "support" / "typed_program.py"
BIN = Path(sys.executable).parent
WRONG = "wrong.py"
"""A program with two wrong uses of an agent, which both checkers must find."""
_UNREAD = (
    *("claude_agent_sdk", "click", "cryptography", "httpcore2", "httpx2", "jsonschema_rs", "markdown_it", "mcp"),
    *("mcp_types", "numpy", "pydantic", "pydantic_core", "rich", "websockets", "werkzeug"),
)
"""Packages that ours import and that no page uses. mypy does not read them, which saves over a quarter of its time."""
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
    (folder / WRONG).write_text(
        "import heald\n\nagent = heald.Agent('m', output=int)\n"
        "a: str = agent.run_sync('Hi').output\nagent.run_sync('Hi', outptu=str)\n",
        "utf-8",
    )
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT), "utf-8")
    return folder


def _errors(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stdout, done.stderr
    return [line.strip().removeprefix(f"{folder}/") for line in done.stdout.splitlines() if " error: " in line]


def _pyright_errors(code: Path) -> list[str]:
    return _errors(code, str(BIN / "pyright"), "-p", str(code), "--pythonpath", sys.executable)


def _mypy_errors(code: Path) -> list[str]:
    homes = {file.parent for file in code.glob("page_*/*.py") if not file.name.startswith("line_")}
    settings = ["[mypy]", "strict = true", f"mypy_path = {':'.join(map(str, sorted(homes)))}"]
    settings += [f"[mypy-{','.join(f'{name}.*' for name in _UNREAD)}]", "follow_imports = skip"]
    (code / "mypy.ini").write_text("\n".join(settings), "utf-8")
    cache = ROOT / ".mypy_cache"  # kept between runs: reading the packages takes most of the time
    options = ["--python-executable", sys.executable, "--cache-dir", str(cache), "--explicit-package-bases"]
    return _errors(code, str(BIN / "mypy"), *options, ".")


@pytest.mark.parametrize("errors_of", [_pyright_errors, _mypy_errors])
def test_the_only_faults_are_those_of_a_wrong_use(code: Path, errors_of: Callable[[Path], list[str]]) -> None:
    """One run for all blocks, because the packages take most of the time to read."""
    digest = _digest(code, errors_of.__name__)
    passed = PassedChecks("programs")
    if digest in passed:
        pytest.skip("neither the programs nor the packages have changed since they passed")
    errors = errors_of(code)
    assert [line for line in errors if not line.startswith(WRONG)] == []
    assert {line.split(":")[1] for line in errors} == {"4", "5"}
    if digest == _digest(code, errors_of.__name__):  # nobody has edited a package meanwhile
        passed.add(digest)


def _digest(code: Path, checker: str) -> str:
    """The digest of the programs, of our packages and of the installed ones."""
    programs = [f"{path.relative_to(code)}\0{path.read_text('utf-8')}" for path in sorted(code.rglob("*.py"))]
    installed = sorted(f"{dist.name} {dist.version}" for dist in distributions())
    return digest_files(ROOT.glob("packages/*/src/**/*.py"), checker, sys.version, *programs, *installed)


def test_the_program_uses_every_public_module() -> None:
    text = PROGRAM.read_text("utf-8")
    assert [module_name for module_name in MODULES if f"{module_name}." not in text] == []
