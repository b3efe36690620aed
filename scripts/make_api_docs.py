"""Writes docs/api.md, the reference of the public names, from the modules. `make docs` runs it; a test sees to that.

Signatures and docstrings are read from the source, so that every version of Python writes the same page.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

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
PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"

_HEAD = """# API reference

This page is made from the code by `make docs`. It lists every public name. All other names are private and may change
without notice. Import from these modules only: {modules}. `import heald` gives access to those of `heald`.
"""
_WIDTH = 100
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def api_page() -> str:
    listed = ", ".join(f"[`{module_name}`](#{module_name.replace('.', '')})" for module_name in MODULES)
    return "\n".join([_HEAD.format(modules=listed), *(_describe_module(name) for name in MODULES)])


def _describe_module(name: str) -> str:
    module = importlib.import_module(name)
    doc = inspect.getdoc(module) or ""
    if name == "heald.events":
        names = ", ".join(f"`{export}`" for export in sorted(module.__all__))
        return f"## {name}\n\n{doc}\n\n{names}. The fields of each are in [events.md](events.md).\n"
    named = {export: getattr(module, export) for export in sorted(module.__all__, key=str.lower)}
    entries = (_entry(module, export, value) for export, value in named.items() if not isinstance(value, ModuleType))
    return "\n".join([f"## {name}\n\n{doc}\n", *entries])


def _entry(module: ModuleType, name: str, value: Any) -> str:
    node = _definition(value)
    if node is None:
        return _alias(module, name) or f"### {name}\n\nA `{type(value).__name__}`.\n"
    doc = _described(ast.get_docstring(node))
    if isinstance(node, ast.ClassDef):
        line = _code(f"class {name}", _class_parameters(node))
        parts = [f"### {name}\n", line, f"{doc}\n" if doc else "", _members(value)]
        return "\n".join(part for part in parts if part)
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"### {name}\n\n{_code(f'{keyword} {name}', _parameters(node), _returns(node))}\n{doc}\n"


def _alias(module: ModuleType, name: str) -> str | None:
    """The entry of a name that is assigned: a union of types, or a constant."""
    imports = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom))
    home = next((node.module for node in imports if name in {imported.name for imported in node.names}), None)
    body = ast.parse(inspect.getsource(importlib.import_module(home))).body if home is not None else []
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            doc = following.value if isinstance(following, ast.Expr) else None
            text = str(doc.value) if isinstance(doc, ast.Constant) else ""
            return (
                f"### {name}\n\n```text\n{name} = {ast.unparse(node.value)}\n```\n\n{_one_line(text)}".rstrip() + "\n"
            )
    return None


def _definition(value: Any) -> ast.ClassDef | _Function | None:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return None
    return _definitions(value.__module__).get(value.__name__)


@cache
def _definitions(module: str) -> dict[str, ast.ClassDef | _Function]:
    source = inspect.getsource(importlib.import_module(module))
    definitions: dict[str, ast.ClassDef | _Function] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            definitions[node.name] = node  # of overloads, the implementation comes last
    return definitions


def _described(doc: str | None) -> str:
    """A docstring as one line, and its parameters as a list."""
    text, _, parameters = (doc or "").partition("\nArgs:\n")
    items = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", parameters, re.M)
    listed = "".join(f"\n- `{name}`: {_one_line(meaning)}" for name, meaning in items)
    return _one_line(text) + (f"\n{listed}" if listed else "")


def _one_line(doc: str | None) -> str:
    return " ".join((doc or "").split())


def _code(head: str, parameters: list[str] | None, returns: str = "") -> str:
    if parameters is None:
        return f"```text\n{head}\n```\n"
    line = f"{head}({', '.join(parameters)}){returns}"
    if len(line) > _WIDTH:
        line = f"{head}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + f"){returns}"
    return f"```text\n{line}\n```\n"


def _returns(node: _Function) -> str:
    return f" -> {_annotation(node.returns)}" if node.returns else ""


def _annotation(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _parameters(node: _Function) -> list[str]:
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    parameters = [_parameter(argument, default) for argument, default in zip(plain, defaults, strict=True)]
    if plain and plain[0].arg in ("self", "cls"):
        parameters.pop(0)
    if arguments.vararg is not None:
        parameters.append("*" + _parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parameters.append("*")
    parameters += [
        _parameter(argument, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg is not None:
        parameters.append("**" + _parameter(arguments.kwarg, None))
    return parameters


def _parameter(node: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {_annotation(node.annotation)}" if node.annotation else ""
    return f"{node.arg}{annotation}" + (f" = {ast.unparse(default)}" if default is not None else "")


def _class_parameters(node: ast.ClassDef) -> list[str] | None:
    bases = {ast.unparse(base) for base in node.bases}
    if any(base.endswith(("Protocol", "Error")) for base in bases):
        return None
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            return _parameters(child)
    fields = [child for child in node.body if isinstance(child, ast.AnnAssign) and not _is_private(child)]
    return [_field(field) for field in fields] or None


def _is_private(field: ast.AnnAssign) -> bool:
    return ast.unparse(field.target).startswith("_") or "ClassVar" in ast.unparse(field.annotation)


def _field(field: ast.AnnAssign) -> str:
    default = f" = {ast.unparse(field.value)}" if field.value is not None else ""
    return f"{ast.unparse(field.target)}: {_annotation(field.annotation)}{default}"


def _members(kind: type) -> str:
    """The public methods and properties of a class, inherited ones included."""
    methods: dict[str, _Function] = {}
    for base in reversed(kind.__mro__):
        node = _definition(base) if base.__module__.startswith(("heald.", "heald_")) else None
        if isinstance(node, ast.ClassDef):
            methods |= {method.name: method for method in node.body if isinstance(method, _Function)}
    return "".join(_member(methods[name]) for name in sorted(methods) if not name.startswith("_"))


def _member(node: _Function) -> str:
    doc = _one_line(ast.get_docstring(node))
    signature = node.name
    if not any(ast.unparse(decorator).endswith("property") for decorator in node.decorator_list):
        prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        signature = f"{prefix}{node.name}({', '.join(_parameters(node))}){_returns(node)}"
    return f"- `{signature}`" + (f": {doc}" if doc else "") + "\n"


def main() -> None:
    PAGE.write_text(api_page(), "utf-8")


if __name__ == "__main__":
    main()
