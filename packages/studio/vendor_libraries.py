"""Fetch the libraries of the previews into the package, or renew their lock.

`vendor_libraries.py` puts the files that `lock.json` keeps into `src/heald_studio/libraries/vendor/`, a zip for each
package. Each archive must have the hash of the lock. What is there already is left alone. `vendor_libraries.py --lock`
fetches the versions that the lock names and writes their hashes into it: run it after changing a version. Needs no
node: only Python.

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
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

LIBRARIES = Path(__file__).resolve().parent / "src" / "heald_studio" / "libraries"
LOCK = LIBRARIES / "lock.json"
VENDOR = LIBRARIES / "vendor"
NOTICES = "THIRD_PARTY_NOTICES.txt"
LICENCE_OF = {"tailwindcss-cdn": "@tailwindcss/browser"}
"""Packages without a licence file: they contain files of the project that another one belongs to."""
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


def file_of(package: dict[str, Any]) -> str:
    return f"{package['name'].replace('/', '__')}@{package['version']}.zip"


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


def repack(data: bytes, package: dict[str, Any], target: Path) -> int:
    """The kept files of an archive in one file, all or none of them. Links and odd names are never followed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".fetching-{os.getpid()}")
    kept = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar, zipfile.ZipFile(fresh, "w") as out:
            for member in tar:
                path = member.name.partition("/")[2]
                wanted = any(_matches(path, each) for each in package["keep"])
                if not member.isreg() or ".." in path.split("/") or not wanted:
                    continue
                if member.size > MAX_FILE:
                    sys.exit(f"{path} is larger than {MAX_FILE} bytes.")
                source = tar.extractfile(member)
                assert source is not None
                out.writestr(zipfile.ZipInfo(path), source.read(), zipfile.ZIP_DEFLATED, 9)
                kept += 1
            out.comment = stamp(package)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return kept


def stamp(package: dict[str, Any]) -> bytes:
    """What a packed file was made of."""
    return hashlib.sha256(repr((package["integrity"], package["keep"])).encode()).hexdigest().encode()


def is_made_of(target: Path, package: dict[str, Any]) -> bool:
    try:
        with zipfile.ZipFile(target) as made:
            return made.comment == stamp(package)
    except (OSError, zipfile.BadZipFile):
        return False


def third_party_notices(packages: list[dict[str, Any]]) -> str:
    """Return the licences of all packages, from the files that are kept of them."""
    sections = ["Previews of pages load these packages.\n"]
    sources = {package["name"]: package for package in packages}
    for package in packages:
        source = sources[LICENCE_OF[package["name"]]] if package["name"] in LICENCE_OF else package
        with zipfile.ZipFile(VENDOR / file_of(source)) as archive:
            names = [name for name in archive.namelist() if name.lower().startswith(("licen", "notice"))]
            if not names:
                sys.exit(f"{package['name']} {package['version']} has no licence file, so that it cannot be shipped.")
            text = "\n\n".join(archive.read(name).decode().strip() for name in sorted(names))
        sections.append(f"{'#' * 80}\n{package['name']} {package['version']}\n\n{text}\n")
    return "\n".join(sections)


def _matches(path: str, pattern: str) -> bool:
    """A star stands for one name, never for a folder."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def main() -> None:
    lock = json.loads(LOCK.read_text("utf-8"))
    renew = "--lock" in sys.argv[1:]
    source = ""
    for package in lock["packages"]:
        name, version = package["name"], package["version"]
        target = VENDOR / file_of(package)
        if not renew and is_made_of(target, package):
            continue
        source = source or registry()
        data = archive(source, package)
        found = integrity(data)
        if renew:
            package["integrity"] = found
        elif found != package["integrity"]:
            sys.exit(f"{name} {version} is not what the lock expects; nothing of it was kept.")
        kept = repack(data, package, target)
        if not kept:
            target.unlink()
            sys.exit(f"{name} {version} has none of the files that the lock keeps.")
        print(f"{name} {version}: {kept} files")
    (VENDOR / NOTICES).write_text(third_party_notices(lock["packages"]), "utf-8")
    expected = {NOTICES, *(file_of(package) for package in lock["packages"])}
    for old in VENDOR.iterdir():
        if old.name not in expected:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    if renew:
        lines = ",\n".join(f"    {json.dumps(each)}" for each in lock["packages"])
        LOCK.write_text(f'{{\n  "packages": [\n{lines}\n  ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
