"""The public modules, their names, and what importing them costs."""

import importlib
import importlib.util
import re
import subprocess
import sys
from types import ModuleType

import pytest

import heald
from repository import ROOT

MODULES = (
    "heald",
    "heald.sessions",
    "heald.providers",
    "heald.plugins",
    "heald.testing",
    "heald.events",
    "heald.types",
    "heald_server",
    "heald_studio",
    "heald_check",
    "heald_evals",
    "heald_forges",
)
NAMES = ROOT / "tests" / "public_names.txt"
"""Every public name. A name that is added or removed here is a change of the interface: say so in CHANGELOG.md."""


def public_names() -> list[str]:
    return sorted(f"{module}.{name}" for module in MODULES for name in importlib.import_module(module).__all__)


def test_the_public_names_are_the_listed_ones() -> None:
    assert public_names() == NAMES.read_text("utf-8").split()


def test_every_public_name_resolves() -> None:
    for name in public_names():
        module, _, leaf = name.rpartition(".")
        assert getattr(importlib.import_module(module), leaf) is not None


@pytest.mark.parametrize("module", MODULES)
def test_an_unknown_name_is_an_attribute_error(module: str) -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = importlib.import_module(module).Nothing


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("serve", "heald_server.serve"),
        ("connect", "heald_server.connect"),
        ("dialects", "heald_server"),
        ("studio", "heald_studio"),
        ("ScriptedModel", "heald.testing.ScriptedModel"),
        ("record", "heald.providers.record"),
    ],
)
def test_a_name_of_another_module_is_named_with_its_place(name: str, place: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; use {place}$"):
        getattr(heald, name)


def test_importing_all_public_modules_loads_no_client_no_prices_no_server() -> None:
    code = f"import sys, {', '.join(MODULES)}; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "PIL", "aiohttp", "anthropic", "genai_prices", "google", "jsonschema_rs", "mcp", "numpy", "openai",
        "prompt_toolkit", "pydantic", "rich", "starlette", "uvicorn",
    }  # fmt: skip
    assert not heavy & {name.partition(".")[0] for name in loaded}


def test_docs_and_examples_import_from_public_modules_alone() -> None:
    plugins = [ROOT / "docs" / "plugins.md", *sorted((ROOT / "examples" / "plugin").rglob("*.py"))]
    others = {ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.py")} - {*plugins}
    line = re.compile(r"^\s*(from (heald(?!_plugin)[\w.]*) import .*|import (heald[\w.]*).*)$", re.M)
    for pages, limit in ((others, 10), (plugins, 20)):
        imports = {match for page in pages for match in line.findall(page.read_text("utf-8"))}
        assert {module or plain for _, module, plain in imports} <= set(MODULES)
        assert len({text for text, _, _ in imports}) <= limit
    deep = re.compile(r"\bheald\.(?:agent|commands|config|core|http1|tools|wires)\.\w+")
    strays = {f"{page.name}: {name}" for page in {*others, *plugins} for name in deep.findall(page.read_text("utf-8"))}
    assert {stray for stray in strays if "heald_cli.main" not in stray} == set()


def _reference_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_api_docs", ROOT / "scripts" / "make_api_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date() -> None:
    script = _reference_script()
    assert script.MODULES == MODULES
    assert (ROOT / "docs" / "api.md").read_text("utf-8") == script.api_page(), "run `make docs`"
