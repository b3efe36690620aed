"""What a REPL and an editor show: `dir`, `help`, `hasattr`, `from heald import *`, and docstrings."""

import ast
import importlib
import inspect
import pydoc
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

import heald
from test_public_modules import MODULES

CORE = [name for name in MODULES if name.startswith("heald") and not name.startswith("heald_")]
_WITHOUT_MCP = """
import importlib, importlib.util, pydoc
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "mcp" else find_spec(name, package)
import heald
for module_name in {module_names}:
    module = importlib.import_module(module_name)
    assert all(hasattr(module, name) for name in dir(module)), module_name
    exec(f"from {{module_name}} import *", {{}})
pydoc.render_doc(heald)
try:
    heald.McpServers()
except heald.ConfigurationError as error:
    print(error)
print(hasattr(heald.McpServers, "connect"), hasattr(heald, "Nothing"), heald.McpServers.__doc__)
try:
    raise heald.MissingKey("x")
except heald.NeedsSignIn:
    pass
except heald.HealdError:
    print("caught")
"""


@pytest.mark.parametrize("module_name", MODULES)
def test_dir_lists_every_public_name_and_each_is_there(module_name: str) -> None:
    module = importlib.import_module(module_name)
    assert set(module.__all__) <= set(dir(module))
    assert not [name for name in dir(module) if not hasattr(module, name)]


def test_dir_lists_names_that_were_not_used_yet() -> None:
    code = "import heald; print('MissingKey' in dir(heald), 'heald.agent.agent' in __import__('sys').modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_package_that_is_missing_is_an_error_only_when_it_is_used() -> None:
    code = textwrap.dedent(_WITHOUT_MCP).format(module_names=CORE)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentence, looks, caught = done.stdout.strip().splitlines()
    assert "need the package mcp, which is missing: pip install" in sentence
    assert looks == f"False False {sentence}"
    assert caught == "caught"


def test_help_works_for_every_public_name() -> None:
    """Once for what several modules export."""
    values = {id(value): value for name in MODULES for value in _public_values(name) if callable(value)}
    assert all(pydoc.render_doc(value) for value in values.values())


def _public_values(module_name: str) -> list[Any]:
    module = importlib.import_module(module_name)
    return [getattr(module, name) for name in module.__all__]


@pytest.mark.parametrize("module_name", MODULES)
def test_every_public_class_and_function_has_a_docstring_of_its_own(module_name: str) -> None:
    module = importlib.import_module(module_name)
    undocumented: list[str] = []
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, type) and value.__module__.startswith("heald") and not vars(value).get("__doc__"):
            undocumented.append(name)
        if inspect.isfunction(value) and not value.__doc__:
            undocumented.append(name)
    assert undocumented == []


def test_every_parameter_of_an_agent_is_described() -> None:
    parameters = [name for name in inspect.signature(heald.Agent.__init__).parameters if name != "self"]
    described = heald.Agent.__doc__ or ""
    assert [name for name in parameters if f"\n        {name}: " not in described] == []


def test_help_of_a_tool_says_what_a_tool_is() -> None:
    assert (inspect.getdoc(heald.Tool) or "").startswith("A tool that a model may call.")


# --- what a public signature names is public -------------------------------------------------------------------------

_MADE_BY_HEALD = {
    "Changes.__init__",
    "Decoder.__init__",
    "AgentStream.__init__",
    "Invocation",
    "Sandbox.prepare",
    "ServerContext",
    "Session.__init__",
    "ToolContext.__init__",
}
"""What programs do not call themselves."""
_PRIVATE = {"DepsT", "OutputT", "Parameters", "RequestT", "ReturnT", "T", "Function", "Names"}
"""Type parameters, a plain callable, and the list of a class that has a method `list`."""


@pytest.mark.parametrize("module_name", ["heald", "heald.sessions", "heald.providers", "heald.testing"])
def test_what_a_public_signature_names_is_public(module_name: str) -> None:
    public = {name for module in MODULES for name in importlib.import_module(module).__all__}
    private: set[str] = set()
    module = importlib.import_module(module_name)
    for export in module.__all__:
        value = getattr(module, export)
        if isinstance(value, type) or inspect.isfunction(value):
            private |= {f"{place}: {name}" for place, name in _private_names(export, value, public)}
    assert private == set()


def _private_names(export: str, value: Any, public: set[str]) -> set[tuple[str, str]]:
    kinds: Sequence[Any] = inspect.getmro(value) if isinstance(value, type) else [value]
    names: set[tuple[str, str]] = set()
    for kind in kinds:
        module = inspect.getmodule(kind)
        if module is None or not module.__name__.startswith("heald"):
            continue
        for place, annotation in _annotations(export, _definition(kind)):
            if not {export, place} & _MADE_BY_HEALD:
                names |= {(place, name) for name in _names(annotation) if _is_of_heald(module.__name__, name)}
    return {(place, name) for place, name in names if name not in public | _PRIVATE}


@cache
def _module_tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


@cache
def _definition(kind: Any) -> ast.stmt:
    """The definition of a class or a function. `inspect` would parse the module of a class for each of its classes."""
    if isinstance(kind, type):
        for node in _module_tree(kind.__module__).body:
            if isinstance(node, ast.ClassDef) and node.name == kind.__qualname__:
                return node
    return ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]


def _annotations(export: str, node: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The annotations of a function, or of the fields and the public methods of a class."""
    if isinstance(node, ast.ClassDef):
        fields = [child for child in node.body if isinstance(child, ast.AnnAssign)]
        annotations = [(export, field.annotation) for field in fields if not ast.unparse(field.target).startswith("_")]
        methods = [child for child in node.body if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)]
        for method in methods:
            if method.name == "__init__" or not method.name.startswith("_"):
                annotations += _annotations(f"{export}.{method.name}", method)
        return annotations
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    written = [parameter.annotation for parameter in parameters if parameter is not None] + [node.returns]
    return [(export, annotation) for annotation in written if annotation is not None]


def _names(annotation: ast.expr) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return names


@cache
def _is_of_heald(module: str, name: str) -> bool:
    """Whether a name in a module comes from Heald, and not from another package."""
    for node in ast.walk(_module_tree(module)):
        if isinstance(node, ast.ImportFrom) and name in {imported.asname or imported.name for imported in node.names}:
            return (node.module or "").startswith("heald")
        if isinstance(node, ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign) and name in {ast.unparse(target) for target in node.targets}:
            return True
    return False
