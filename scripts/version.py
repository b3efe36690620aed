"""The version of the project, which all distributions and clients share.

python scripts/version.py              print it; fail if two files differ
python scripts/version.py check 0.3.0  fail if a file has another version
python scripts/version.py set 0.3.0    write it into all files
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "packages/*/pyproject.toml": (r'^version = "([^"]+)"$', r'"heald[\w-]*==([^"]+)"'),
    "packages/core/src/heald/core/version.py": (r'^VERSION = "([^"]+)"$',),
    "clients/*/package.json": (r'^  "version": "([^"]+)",$',),
}
"""Files, and the patterns of the places in them that hold the version."""


def read_versions() -> dict[str, set[str]]:
    """Return the files that hold each version."""
    files: dict[str, set[str]] = {}
    for path, pattern in _places():
        for match in pattern.finditer(path.read_text("utf-8")):
            files.setdefault(match[1], set()).add(path.relative_to(ROOT).as_posix())
    return files


def set_version(version: str) -> None:
    for path, pattern in _places():
        text = path.read_text("utf-8")
        path.write_text(pattern.sub(lambda match: match[0].replace(match[1], version), text), "utf-8")


def _places() -> list[tuple[Path, re.Pattern[str]]]:
    return [
        (path, re.compile(pattern, re.M))
        for files, patterns in PLACES.items()
        for path in sorted(ROOT.glob(files))
        for pattern in patterns
    ]


def main(arguments: list[str]) -> int:
    match arguments:
        case ["set", version]:
            set_version(version)
            return 0
        case [] | ["check", _]:
            versions = read_versions()
            expected = arguments[1] if arguments else max(versions, key=lambda version: len(versions[version]))
            for version in versions.keys() - {expected}:
                print(f"{', '.join(sorted(versions[version]))}: {version}, not {expected}", file=sys.stderr)
            if not arguments:
                print(expected)
            return 0 if versions.keys() == {expected} else 1
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
