"""The formatters that a folder configures: which one formats a file, and its output."""

import asyncio
import os
import tomllib
from collections.abc import Callable, Sequence

import msgspec

from heald.tools.diagnostics.confined_program import ConfinedProgram
from heald.tools.diagnostics.installed_programs import find_program
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault

_SECONDS = 15.0
_SCRIPTS = frozenset(
    {"js", "jsx", "mjs", "cjs", "ts", "tsx", "css", "scss", "less", "html", "vue", "json", "yaml", "yml"}
)
_C_FILES = frozenset({"c", "h", "cc", "cpp", "cxx", "hpp", "hh"})
_PRETTIER_FILES = (
    *(".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".prettierrc.toml"),
    *(".prettierrc.js", ".prettierrc.cjs", ".prettierrc.mjs", "prettier.config.js", "prettier.config.mjs"),
)


class Formatter(msgspec.Struct, frozen=True):
    """A program that formats the text on its standard input, and how a folder asks for it."""

    name: str
    suffixes: frozenset[str]
    arguments: Callable[[str], Sequence[str]]
    """Returns the arguments for a file of this path."""
    is_configured: Callable[[str], bool]
    """Returns whether a folder is configured for it."""


FORMATTERS = (
    Formatter(
        "ruff",
        frozenset({"py", "pyi"}),
        lambda path: ("format", "--no-cache", "--stdin-filename", path, "-"),
        lambda folder: _has_file(folder, "ruff.toml", ".ruff.toml") or _has_tool(folder, "ruff"),
    ),
    Formatter(
        "black",
        frozenset({"py", "pyi"}),
        lambda path: ("-q", "--stdin-filename", path, "-"),
        lambda folder: _has_tool(folder, "black"),
    ),
    Formatter(
        "prettier",
        _SCRIPTS,
        lambda path: ("--stdin-filepath", path),
        lambda folder: _has_file(folder, *_PRETTIER_FILES) or _names_prettier(folder),
    ),
    Formatter("gofmt", frozenset({"go"}), lambda _: (), lambda folder: _has_file(folder, "go.mod")),
    Formatter(
        "rustfmt", frozenset({"rs"}), lambda _: (), lambda folder: _has_file(folder, "rustfmt.toml", ".rustfmt.toml")
    ),
    Formatter(
        "clang-format",
        _C_FILES,
        lambda path: (f"--assume-filename={path}",),
        lambda folder: _has_file(folder, ".clang-format", "_clang-format"),
    ),
)


def find_formatter(root: str, path: str) -> tuple[Formatter, str] | None:
    """Return the formatter that the folder of a file, or one above it, is configured for, with its program."""
    suffix = path.rpartition(".")[2].lower()
    candidates = [formatter for formatter in FORMATTERS if suffix in formatter.suffixes]
    if not candidates:
        return None
    parts = path.split("/")[:-1]
    for depth in range(len(parts), -1, -1):
        folder = os.path.join(root, *parts[:depth])
        for formatter in candidates:
            if formatter.is_configured(folder):
                program = find_program(formatter.name)
                return (formatter, program) if program is not None else None
    return None


async def format_text(
    sandbox: Sandbox, root: str, path: str, formatter: Formatter, program: str, text: str
) -> str | None:
    """Return the text as the formatter writes it; None if it fails."""
    try:
        running = await ConfinedProgram.start(sandbox, root, [program, *formatter.arguments(path)])
    except ToolFault:
        return None
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await running.process.communicate(text.encode("utf-8", "surrogatepass"))
    except TimeoutError:
        return None
    finally:
        await asyncio.shield(running.stop())
    if running.process.returncode != 0 or (text.strip() and not output.strip()):
        return None
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _has_file(folder: str, *names: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)


def _has_tool(folder: str, name: str) -> bool:
    """Whether `pyproject.toml` has a table for a tool."""
    try:
        with open(os.path.join(folder, "pyproject.toml"), "rb") as file:
            return name in tomllib.load(file).get("tool", {})
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError, TypeError):
        return False


def _names_prettier(folder: str) -> bool:
    """Whether `package.json` has settings of prettier."""
    try:
        with open(os.path.join(folder, "package.json"), "rb") as file:
            package: object = msgspec.json.decode(file.read(1_000_000))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(package, dict) and "prettier" in package
