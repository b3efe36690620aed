"""Counts the files that a change touches, without its tests and docs.

    python scripts/count_change_files.py wire protocol          commits or branches, one line and their files
    python scripts/count_change_files.py --store wire protocol  also writes benchmarks/changes.json

The subject of each commit names the change. CONTRIBUTING.md has the counts, and `tests/test_change_counts.py` compares
them. Try a change on a branch, as one commit that works and has its test; count it again where the code has changed.
"""

import argparse
import json
import subprocess
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "benchmarks" / "changes.json"


def is_test_or_doc(path: str) -> bool:
    """Whether a file comes on top: a test, a page of the docs, or a text such as a README."""
    parts = PurePosixPath(path).parts
    return "tests" in parts or parts[0] == "docs" or (path.endswith(".md") and "src" not in parts)


def changed_files(commit: str) -> tuple[str, list[str]]:
    """Return the subject of a commit, and the files that count."""
    command = ["git", "show", "--no-renames", "--format=%s", "--name-only", commit, "--"]
    subject, *paths = subprocess.check_output(command, text=True).split("\n")
    return subject, sorted(path for path in paths if path and not is_test_or_doc(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write benchmarks/changes.json")
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    options = parser.parse_args()
    changes = dict(changed_files(commit) for commit in options.commits)
    for subject, files in changes.items():
        print(f"{len(files)}  {subject}", *files, sep="\n     ")
    if options.store:
        STORED.write_text(json.dumps(changes, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
