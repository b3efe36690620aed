"""Counts names that say nothing about the value they hold, and numbers without a name.

    python scripts/count_names.py                      every package, its tests and the page
    python scripts/count_names.py packages/core/src    one folder
    python scripts/count_names.py --list packages/cli  each place, for renaming
    python scripts/count_names.py --numbers packages/local/src/heald_local/see

A vague name is a variable, parameter or loop target called `found`, `each`, `one` and so on; every use of it counts.
A bare number is a numeric literal other than -1, 0, 1 and 2 inside a function. Constants of a module, default values
and subscripts have a name or a meaning by their place, and do not count.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VAGUE = frozenset({"found", "each", "one", "known", "own", "wanted", "given", "shown", "kept"})
PLAIN_NUMBERS = (-1, 0, 1, 2)
_SCRIPT_NAME = re.compile(r"(?<![\w.'\"`-])(found|each|one|known|own|wanted|given|shown|kept)(?![\w'\"`:-])")
_SCRIPT_NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`|>[^<>{}]*<", re.S
)


def vague_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each use of a vague name, with its line. Names of other libraries, such as Hypothesis' `given`, do not count."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) if name in VAGUE - imported:
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) if name in VAGUE - imported:
                yield node.lineno, name
            case _:
                continue


def bare_numbers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each numeric literal in a function that has neither a name nor a meaning by its place."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body:
                yield from _numbers_below(statement)


def _numbers_below(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return  # walked by itself
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        if node.value not in PLAIN_NUMBERS:
            yield node.lineno, repr(node.value)
        return
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.Subscript) and field == "slice":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _numbers_below(child)


def script_names(text: str) -> Iterator[tuple[int, str]]:
    """Each use of a vague name in TypeScript, found by its text."""
    blanked = _SCRIPT_NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in _SCRIPT_NAME.finditer(blanked):
        yield blanked.count("\n", 0, match.start()) + 1, match[1]


def count_file(path: Path, *, numbers: bool) -> tuple[int, list[tuple[int, str]]]:
    """The lines of a file and what was found in it."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        tree = ast.parse(text)
        places = list(bare_numbers(tree) if numbers else vague_names(tree))
    else:
        places = [] if numbers else list(script_names(text))
    return text.count("\n"), places


def source_files(folder: Path) -> list[Path]:
    files = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    skipped = {"node_modules", "dist", ".venv", "__pycache__", "built"}
    return [path for path in files if path.suffix in (".py", ".ts", ".tsx") and not skipped & set(path.parts)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Count vague names, or bare numbers, in 1,000 lines.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--numbers", action="store_true", help="count bare numbers instead of vague names")
    parser.add_argument("--list", action="store_true", help="print each place")
    parser.add_argument("--most", type=float, help="fail if a folder has more in 1,000 lines")
    options = parser.parse_args()
    folders = options.folders or [
        *sorted(ROOT.glob("packages/*/src")),
        *sorted(ROOT.glob("packages/*/tests")),
        *(ROOT / name for name in ("tests", "scripts", "benchmarks", "web/src", "clients")),
    ]
    too_many = 0
    for folder in folders:
        lines, names = 0, Counter[str]()
        for path in source_files(folder):
            count, places = count_file(path, numbers=options.numbers)
            lines += count
            names.update(name for _, name in places)
            if options.list:
                print("\n".join(f"{path}:{line} {name}" for line, name in places)) if places else None
        rate = 1000 * names.total() / max(lines, 1)
        too_many += options.most is not None and rate > options.most
        place = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
        print(f"{place}: {names.total()} in {lines} lines, {rate:.1f} in 1,000  {dict(names.most_common(5))}")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
