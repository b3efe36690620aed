"""The install commands that docs, sources and programs print, as the requirements that each names."""

import ast
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from repository import ROOT

SOURCES = tuple(sorted(ROOT.glob("packages/*/src/**/*.py")))
ADVICE = ROOT / "packages" / "core" / "src" / "heald" / "core" / "distribution.py"
"""The only source that may hold the text of an install command."""
PAGES = tuple(
    sorted(
        page
        for pattern in ("*.md", "docs/*.md", "packages/*/README.md", "examples/**/*.md", "clients/*/README.md")
        for page in ROOT.glob(pattern)
        if page.name != "CHANGELOG.md" and "node_modules" not in page.parts
    )
)
_COMMAND = re.compile(r"(?:\bpip|\bpipx|\buv pip|\buv tool) install\s+(?P<arguments>[^`\n]*)|\buvx\s+(?P<tool>[\w-]+)")
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[<>=!~]=?[\w.*]+)?")


class InstallLine(NamedTuple):
    """One install command and where it stands."""

    place: str
    requirements: tuple[str, ...]


def page_lines() -> list[InstallLine]:
    """The install commands of README and docs."""
    lines: list[InstallLine] = []
    for page in PAGES:
        for number, text in enumerate(page.read_text("utf-8").splitlines(), 1):
            place = f"{page.relative_to(ROOT).as_posix()}:{number}"
            lines += [InstallLine(place, requirements) for requirements in find_requirements(text)]
    return lines


def advised_lines() -> list[InstallLine]:
    """The install commands that the sources make with `install_advice`, where its arguments are written out."""
    lines: list[InstallLine] = []
    for path in SOURCES:
        text = path.read_text("utf-8")
        if "install_advice" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "install_advice":
                extras = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if len(extras) == len(node.args):
                    place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
                    requirement = f"heald[{','.join(map(str, extras))}]" if extras else "heald"
                    lines.append(InstallLine(place, (requirement,)))
    return lines


def written_out() -> list[str]:
    """The places of sources that write an install command out instead of calling `install_advice`."""
    places: list[str] = []
    for path in SOURCES:
        text = path.read_text("utf-8")
        if path != ADVICE and "pip install" in text:
            texts = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            name = path.relative_to(ROOT).as_posix()
            places += [f"{name}:{node.lineno}" for node in texts if "pip install" in str(node.value)]
    return places


def find_requirements(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the requirements of each install command in a text. Options are left out."""
    for match in _COMMAND.finditer(text):
        if match["tool"]:
            yield (match["tool"],)
        elif requirements := tuple(_read_arguments(match["arguments"])):
            yield requirements


def _read_arguments(text: str) -> Iterator[str]:
    """The requirements at the start of a text. A sentence that goes on after them ends them."""
    lexer = shlex.shlex(text, posix=False, punctuation_chars="&|;()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    tokens = _tokens(lexer)
    for position, token in enumerate(token for token in tokens if not token.startswith("-")):
        bare = token.strip("'\".,:") if not token.strip("'\"").startswith(".") else token.strip("'\"")
        if position and not token.strip("'\".,:"):  # the full stop of the sentence
            return
        is_requirement = _REQUIREMENT.fullmatch(bare) is not None
        if not is_path(bare) and not (is_requirement and (position == 0 or token[0] in "'\"" or "-" in bare)):
            return
        yield bare


def _tokens(lexer: shlex.shlex) -> Iterator[str]:
    try:
        yield from (token for token in iter(lexer.get_token, lexer.eof) if token)
    except ValueError:  # an apostrophe of the sentence around the command
        return


def is_path(requirement: str) -> bool:
    return "/" in requirement or requirement.startswith(".") or requirement.endswith(".whl")


def path_exists(requirement: str) -> bool:
    """Whether a path of an install command is a package of the checkout, or the wheels that `make dist` builds."""
    text = requirement.partition("[")[0].removeprefix("./").rstrip("/")
    if text.startswith("dist/"):
        return True
    for brace in re.findall(r"\{([^}]*)\}", text):
        return all(path_exists(text.replace(f"{{{brace}}}", name)) for name in brace.split(","))
    return text not in ("", ".") and any((path / "pyproject.toml").is_file() for path in ROOT.glob(text))
