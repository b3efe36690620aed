"""Builds the wheels twice and compares them, pins dependencies with hashes, and writes bills of materials.

    dist/*.whl                one for each package; both builds were equal, byte for byte
    dist/requirements.txt     every dependency of heald with its hashes
    dist/heald.cdx.json       the Python packages (CycloneDX)
    dist/heald-page.cdx.json  the packages that the page is built from (CycloneDX)

With --audit, known vulnerabilities are looked up where a database can be reached.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
UV = [sys.executable, "-m", "uv"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--audit", action="store_true")
    arguments = parser.parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    epoch = _run("git", "log", "-1", "--format=%ct").strip()
    first = build_wheels(DIST, epoch)
    with tempfile.TemporaryDirectory() as folder:
        second = build_wheels(Path(folder), epoch)
    if first != second:
        changed = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
        print(f"Two builds differ: {', '.join(changed)}.", file=sys.stderr)
        return 1
    for name, digest in sorted(first.items()):
        print(f"{name}: sha256 {digest}, twice")
    pinned = DIST / "requirements.txt"
    options = ("--quiet", "--package", "heald", "--no-emit-workspace", "--no-header", "--no-annotate", "--no-dev")
    _run(*UV, "export", *options, "-o", str(pinned))
    print(f"requirements.txt: {pinned.read_text().count('--hash=')} hashes")
    write_bills(pinned)
    return audit(pinned) if arguments.audit else 0


def build_wheels(folder: Path, epoch: str) -> dict[str, str]:
    """Build all wheels into a folder. Returns the digest of each."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    _run(*UV, "build", "--quiet", "--wheel", "--all-packages", "--out-dir", str(folder), environment=environment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")}


def write_bills(pinned: Path) -> None:
    bill = DIST / "heald.cdx.json"
    tool = [*UV, "tool", "run", "--quiet", "--from", "cyclonedx-bom", "cyclonedx-py"]
    _run(*tool, "requirements", str(pinned), "--output-reproducible", "--output-format", "JSON", "-o", str(bill))
    _print_bill(bill)
    bill = DIST / "heald-page.cdx.json"
    text = _run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", folder=ROOT / "web")
    bill.write_text(text)
    _print_bill(bill)


def _print_bill(path: Path) -> None:
    bill = json.loads(path.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    print(f"{path.name}: {len(bill['components'])} components")


def audit(pinned: Path) -> int:
    """Look the dependencies up. Returns 1 if one is known to be vulnerable."""
    status = 0
    checks = {
        "pip-audit": ([*UV, "tool", "run", "--quiet", "pip-audit", "--disable-pip", "-r", str(pinned)], ROOT),
        "npm audit": (["npm", "audit", "--omit=dev"], ROOT / "web"),
    }
    for name, (words, folder) in checks.items():
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        report = f"{done.stdout}\n{done.stderr}".strip()
        if done.returncode == 0:
            print(f"{name}: nothing is known")
        elif "vulnerabilit" in report and ("found" in report or "Found" in report):
            print(f"{name}:\n{report}")
            status = 1
        else:
            print(
                f"{name}: left out, its database cannot be reached ({report.splitlines()[-1][:120] if report else '?'})"
            )
    return status


def _run(*words: str, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words[:6])} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
