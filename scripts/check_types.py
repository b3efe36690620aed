"""Checks the types of the files that changed since they were last checked, or that import one that did.

python scripts/check_types.py [--all] [--quick] [FOLDER…]   the folders of `[tool.pyright]` in pyproject.toml, or these

pyright checks the files below a folder `src`, in its strict mode; pyrefly checks all others, the tests, in a fraction
of the time. With `--quick`, as `make test` runs it, pyrefly checks all files.

What a checker says of a file depends on the file, on all files that it imports, directly or not, on the settings and
on the installed distributions. A digest of these is stored in the user's cache once no fault is found; the file is not
checked again while its digest is there. `--all` checks every file. An import is found by its text, so a digest may
cover more files than the checker reads, never fewer.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
STORED = timedelta(days=30)
"""How long a digest is stored after its last use."""
_NAMES = r"[ \t]*(?P<names>\((?:[^)#]|\#[^\n]*)*\)|(?:[^\n\#\\]|\\\n?)*)"
_IMPORT = re.compile(rf"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+import|import)(?=[ \t(]){_NAMES}", re.MULTILINE)
_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"([.\w]+)(?:\s+as\s+\w+)?")
_PYRIGHT_FAULT = re.compile(r"^\s+(?P<path>/.*?\.pyi?):\d+:\d+ - error", re.MULTILINE)
_PYREFLY_FAULT = re.compile(r"^ERROR (?P<path>.*?\.pyi?):\d+:", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A folder with a `pyproject.toml`, whose `[tool.pyright]` names what is checked."""

    root: Path
    is_quick: bool = False
    """Whether pyrefly checks the sources too, in place of pyright."""

    def is_for_pyright(self, path: Path) -> bool:
        return not self.is_quick and "src" in path.relative_to(self.root).parts

    @property
    def settings(self) -> dict[str, Any]:
        """The tables of both checkers."""
        tools = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["tool"]
        return {"pyright": tools["pyright"], "pyrefly": tools.get("pyrefly", {})}

    def files(self, folders: Iterable[str] = ()) -> list[Path]:
        """All files that are checked, or those of them in these folders."""
        paths: set[Path] = set()
        for name in cast("list[str]", self.settings["pyright"]["include"]):
            place = self.root / name
            files = [place] if place.is_file() else [*place.rglob("*.py"), *place.rglob("*.pyi")]
            paths.update(path for path in files if not {"__pycache__", "node_modules"} & set(path.parts))
        chosen = [self.root / folder for folder in folders]
        return sorted(path for path in paths if not chosen or any(path.is_relative_to(folder) for folder in chosen))

    def digests(self) -> dict[Path, str]:
        """The digest of each file that is checked: of its text, its imports, its checker, the settings and the
        environment."""
        files = self.files()
        contents = {path: path.read_bytes() for path in files}
        imports = find_imports(files, {path: text.decode("utf-8") for path, text in contents.items()})
        own_digests = [self._own_digest(path, contents[path]) for path in files]
        environment = self._environment()
        by_closure: dict[int, str] = {}
        digests: dict[Path, str] = {}
        for number, closure in enumerate(close_imports(imports)):
            if closure not in by_closure:
                total = hashlib.sha256(environment)
                for member in _members(closure):
                    total.update(own_digests[member])
                by_closure[closure] = total.hexdigest()
            checker = b"pyright" if self.is_for_pyright(files[number]) else b"pyrefly"
            total = hashlib.sha256(own_digests[number] + by_closure[closure].encode() + checker)
            digests[files[number]] = total.hexdigest()
        return digests

    def _own_digest(self, path: Path, content: bytes) -> bytes:
        return hashlib.sha256(f"{path.relative_to(self.root).as_posix()}\0".encode() + content).digest()

    def _environment(self) -> bytes:
        forced = os.environ.get("PYRIGHT_PYTHON_FORCE_VERSION", "")
        facts = [self.settings, installed_versions(), forced, sys.version_info[:2]]
        return json.dumps(facts, sort_keys=True).encode()


@cache
def installed_versions() -> list[str]:
    """The distributions that are installed, the two checkers among them. To read their metadata takes most of a check
    in which nothing has changed."""
    described = (dist.metadata for dist in distributions())
    return sorted(f"{about['Name']} {about['Version']}" for about in described if "heald" not in about["Name"])


# --- imports ----------------------------------------------------------------------------------------------------------


def find_imports(files: Sequence[Path], texts: Mapping[Path, str]) -> list[list[int]]:
    """For each file the places of the files that it may import.

    A file below a folder `src` is known by its dotted name. Other files, those of tests, are known by their last name
    alone, because their folders are on the path."""
    modules: dict[str, list[int]] = defaultdict(list)
    loose: dict[str, list[int]] = defaultdict(list)
    for number, path in enumerate(files):
        if "src" in path.parts:
            modules[_dotted_name(path)].append(number)
        else:
            loose[path.parent.name if path.stem == "__init__" else path.stem].append(number)
    packages = {name.partition(".")[0] for name in modules}
    imports: list[list[int]] = []
    for path in files:
        places: set[int] = set()
        for module in _imported_modules(path, texts[path]):
            parts = module.split(".")
            if parts[0] in packages:
                prefixes = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
                places.update(number for prefix in prefixes for number in modules.get(prefix, ()))
            else:
                places.update(number for part in parts for number in loose.get(part, ()))
        imports.append(sorted(places))
    return imports


