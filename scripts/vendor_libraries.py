"""Fetch the libraries of the previews into the package, or renew their lock.

`vendor_libraries.py` puts the files that `lock.json` keeps into `src/weft/studio/libraries/vendor/`. Each archive must
have the hash of the lock. What is there already is left alone. `vendor_libraries.py --lock` fetches the versions that
the lock names and writes their hashes into it: run it after changing a version. Needs no node: only Python.

The registry is npm's own setting (`NPM_CONFIG_REGISTRY`, else what `npm config` says, else the public one).
"""

import base64
import fnmatch
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LIBRARIES = Path(__file__).resolve().parent.parent / "src" / "weft" / "studio" / "libraries"
LOCK = LIBRARIES / "lock.json"
VENDOR = LIBRARIES / "vendor"
MAX_ARCHIVE = 64 << 20
MAX_FILE = 16 << 20
TRIES = 4


def registry() -> str:
    """Where packages come from, without a slash at the end."""
    said = (os.environ.get(name) for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"))
    named = next(filter(None, said), "") or _npm_registry()
    return (named or "https://" + ".".join(("registry", "npm" + "js", "org"))).rstrip("/")


def _npm_registry() -> str:
    npm = shutil.which("npm")
    if npm is None:
        return ""
    try:
        said = subprocess.run([npm, "config", "get", "registry"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    address = said.stdout.strip()
    return address if address.startswith(("https://", "http://")) else ""


def archive(source: str, package: dict[str, Any]) -> bytes:
    """The package as its registry has it."""
    name, version = package["name"], package["version"]
    url = f"{source}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    for attempt in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(url, timeout=120) as answer:
                data = answer.read(MAX_ARCHIVE + 1)
            if len(data) > MAX_ARCHIVE:
                sys.exit(f"{name} {version} is larger than {MAX_ARCHIVE} bytes.")
            return data
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == TRIES:
                sys.exit(f"{name} {version} cannot be fetched: the registry answered {error.code}.")
        except OSError as error:
            if attempt == TRIES:
                sys.exit(f"{name} {version} cannot be fetched: {error}.")
        time.sleep(attempt)
    raise AssertionError


def integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def unpack(data: bytes, keep: list[str], target: Path) -> int:
    """The kept files of an archive, all or none of them at the target. Links and odd names are never followed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".fetching-", dir=target.parent))
    kept = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            for member in tar:
                path = member.name.partition("/")[2]
                if not member.isreg() or ".." in path.split("/") or not any(_matches(path, each) for each in keep):
                    continue
                if member.size > MAX_FILE:
                    sys.exit(f"{path} is larger than {MAX_FILE} bytes.")
                member.name, member.mode = path, 0o644
                tar.extract(member, fresh, filter="data")
                kept += 1
        fresh.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return kept


def _matches(path: str, pattern: str) -> bool:
    """A star stands for one name, never for a folder."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def main() -> None:
    lock = json.loads(LOCK.read_text("utf-8"))
    renew = "--lock" in sys.argv[1:]
    source = ""
    for package in lock["packages"]:
        name, version = package["name"], package["version"]
        target = VENDOR / f"{name.replace('/', '__')}@{version}"
        stamp = target / ".integrity"
        if not renew and stamp.is_file() and stamp.read_text("utf-8") == package["integrity"] + repr(package["keep"]):
            continue
        source = source or registry()
        data = archive(source, package)
        found = integrity(data)
        if renew:
            package["integrity"] = found
        elif found != package["integrity"]:
            sys.exit(f"{name} {version} is not what the lock expects; nothing of it was kept.")
        kept = unpack(data, package["keep"], target)
        if not kept:
            sys.exit(f"{name} {version} has none of the files that the lock keeps.")
        stamp.write_text(package["integrity"] + repr(package["keep"]), "utf-8")
        print(f"{name} {version}: {kept} files")
    wanted = {f"{each['name'].replace('/', '__')}@{each['version']}" for each in lock["packages"]}
    for folder in VENDOR.iterdir() if VENDOR.is_dir() else ():
        if folder.name not in wanted:
            shutil.rmtree(folder, ignore_errors=True)
    if renew:
        lines = ",\n".join(f"    {json.dumps(each)}" for each in lock["packages"])
        LOCK.write_text(f'{{\n  "packages": [\n{lines}\n  ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
