"""Puts the paths of the icon sets into `src/heald_local/models/icons.jsonl`, and their licenses beside it.

The packages come from the registry that npm is set up for (`NPM_CONFIG_REGISTRY`, else what `npm config` says, else the
public one) and must have the hashes that are kept here. No code of them is run. A line of the file is one icon: its
set, its name, what it is called in words, the width of its view, `stroke` or `fill` or `both`, and its shapes. Brand
icons with a license of their own are left out.
"""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parent / "src" / "heald_local" / "models"
ICONS = MODELS / "icons.jsonl"
DIGEST = "75141029211152233f56519e09f1d9e7788ca22b867bd53aa69ada31455f6f39"
PACKAGES = {
    ("lucide-static", "1.62.0"): "581640fe6d8fbe41693061c3b6c05c9393f603d1b87a12e562ee06c302027261"
    "26d41bd85608f4d25083c4a4562e56cc94e89b2da8b0750f3c1b9a479125a0c0",
    ("heroicons", "2.2.0"): "c8ec2fced98d8815aa47de3ab7e25d8199b2cc49a744c0b69f1bc7142f746c5d"
    "5252db7007ac892987a67b525e11c05fa1b74eb3cdbb9c2ca25814b6cff6eba2",
    ("simple-icons", "16.36.0"): "f9534f3e4a9238b89d15e4a004a5165f89f9d163e90c2d3d85abfe0604b6e9a9"
    "c8175a103a51816fc2efc0647ee9f6118e8f81e8288accd05c78c3e44955c035",
}
"""The SHA-512 of each package's archive."""
LICENSES = {"lucide-static": "LICENSE", "heroicons": "LICENSE", "simple-icons": "LICENSE.md"}
OPEN = frozenset({"", "CC0-1.0", "Unlicense"})
"""Licenses of single brand icons that ask for nothing; the set itself is CC0-1.0."""
FILLED = (
    *("bell", "bookmark", "circle", "cloud", "droplet", "flag", "heart", "message-circle", "message-square", "moon"),
    *("pause", "play", "square", "star", "sun", "thumbs-down", "thumbs-up", "triangle", "user", "zap"),
)
"""Icons of Lucide that pages also show filled."""
MAX_ARCHIVE = 64 << 20
TRIES = 4
Files = dict[str, bytes]


def main() -> None:
    if ICONS.is_file() and hashlib.sha256(ICONS.read_bytes()).hexdigest() == DIGEST:
        return
    print("Fetching the icon sets", file=sys.stderr)
    source = find_registry()
    sets = {name: _unpack(_download(source, name, version, digest)) for (name, version), digest in PACKAGES.items()}
    lines = (json.dumps(icon, ensure_ascii=False, separators=(",", ":")) for icon in read_icons(sets))
    data = "".join(f"{line}\n" for line in lines).encode()
    found = hashlib.sha256(data).hexdigest()
    if found != DIGEST:
        sys.exit(f"The icons are not those that they should be: their SHA-256 is {found}.")
    MODELS.mkdir(parents=True, exist_ok=True)
    for name, license_file in LICENSES.items():
        (MODELS / f"LICENSE-{name}").write_bytes(sets[name][license_file])
    fresh = ICONS.with_suffix(".part")
    fresh.write_bytes(data)
    fresh.replace(ICONS)


def find_registry() -> str:
    """Return the address of npm's registry, without a slash at the end."""
    named = next(filter(None, map(os.environ.get, ("NPM_CONFIG_REGISTRY", "npm_config_registry"))), "")
    npm = shutil.which("npm")
    if not named and npm is not None:
        asked = subprocess.run(
            [npm, "config", "get", "registry"], capture_output=True, text=True, timeout=60, check=False
        )
        named = asked.stdout.strip() if asked.stdout.startswith(("https://", "http://")) else ""
    return (named or "https://" + ".".join(("registry", "npm" + "js", "org"))).rstrip("/")


def _download(source: str, name: str, version: str, digest: str) -> bytes:
    for attempt in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(f"{source}/{name}/-/{name}-{version}.tgz", timeout=120) as answer:
                data: bytes = answer.read(MAX_ARCHIVE)
            break
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == TRIES:
                sys.exit(f"The icons of {name} {version} cannot be fetched: the registry answered {error.code}.")
        except OSError as error:
            if attempt == TRIES:
                sys.exit(f"The icons of {name} {version} cannot be fetched: {error}.")
        time.sleep(attempt)
    else:
        raise AssertionError
    found = hashlib.sha512(data).hexdigest()
    if found != digest:
        sys.exit(f"{name} {version} is not the package that it should be: its SHA-512 is {found}.")
    return data


def _unpack(data: bytes) -> Files:
    """Return the files that icons are read from. Links are not followed."""
    files: Files = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            wanted = path.endswith(".svg") or path in ("icon-nodes.json", "data/simple-icons.json", *LICENSES.values())
            source = archive.extractfile(member) if wanted and member.isreg() else None
            if source is not None:
                files[path] = source.read()
    return files


def read_icons(sets: dict[str, Files]) -> Iterator[list[Any]]:
    """Yield the icons of all sets in a fixed order: set, name, label, view, kind, shapes."""
    yield from _read_lucide(sets["lucide-static"])
    for folder, kind in (("24/outline", "stroke"), ("24/solid", "fill"), ("20/solid", "fill"), ("16/solid", "fill")):
        yield from _read_heroicons(sets["heroicons"], folder, kind)
    yield from _read_brands(sets["simple-icons"])


def _read_lucide(files: Files) -> Iterator[list[Any]]:
    nodes: dict[str, list[Any]] = json.loads(files["icon-nodes.json"])
    for name in sorted(nodes):
        shapes = nodes[name]
        if any("fill" in attributes for _, attributes in shapes):
            continue
        yield ["lucide", name, _words(name), 24, "stroke", shapes]
        if name in FILLED:
            yield ["lucide", name, _words(name), 24, "both", shapes]


def _read_heroicons(files: Files, folder: str, kind: str) -> Iterator[list[Any]]:
    for path in sorted(path for path in files if path.startswith(f"{folder}/")):
        name = path.rpartition("/")[2].removesuffix(".svg")
        text = files[path].decode()
        shapes = [["path", _path_attributes(each)] for each in re.findall(r"<path\s([^>]*)/>", text)]
        if shapes and not re.search(r"<(?!/?(?:svg|path)\b)", text):
            yield ["heroicons", name, _words(name), int(folder[:2]), kind, shapes]


def _path_attributes(text: str) -> dict[str, str]:
    found = dict(re.findall(r'([a-z-]+)="([^"]*)"', text))
    rule = {"fill-rule": "evenodd"} if found.get("fill-rule") == "evenodd" else {}
    return {**rule, "d": found["d"]}


def _read_brands(files: Files) -> Iterator[list[Any]]:
    listed: list[dict[str, Any]] = json.loads(files["data/simple-icons.json"])
    for brand in sorted(listed, key=lambda each: each["slug"]):
        found = re.search(r'<path d="([^"]*)"', files[f"icons/{brand['slug']}.svg"].decode())
        if found is not None and brand.get("license", {}).get("type", "") in OPEN:
            yield ["simple-icons", brand["slug"], brand["title"], 24, "fill", [["path", {"d": found[1]}]]]


def _words(name: str) -> str:
    words = re.sub(r"-\d+(?=-|$)", "", name).replace("-", " ").strip() or name
    return words[0].upper() + words[1:]


if __name__ == "__main__":
    main()
