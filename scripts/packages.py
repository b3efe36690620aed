"""The distributions of the workspace and what each rests on, as their `pyproject.toml` files declare it.

python scripts/packages.py               all packages, the lowest layer first, with what each rests on
python scripts/packages.py folders       their folders, in the same order
python scripts/packages.py tests studio  the test folders of a package and of all that it rests on
python scripts/packages.py code studio   their folders of sources and tests
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "packages"


@dataclass(frozen=True)
class Package:
    """One distribution of the workspace."""

    name: str
    """The name of its folder, such as `studio`."""
    distribution: str
    dependencies: frozenset[str]
    """The distributions of the workspace that it requires, without those of its extras."""
    extras: frozenset[str]
    imports: str
    """The name that Python imports, or an empty text if it holds no code."""

    @property
    def folder(self) -> Path:
        return PACKAGES / self.name


@cache
def packages() -> dict[str, Package]:
    """Return all packages by the name of their folder, each after those that it rests on."""
    by_distribution: dict[str, Package] = {}
    for path in PACKAGES.glob("*/pyproject.toml"):
        package = _read_package(path)
        by_distribution[package.distribution] = package
    graph = {name: package.dependencies & by_distribution.keys() for name, package in sorted(by_distribution.items())}
    order = TopologicalSorter(graph).static_order()
    return {by_distribution[name].name: by_distribution[name] for name in order}


def _read_package(path: Path) -> Package:
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    sources = sorted((path.parent / "src").glob("heald*"))
    return Package(
        name=path.parent.name,
        distribution=project["name"],
        dependencies=frozenset(requirement_name(text) for text in project.get("dependencies", ())),
        extras=frozenset(project.get("optional-dependencies", ())),
        imports=sources[0].name if sources else "",
    )


def requirement_name(requirement: str) -> str:
    """Return the distribution that a requirement such as `heald-core[mcp]>=1` names."""
    return re.split(r"[\s\[<>=!~;@]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def rests_on(name: str) -> list[Package]:
    """Return the packages that one needs, directly or not, the lowest layer first, and the package itself."""
    needed = {packages()[name].distribution}
    for package in reversed(packages().values()):
        if package.distribution in needed:
            needed |= package.dependencies
    return [package for package in packages().values() if package.distribution in needed]


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            for package in packages().values():
                below = ", ".join(base.name for base in rests_on(package.name) if base is not package)
                print(f"{package.name:10} {package.distribution:15} {below or '-'}")
        case ["folders"]:
            print(*(package.folder.relative_to(ROOT) for package in packages().values()))
        case ["tests" | "code" as kind, name] if name in packages():
            parts = ("tests",) if kind == "tests" else ("src", "tests")
            folders = (package.folder / part for package in rests_on(name) for part in parts)
            print(*(folder.relative_to(ROOT) for folder in folders if folder.is_dir()))
        case ["tests" | "code", name]:
            print(f"{name} is not a package; the packages are {', '.join(packages())}.", file=sys.stderr)
            return 2
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
