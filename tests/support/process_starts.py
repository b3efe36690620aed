"""Finds every place in the source that starts a program."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from source_tree import modules

_MODULES = {
    "subprocess": {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {
        *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"),
        *(f"exec{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"spawn{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    },
    "pty": {"spawn", "fork"},
    "webbrowser": {"open", "open_new", "open_new_tab", "get"},
    "anyio": {"run_process", "open_process"},
    "multiprocessing": {"Process", "Pool", "get_context", "Manager"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "asyncio.subprocess": {"create_subprocess_exec", "create_subprocess_shell"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "claude_agent_sdk": {"ClaudeSDKClient", "query"},
    "mcp.client.stdio": {"stdio_client"},
    "_posixsubprocess": {"fork_exec"},
}
"""The functions that start a program, by their module."""
_METHODS = {"subprocess_exec", "subprocess_shell"}
"""Methods of an event loop that do."""
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t].*", re.MULTILINE)


@cache
def process_starts() -> frozenset[str]:
    """Return the full names of all functions that start a program."""
    texts = {module: path.read_text("utf-8") for module, path in modules().items()}
    candidates = {module: ast.parse(text) for module, text in texts.items() if may_start(text)}
    return frozenset(start for module, source in candidates.items() for start in starts_of(module, source))


def may_start(text: str) -> bool:
    """Whether a source can start a program, by its words: only those that can are parsed."""
    imports = " ".join(_IMPORT.findall(text))
    return any(method in text for method in _METHODS) or any(
        module.partition(".")[0] in imports and any(function in text for function in functions)
        for module, functions in _MODULES.items()
    )


def starts_of(module: str, source: ast.Module) -> Iterator[str]:
    """Yield the full name of each function of a module that starts a program, once for each start."""
    names: dict[str, str] = {}
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    yield from _walk(source, module, names)


def _walk(node: ast.AST, place: str, names: dict[str, str]) -> Iterator[str]:
    types = [getattr(node, field, None) for field in ("annotation", "returns")]
    for child in ast.iter_child_nodes(node):
        if child in types or isinstance(child, ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.Subscript) and _resolve(child.value, names) is not None:
            continue  # a type, such as Popen[bytes]
        if isinstance(child, ast.Name | ast.Attribute) and _is_start(child, names):
            yield place
        inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        yield from _walk(child, f"{place}.{inner}" if inner else place, names)


def _is_start(node: ast.expr, names: dict[str, str]) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in _METHODS:
        return True
    return _resolve(node, names) is not None


def _resolve(node: ast.expr, names: dict[str, str]) -> str | None:
    """Return the full name of a function that starts a program, if the expression is one."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    module, _, name = ".".join([names[node.id], *reversed(parts)]).rpartition(".")
    return f"{module}.{name}" if name in _MODULES.get(module, ()) else None
