"""README and docs: every block of code is tried.

Python runs. Of commands it is checked that the command, its options and its files are there; those of the tutorial run
in `test_tutorial_typed.py`. TOML is given to Heald as its settings, JSON is read.
"""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import heald_evals
from doc_commands import commands, lines, wrong_with
from doc_pages import PAGES, ROOT, Block, blocks, name_of
from warm_process import start_warm, warm_host

LANGUAGES = frozenset(
    {"python", "console", "toml", "json", "html", "ini", "nginx", "caddyfile", "haproxy", "text", "yaml"}
)
LOADED = (
    *(
        "aiohttp",
        "mcp",
        "re2",
        "starlette.applications",
        "uvicorn.lifespan.on",
        "heald.agent.agent",
        "heald_cli.commands.models",
    ),
    *(
        "heald.providers.scripted",
        "heald.providers.session",
        "heald_server.app",
        "heald.sessions.sqlite",
        "heald.testing",
    ),
    *("heald.tools.families", "heald.tools.function_tools", "heald.wires.chat"),
)
"""What most blocks load. `import heald` finds all of it by itself, so that a block which ran here runs anywhere."""
_CASES = "# test_"
"""The beginning of a TOML file of cases, for `heald test`."""
_LONGEST = 300

ALL = [block for page in PAGES for block in blocks(page)]
Folders = dict[Path, Path]


def _of(language: str) -> list[object]:
    of_language = [block for block in ALL if block.language == language and not _is_project(block)]
    return [pytest.param(block, id=block.place) for block in of_language]


def _is_project(block: Block) -> bool:
    """Whether it is a part of a `pyproject.toml` or a file of cases, not settings of Heald."""
    return block.text.startswith(("# pyproject.toml", _CASES))


@pytest.fixture(scope="module")
def folders() -> Folders:
    """One folder a page: what a block leaves there, the next one finds."""
    return {}


@pytest.fixture
def folder(block: Block, folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if block.page not in folders:
        folders[block.page] = tmp_path_factory.mktemp(block.page.stem)
    for earlier in blocks(block.page):  # also where a block is tried alone
        if earlier.file and earlier.line <= block.line:
            (folders[block.page] / earlier.file).write_text(earlier.text, "utf-8")
    return folders[block.page]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_state_what_they_are(page: Path) -> None:
    strange = [block.place for block in blocks(page) if block.language not in LANGUAGES]
    assert not strange, f"use one of {', '.join(sorted(LANGUAGES))}"


@pytest.mark.parametrize("block", _of("python"))
async def test_the_block_runs(block: Block, folder: Path) -> None:
    code = f"import runpy; runpy.run_path({block.file!r}, run_name='__main__')" if block.file else block.text
    ended, errors = await _run(folder, code=code)
    assert ended == 0, f"{block.place}\n{errors}"


@pytest.mark.parametrize("block", _of("console"))
def test_the_commands_are_there(block: Block) -> None:
    typed = lines(block)
    assert typed, "a console block shows what is typed, behind '$ '"
    files = {other.file for other in blocks(block.page) if other.file}
    wrong = [wrong for line in typed for words in commands(line) if (wrong := wrong_with(words, files))]
    assert not wrong, f"{block.place}: {'; '.join(wrong)}"


def test_the_toml_of_other_files_can_be_read() -> None:
    for block in ALL:
        if block.language == "toml" and block.text.startswith("# pyproject.toml"):
            assert "project" in tomllib.loads(block.text)


def test_the_cases_are_ones_that_heald_accepts(tmp_path: Path) -> None:
    files = [block for block in ALL if block.language == "toml" and block.text.startswith(_CASES)]
    assert files
    for block in files:
        (tmp_path / "cases.toml").write_text(block.text, "utf-8")
        assert heald_evals.load_evaluations(tmp_path / "cases.toml")[0].cases, block.place


@pytest.mark.parametrize("block", _of("toml"))
async def test_the_settings_are_ones_that_heald_accepts(block: Block, tmp_path: Path) -> None:
    tomllib.loads(block.text)
    settings = tmp_path / ".config" / "heald" / "heald.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(block.text, "utf-8")
    (tmp_path / "house-rules.md").write_text("Answer in English.\n", "utf-8")
    ended, errors = await _run(tmp_path, "models", "--json")
    assert ended == 0, f"{block.place}\n{errors}"


@pytest.mark.parametrize("block", _of("json"))
def test_the_json_can_be_read(block: Block) -> None:
    try:
        json.loads(block.text)
    except ValueError:
        for value in _values(block.text):
            json.loads(value)


def _values(text: str) -> list[str]:
    """Several values, each beginning at the start of a line."""
    return [value for value in re.split(r"^(?=[{\[])", text, flags=re.M) if value.strip()]


async def _run(folder: Path, *words: str, code: str | None = None) -> tuple[int | None, str]:
    """Run a command or Python as a stranger would: an empty home, no keys, and the programs of this environment.

    Warnings are errors. Returns the exit code, and what was written to standard error."""
    variables = {
        name: value for name, value in os.environ.items() if not name.endswith("_API_KEY") and name != "HEALD_TOKEN"
    }
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "HEALD_DATA": str(folder / ".data")}
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    process = await start_warm(
        warm_host(*LOADED, strict=True),
        *words,
        folder=folder,
        environment=variables | home | path,
        said=None,
        own_errors=True,
        code=code,
    )
    try:
        async with asyncio.timeout(_LONGEST):
            _, errors = await process.communicate()
    finally:
        process.kill()
    return process.returncode, errors.decode()


def _script(name: str, folder: str = "scripts") -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_event_reference_is_made_from_the_types_of_today() -> None:
    made = _script("make_event_docs")
    assert (ROOT / "docs" / "events.md").read_text("utf-8") == made.events_page(), "run make docs"
    assert (ROOT / "docs" / "events.schema.json").read_text("utf-8") == made.schema_text(), "run make docs"


def test_the_tables_of_parameters_are_those_of_the_endpoints() -> None:
    made = _script("make_parameter_docs")
    assert made.PAGE.read_text("utf-8") == made.page(), "run make docs"


def test_the_figures_of_the_readme_are_those_that_were_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.chart", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_drawing_of_the_packages_is_that_of_today() -> None:
    made = _script("draw_packages")
    assert {folder for row in made.ROWS for folder in row} == {path.name for path in (ROOT / "packages").iterdir()}
    assert (ROOT / "docs" / "images" / "packages.svg").read_text("utf-8") == made.draw(), "run make docs"


@pytest.mark.parametrize("script", ["make_event_types", "make_api_types"])
def test_the_types_of_the_client_are_made_from_the_schema_of_today(script: str) -> None:
    made = _script(script)
    assert made.TYPES.read_text("utf-8") == made.types_text(), "run make docs"


def test_the_union_of_typed_events_holds_every_event_of_today() -> None:
    made = _script("make_event_union")
    assert made.UNION.read_text("utf-8") == made.union_text(), "run make docs"