def _dotted_name(path: Path) -> str:
    below = path.parts[len(path.parts) - path.parts[::-1].index("src") :]
    name = ".".join([*below[:-1], path.stem])
    return name.removesuffix(".__init__")


def _imported_modules(path: Path, text: str) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        names = _WORD.findall(_COMMENT.sub("", match["names"]))
        module = match["module"]
        if module is None:
            yield from names
            continue
        if module.startswith("."):
            module = _absolute(path, module)
        yield module
        yield from (f"{module}.{name}" for name in names)


def _absolute(path: Path, module: str) -> str:
    """The dotted name of a relative import. In tests its last names are enough."""
    rest = module.lstrip(".")
    if "src" not in path.parts:
        return rest or path.parent.name
    package = _dotted_name(path).split(".")[: None if path.stem == "__init__" else -1]
    above = len(module) - len(rest) - 1
    return ".".join([*package[: len(package) - above], *filter(None, [rest])])


def close_imports(imports: Sequence[Sequence[int]]) -> list[int]:
    """For each file the set of those that it imports, directly or not, and itself, as the bits of a number."""
    closures = [1 << number for number in range(len(imports))]
    has_changed = True
    while has_changed:
        has_changed = False
        for number in reversed(range(len(imports))):
            closure = closures[number]
            for place in imports[number]:
                closure |= closures[place]
            if closure != closures[number]:
                closures[number] = closure
                has_changed = True
    return closures


def _members(closure: int) -> Iterator[int]:
    return (number for number, bit in enumerate(reversed(f"{closure:b}")) if bit == "1")


# --- what was checked before ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FaultlessFiles:
    """The digests of files without a fault, with the day of their last use."""

    path: Path

    def read(self) -> dict[str, str]:
        try:
            return cast("dict[str, str]", json.loads(self.path.read_text("utf-8")))
        except (OSError, ValueError):
            return {}

    def add(self, digests: Iterable[str]) -> None:
        today = datetime.now(UTC).date()
        days = self.read() | dict.fromkeys(digests, today.isoformat())
        oldest = (today - STORED).isoformat()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        written.write_text(json.dumps({digest: day for digest, day in days.items() if day >= oldest}), "utf-8")
        written.replace(self.path)


def cache_path() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "heald-types" / "faultless.json"


# --- the check --------------------------------------------------------------------------------------------------------


def check(project: Project, faultless: FaultlessFiles, folders: Sequence[str] = (), *, is_all: bool = False) -> int:
    """Check what is not stored as faultless. Returns 0 without a fault, 1 with one, and more if a checker failed."""
    digests = project.digests()
    files = project.files(folders)
    stored = faultless.read()
    due = [path for path in files if is_all or digests.get(path) not in stored]
    print(f"{len(due)} of {len(files)} files to check; the others have not changed since they were checked.")
    status, wrong = run_checkers(project, due) if due else (0, frozenset[Path]())
    if status in (0, 1):  # else a checker did not come to its end
        after = project.digests() if due else digests  # a file that was edited meanwhile is checked again
        unchanged = (path for path in files if path not in wrong and after.get(path) == digests.get(path))
        faultless.add(digests[path] for path in unchanged if path in digests)
    return status


def run_checkers(project: Project, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
    """Run each checker over those of these files that are for it. Returns the higher exit status and the files with an
    error."""
    for_pyright = [path for path in files if project.is_for_pyright(path)]
    for_pyrefly = [path for path in files if not project.is_for_pyright(path)]
    runs = ((run_pyrefly, for_pyrefly), (run_pyright, for_pyright))
    outcomes = [run(project.root, paths) for run, paths in runs if paths]
    wrong = frozenset(path for _, paths in outcomes for path in paths)
    return max(status for status, _ in outcomes), wrong


def run_pyright(root: Path, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
    """Run pyright over these files. Returns its exit status and the files with an error."""
    command = [str(Path(sys.executable).with_name("pyright")), "--project", str(root), "-"]
    return _run_checker(command, root, _PYRIGHT_FAULT, "\n".join(map(str, files)))


def run_pyrefly(root: Path, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
    """Run pyrefly over these files. Returns its exit status and the files with an error."""
    pyrefly = str(Path(sys.executable).with_name("pyrefly"))
    options = ["--config", "pyproject.toml", "--python-interpreter-path", sys.executable]
    options += ["--output-format", "min-text", "--summary=none"]
    names = [str(path.relative_to(root)) for path in files]
    return _run_checker([pyrefly, "check", *options, *names], root, _PYREFLY_FAULT)


def _run_checker(
    command: Sequence[str], root: Path, fault: re.Pattern[str], text: str = ""
) -> tuple[int, frozenset[Path]]:
    done = subprocess.run(command, input=text, cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    wrong = frozenset(root / match["path"] for match in fault.finditer(done.stdout))
    if done.returncode == 1 and not wrong:
        return 3, wrong
    return done.returncode, wrong


def main(arguments: Sequence[str]) -> int:
    folders = [argument for argument in arguments if not argument.startswith("--")]
    project = Project(ROOT, is_quick="--quick" in arguments)
    return check(project, FaultlessFiles(cache_path()), folders, is_all="--all" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
